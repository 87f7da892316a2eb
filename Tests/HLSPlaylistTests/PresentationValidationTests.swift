import HLSPlaylist
import ResourceAddressing
import Testing

@Suite struct PresentationValidationTests {
    private let base = ResourceAddress("https://example.com/show/multivariant.m3u8")

    /// Validates a presentation.
    ///
    /// - Parameters:
    ///   - multivariant: The lines of the multivariant playlist after its header.
    ///   - playlists: The lines of the media playlists after their headers, by URI relative to the multivariant
    ///     playlist.
    ///   - redirects: The URIs from which playlists are loaded after a redirect.
    ///   - sets: The rule sets.
    /// - Returns: The codes of the violated rules by address of the playlist.
    /// - Throws: The error of the parser.
    private func validate(
        _ multivariant: String,
        _ playlists: [String: String],
        redirects: [String: String] = [:],
        _ sets: Set<RuleSet> = [.rfc]
    ) throws -> [(address: String, codes: [String])] {
        let playlist = try MultivariantPlaylist(
            parsing: Array("#EXTM3U\n\(multivariant)\n".utf8),
            context: PlaylistContext(address: base)
        )
        var loaded: [ResourceAddress: Playlist] = [:]
        for (address, text) in playlists {
            let location = base.resolving(redirects[address] ?? address)
            loaded[base.resolving(address)] = try Playlist.parse(
                Array("#EXTM3U\n\(text)\n".utf8),
                context: PlaylistContext(address: location)
            )
        }
        return PresentationValidation(playlist, playlists: loaded).diagnostics(of: sets).map { result in
            (result.address?.text ?? "", result.diagnostics.map(\.code))
        }
    }

    private let two = """
        #EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="avc1.640028"
        a.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2,CODECS="avc1.640028"
        b.m3u8
        """

    private func segments(target: Int, _ tags: String = "") -> String {
        "\(tags)\n#EXT-X-TARGETDURATION:\(target)\n#EXTINF:\(target),\ns.ts\n#EXT-X-ENDLIST"
    }

    @Test func resultsFollowOrderOfMultivariantPlaylist() throws {
        let found = try validate(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"n\",CHANNELS=\"2\",URI=\"c.m3u8\"\n" + two + "\n" + two,
            ["a.m3u8": segments(target: 6), "b.m3u8": segments(target: 6), "c.m3u8": segments(target: 6)]
        )
        let names = ["multivariant", "a", "b", "c"]
        #expect(found.map(\.address) == names.map { "https://example.com/show/\($0).m3u8" })
    }

    @Test func missingMediaPlaylistIsSkipped() throws {
        let found = try validate(two, ["b.m3u8": segments(target: 6), "other.m3u8": segments(target: 5)])
        #expect(
            found.map(\.address) == ["https://example.com/show/multivariant.m3u8", "https://example.com/show/b.m3u8"]
        )
        #expect(try validate(two, [:]).count == 1)
    }

    @Test func crossPlaylistDiagnosticsBelongToMultivariantPlaylist() throws {
        let found = try validate(two, ["a.m3u8": segments(target: 6), "b.m3u8": segments(target: 5)])
        #expect(found[0].codes.contains("target-durations-differ"))
        #expect(!found[1].codes.contains("target-durations-differ"))
    }

    @Test func undeclaredImportIsReported() throws {
        let define =
            "#EXT-X-VERSION:8\n#EXT-X-DEFINE:NAME=\"known\",VALUE=\"x\"\n#EXT-X-DEFINE:QUERYPARAM=\"missing\"\n"
        let found = try validate(
            define + two,
            [
                "a.m3u8": segments(target: 6, "#EXT-X-DEFINE:IMPORT=\"known\"\n#EXT-X-DEFINE:IMPORT=\"missing\""),
                "b.m3u8": segments(target: 6, "#EXT-X-DEFINE:IMPORT=\"other\""),
            ]
        )
        // A variable without a value still counts as declared.
        #expect(!found[1].codes.contains("import-undeclared"))
        #expect(found[2].codes.contains("import-undeclared"))
    }

    @Test func renditionReportsAreComparedByResolvedURI() throws {
        func playlist(_ report: String) -> String {
            "#EXT-X-TARGETDURATION:6\n#EXTINF:6,\ns.ts\n#EXT-X-PART:DURATION=1,URI=\"p.ts\"\n"
                + "#EXT-X-RENDITION-REPORT:URI=\"\(report)\",LAST-MSN=1"
        }
        let presentation = two.replacing("a.m3u8", with: "./video/a.m3u8").replacing("b.m3u8", with: "sound/b.m3u8?t=1")
        let found = try validate(
            presentation,
            ["./video/a.m3u8": playlist("../sound/b.m3u8?other"), "sound/b.m3u8?t=1": playlist("a.m3u8")]
        )
        #expect(!found[1].codes.contains("rendition-report-missing"))
        #expect(found[2].codes.contains("rendition-report-missing"))
        // After a redirect a playlist has two addresses; rendition reports are resolved against the second.
        let redirected = try validate(
            presentation,
            ["./video/a.m3u8": playlist("/cdn/b.m3u8"), "sound/b.m3u8?t=1": playlist("../show/video/a.m3u8")],
            redirects: ["sound/b.m3u8?t=1": "/cdn/b.m3u8"]
        )
        #expect(!redirected[1].codes.contains("rendition-report-missing"))
        #expect(!redirected[2].codes.contains("rendition-report-missing"))
    }

    @Test func keysAreComparedByResolvedURI() throws {
        let presentation = two.replacing("b.m3u8", with: "sub/b.m3u8")
        func playlist(_ key: String) -> String { segments(target: 6, "#EXT-X-KEY:METHOD=AES-128,URI=\"\(key)\"") }
        let shared = ["a.m3u8": playlist("key"), "sub/b.m3u8": playlist("../key")]
        #expect(try validate(presentation, shared)[0].codes.contains("missing-session-key"))
        let announced = "#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"/show/key\"\n" + presentation
        #expect(try !validate(announced, shared)[0].codes.contains("missing-session-key"))
        let own = ["a.m3u8": playlist("key"), "sub/b.m3u8": playlist("key")]
        #expect(try !validate(presentation, own)[0].codes.contains("missing-session-key"))
    }

    @Test func missingIndependentSegmentsAreReportedOnce() throws {
        let alone = try validate(two, [:], [.apple])[0].codes
        #expect(alone.contains("apple-missing-independent-segments"))
        let followed = try validate(two, ["a.m3u8": segments(target: 6)], [.apple])[0].codes
        #expect(followed.contains("apple-no-independent-segments"))
        #expect(!followed.contains("apple-missing-independent-segments"))
    }

    @Test func hugeNumbersDoNotTrap() throws {
        let most = "18446744073709551615"
        let variants = """
            #EXT-X-STREAM-INF:BANDWIDTH=\(most),AVERAGE-BANDWIDTH=9223372036854775807,RESOLUTION=0x0,CODECS="hvc1.9\(most).6.L\(most)"
            a.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=9223372036854775807,AVERAGE-BANDWIDTH=\(most),RESOLUTION=1x0,SCORE=0.\(most)\(most)
            b.m3u8
            """
        let media =
            "#EXT-X-TARGETDURATION:9223372036854775807\n#EXT-X-DISCONTINUITY-SEQUENCE:9223372036854775807\n"
            + "#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-DISCONTINUITY\n#EXTINF:999999999999999999,\ns.ts\n"
            + "#EXTINF:999999999999999999.999999999,\ns.ts\n#EXT-X-ENDLIST"
        let found = try validate(variants, ["a.m3u8": media, "b.m3u8": "#EXT-X-ENDLIST"], [.rfc, .apple])
        #expect(found.count == 3 && found[0].codes.contains("discontinuities-differ"))
    }
}
