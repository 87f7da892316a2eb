import ResourceAddressing
import Testing

@testable import HLSPlaylist

/// The rules that concern several playlists, with presentations that just obey them and that just break them.
@Suite struct PresentationRuleTests {
    private static let rules: Set<String> = [
        "child-not-media", "i-frame-playlist-without-tag", "independent-segments-in-both", "start-in-both",
        "start-differs", "target-durations-differ", "playlist-types-differ", "server-controls-differ",
        "program-dates-missing", "date-ranges-differ", "discontinuities-differ", "durations-differ",
        "session-key-differs", "missing-session-key", "rendition-report-missing", "apple-no-independent-segments",
        "apple-hevc-not-fmp4", "apple-av1-not-fmp4", "apple-boundaries-differ",
    ]

    private static let variants =
        "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"avc1.640028\"\na\n"
        + "#EXT-X-STREAM-INF:BANDWIDTH=2,CODECS=\"hvc1.1.6.L93\"\nb\n"
    private static let ended = "#EXT-X-TARGETDURATION:6\n#EXTINF:6,\ns.ts\n#EXT-X-ENDLIST\n"
    private static let live = "#EXT-X-TARGETDURATION:6\n#EXTINF:6,\ns.ts\n"

    /// Returns the violations of the rules for several playlists, each as the name of the playlist and the rule.
    private func findings(
        _ multivariant: String,
        _ playlists: [String: String],
        _ sets: Set<RuleSet> = [.rfc]
    ) throws -> [String] {
        let base = ResourceAddress("https://example.com/m")
        let playlist = try MultivariantPlaylist(
            parsing: Array("#EXTM3U\n\(multivariant)".utf8),
            context: PlaylistContext(address: base)
        )
        var loaded: [ResourceAddress: Playlist] = [:]
        for (name, text) in playlists {
            let address = base.resolving(name)
            loaded[address] = try Playlist.parse(
                Array("#EXTM3U\n\(text)".utf8),
                context: PlaylistContext(address: address)
            )
        }
        return PresentationValidation(playlist, playlists: loaded).diagnostics(of: sets).flatMap { result in
            result.diagnostics.map(\.code).filter(Self.rules.contains)
                .map { "\(result.address?.lastPathComponent ?? "") \($0)" }
        }
    }

    /// Returns the violations in two variants.
    private func findings(_ first: String, _ second: String, _ sets: Set<RuleSet> = [.rfc]) throws -> [String] {
        try findings(Self.variants, ["a": first, "b": second], sets)
    }

    @Test func playlistsOfVariantsAreMediaPlaylists() throws {
        #expect(try findings(Self.ended, Self.ended) == [])
        #expect(try findings(Self.ended, Self.variants) == ["b child-not-media"])
    }

    @Test func iFramePlaylistsHaveTheirTag() throws {
        let frames = Self.variants + "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"i\"\n"
        let all = ["a": Self.ended, "b": Self.ended]
        #expect(try findings(frames, all.merging(["i": Self.ended]) { $1 }) == ["i i-frame-playlist-without-tag"])
        #expect(try findings(frames, all.merging(["i": "#EXT-X-I-FRAMES-ONLY\n" + Self.ended]) { $1 }) == [])
    }

    @Test func tagsForAllPlaylistsAreInOnePlace() throws {
        let tag = "#EXT-X-INDEPENDENT-SEGMENTS\n"
        #expect(
            try findings(tag + Self.variants, ["a": Self.ended, "b": tag + Self.ended]) == [
                "b independent-segments-in-both"
            ]
        )
        #expect(try findings(tag + Self.variants, ["a": Self.ended]) == [])
        #expect(try findings(Self.variants, ["a": tag + Self.ended]) == [])
        func starts(_ own: String, _ other: String) throws -> [String] {
            try findings(
                "#EXT-X-START:\(own)\n\(Self.variants)",
                ["a": "#EXT-X-START:\(other)\n\(Self.ended)", "b": Self.ended]
            )
        }
        #expect(try starts("TIME-OFFSET=1", "TIME-OFFSET=1.0") == ["a start-in-both"])
        #expect(try starts("TIME-OFFSET=1", "TIME-OFFSET=2") == ["a start-differs"])
        #expect(try starts("TIME-OFFSET=1", "TIME-OFFSET=1,PRECISE=NO") == ["a start-in-both"])
        #expect(try starts("TIME-OFFSET=1,PRECISE=NO", "TIME-OFFSET=1") == ["a start-in-both"])
        #expect(try starts("TIME-OFFSET=1", "TIME-OFFSET=1,PRECISE=YES") == ["a start-differs"])
        #expect(try starts("TIME-OFFSET=1,PRECISE=YES", "TIME-OFFSET=1,PRECISE=YES") == ["a start-in-both"])
    }

    @Test func headersAreEqual() throws {
        let seven = Self.ended.replacing(":6", with: ":7")
        #expect(try findings(Self.ended, seven.replacing("INF:7", with: "INF:6")) == ["m target-durations-differ"])
        let type = "#EXT-X-PLAYLIST-TYPE:"
        #expect(try findings("\(type)VOD\n\(Self.ended)", Self.ended) == ["m playlist-types-differ"])
        #expect(try findings("\(type)VOD\n\(Self.ended)", "\(type)VOD\n\(Self.ended)") == [])
        // Subtitle and I-frame playlists of type VOD may have other target durations.
        let others =
            "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"n\",URI=\"s\"\n"
            + "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"n\",URI=\"g\",CHANNELS=\"2\"\n\(Self.variants)"
        let vod = "\(type)VOD\n\(Self.ended)"
        let long = "\(type)VOD\n\(Self.ended.replacing("DURATION:6", with: "DURATION:9"))"
        #expect(try findings(others, ["a": vod, "s": long]) == [])
        #expect(try findings(others, ["a": vod, "g": long]) == ["m target-durations-differ"])
        #expect(try findings(others, ["a": vod, "g": long + "#EXT-X-I-FRAMES-ONLY\n"]) == [])
        let event = [vod, long].map { $0.replacing("VOD", with: "EVENT") }
        #expect(try findings(others, ["a": event[0], "s": event[1]]) == ["m target-durations-differ"])
        let control = "#EXT-X-SERVER-CONTROL:HOLD-BACK="
        #expect(
            try findings("\(control)18\n\(Self.live)", "\(control)19\n\(Self.live)") == ["m server-controls-differ"]
        )
        #expect(try findings("\(control)18\n\(Self.live)", Self.live) == ["m server-controls-differ"])
        #expect(try findings("\(control)18\n\(Self.live)", "\(control)18\n\(Self.live)") == [])
    }

    @Test func datesAreInAllPlaylists() throws {
        let date = "#EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:00:00.000Z\n"
        #expect(try findings(date + Self.ended, Self.ended) == ["m program-dates-missing"])
        #expect(try findings(Self.ended, date + Self.ended) == ["m program-dates-missing"])
        #expect(try findings(date + Self.ended, date + Self.ended) == [])
        func ranges(_ first: String, _ second: String) throws -> [String] {
            try findings(date + first + Self.ended, date + second + Self.ended)
        }
        let range = "#EXT-X-DATERANGE:ID=\"r\",START-DATE=\"2030-01-01T00:00:00.000Z\""
        #expect(try ranges(range + "\n", range + "\n") == [] && ranges(range + "\n", "") == [])
        #expect(try ranges(range + "\n", range + ",X-A=1\n") == ["m date-ranges-differ"])
        #expect(try ranges(range + ",X-A=1\n", range + "\n#EXT-X-DATERANGE:ID=\"r\",X-A=1\n") == [])
        #expect(try ranges(range + "\n", range.replacing("\"r\"", with: "\"s\"") + "\n") == ["m date-ranges-differ"])
    }

    @Test func endedPlaylistsHaveEqualDiscontinuitiesAndDurations() throws {
        let sequence = "#EXT-X-DISCONTINUITY-SEQUENCE:"
        let gap = "#EXT-X-DISCONTINUITY\n"
        #expect(try findings(gap + Self.ended, Self.ended) == ["m discontinuities-differ"])
        #expect(try findings(gap + Self.ended, gap + Self.ended) == [])
        #expect(try findings("\(sequence)1\n\(Self.ended)", gap + Self.ended) == [])
        #expect(try findings("\(sequence)2\n\(Self.ended)", gap + Self.ended) == ["m discontinuities-differ"])
        #expect(try findings("\(sequence)0\n\(Self.ended)", Self.ended) == [])
        #expect(try findings(gap + Self.ended, Self.live) == [])
        let frames = "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"n\",URI=\"s\"\n\(Self.variants)"
        #expect(try findings(frames, ["a": Self.ended, "s": gap + Self.ended]) == [])
        #expect(try findings(frames, ["a": Self.ended, "b": gap + Self.ended + "#EXT-X-I-FRAMES-ONLY\n"]) == [])
        // Durations may differ by the lower target duration.
        func durations(
            _ first: [String],
            _ second: [String],
            _ type: String = "VOD",
            target: Int = 6
        ) throws -> [String] {
            func text(_ durations: [String], _ target: Int) -> String {
                "#EXT-X-TARGETDURATION:\(target)\n#EXT-X-PLAYLIST-TYPE:\(type)\n"
                    + durations.map { "#EXTINF:\($0),\ns.ts\n" }.joined() + "#EXT-X-ENDLIST\n"
            }
            return try findings(text(first, 6), text(second, target)).filter {
                !$0.hasSuffix("target-durations-differ")
            }
        }
        #expect(try durations(["6"], ["6", "6"]) == [] && durations(["6", "6"], ["6"]) == [])
        #expect(try durations(["6"], ["6", "6", "0.001"]) == ["m durations-differ"])
        #expect(try durations(["6", "6.001"], ["6"]) == ["m durations-differ"])
        #expect(try durations(["6"], ["6", "6", "0.001"], "EVENT") == [])
        #expect(
            try durations(["6"], ["6", "5"], target: 5) == []
                && durations(["6"], ["6", "5.001"], target: 5) == ["m durations-differ"]
        )
        #expect(try durations(["6"], ["6", "6.001"], target: 7) == ["m durations-differ"])
        let message = try PresentationValidation(
            MultivariantPlaylist(
                parsing: Array("#EXTM3U\n\(Self.variants)".utf8),
                context: PlaylistContext(address: ResourceAddress("https://a/m"))
            ),
            playlists: [
                ResourceAddress("https://a/a"): Playlist.parse(
                    Array("#EXTM3U\n#EXT-X-PLAYLIST-TYPE:VOD\n\(Self.ended)".utf8)
                ),
                ResourceAddress("https://a/b"): Playlist.parse(
                    Array("#EXTM3U\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:6.5,\nt.ts\n\(Self.ended)".utf8)
                ),
            ]
        ).diagnostics(of: [.rfc])[0].diagnostics.first { $0.code == "durations-differ" }?.message
        #expect(message?.hasSuffix("(6 to 12.5 seconds).") == true)
    }

    @Test func keysOfPlaylistsAreSessionKeys() throws {
        func key(_ attributes: String) -> String { "#EXT-X-KEY:\(attributes)\n\(Self.ended)" }
        let aes = "METHOD=AES-128,URI=\"k\""
        #expect(try findings(key(aes), key(aes)) == ["m missing-session-key"])
        #expect(try findings(key(aes), key("METHOD=AES-128,URI=\"l\"")) == [])
        let twice = key(aes).replacing(
            "#EXT-X-ENDLIST\n",
            with: "#EXT-X-KEY:\(aes)\n#EXTINF:6,\ns.ts\n#EXT-X-ENDLIST\n"
        )
        #expect(try findings(twice, Self.ended) == [])
        func session(_ attributes: String, _ first: String, _ second: String) throws -> [String] {
            try findings("#EXT-X-SESSION-KEY:\(attributes)\n\(Self.variants)", ["a": key(first), "b": key(second)])
        }
        #expect(try session(aes, aes, aes) == [])
        #expect(try session(aes, aes, "METHOD=SAMPLE-AES,URI=\"k\"") == ["m session-key-differs"])
        #expect(try session(aes, "METHOD=SAMPLE-AES,URI=\"k\"", aes) == ["m session-key-differs"])
        #expect(try session(aes, aes + ",KEYFORMAT=\"identity\"", aes + ",KEYFORMATVERSIONS=\"1\"") == [])
        #expect(try session(aes, aes + ",KEYFORMAT=\"f\"", aes) == ["m session-key-differs"])
        #expect(try session(aes, aes + ",KEYFORMATVERSIONS=\"2\"", aes) == ["m session-key-differs"])
        #expect(try session(aes, aes + ",IV=0x0", aes) == [])
        #expect(try session("METHOD=AES-128,URI=\"l\"", aes, aes) == ["m missing-session-key"])
        let other = aes.replacing("\"k\"", with: "\"j\"")
        let both = ["a": key(aes), "b": key(other)].mapValues { text in
            text.replacing(
                "#EXT-X-ENDLIST\n",
                with: "#EXT-X-KEY:\(text.contains("\"k\"") ? other : aes)\n#EXTINF:6,\ns.ts\n#EXT-X-ENDLIST\n"
            )
        }
        #expect(try findings(Self.variants, both) == ["m missing-session-key", "m missing-session-key"])
    }

    @Test func livePlaylistsWithPartsReportTheOthers() throws {
        func playlist(_ reports: String..., part: Bool = true, end: String = "") -> String {
            Self.live + (part ? "#EXT-X-PART:DURATION=1,URI=\"p\"\n" : "")
                + reports.map { "#EXT-X-RENDITION-REPORT:URI=\"\($0)\"\n" }.joined() + end
        }
        #expect(try findings(playlist("b"), playlist("a")) == [])
        #expect(try findings(playlist(), playlist("a")) == ["a rendition-report-missing"])
        #expect(
            try findings(playlist("a"), playlist("b")) == ["a rendition-report-missing", "b rendition-report-missing"]
        )
        #expect(try findings(playlist(part: false), playlist("a")) == ["a rendition-report-missing"])
        #expect(try findings(playlist(part: false), playlist(part: false)) == [])
        #expect(try findings(playlist(end: "#EXT-X-ENDLIST\n"), playlist(end: "#EXT-X-ENDLIST\n")) == [])
        #expect(try findings(playlist("b?q"), playlist("./a#f", "unknown")) == [])
        // I-frame playlists have no reports.
        let frames = playlist() + "#EXT-X-I-FRAMES-ONLY\n"
        #expect(try findings(playlist(), frames) == [])
        let three = Self.variants + "#EXT-X-STREAM-INF:BANDWIDTH=3,CODECS=\"avc1.640028\"\nc\n"
        #expect(
            try findings(three, ["a": playlist("b", "c"), "b": playlist("c", "a"), "c": playlist("a", "a")]) == [
                "c rendition-report-missing"
            ]
        )
    }

    // MARK: Apple's rules

    @Test func appleRequiresIndependentSegmentsAndFragmentedFormats() throws {
        let tag = "#EXT-X-INDEPENDENT-SEGMENTS\n"
        let map = "#EXT-X-MAP:URI=\"i\"\n"
        #expect(try findings(tag + Self.ended, tag + map + Self.ended, [.apple]) == [])
        #expect(try findings(tag + Self.ended, map + Self.ended, [.apple]) == ["m apple-no-independent-segments"])
        #expect(try findings(tag + Self.variants, ["a": Self.ended, "b": map + Self.ended], [.apple]) == [])
        #expect(try findings(tag + Self.ended, tag + Self.ended, [.apple]) == ["b apple-hevc-not-fmp4"])
        #expect(
            try findings(tag + Self.ended, tag + "#EXTINF:0,\ns.ts\n" + map + Self.ended, [.apple]).first
                == "b apple-hevc-not-fmp4"
        )
        let av1 = tag + Self.variants.replacing("hvc1.1.6.L93", with: "av01.0.08M.08")
        #expect(try findings(av1, ["b": Self.ended], [.apple]) == ["b apple-av1-not-fmp4"])
        #expect(try findings(av1, ["b": map + Self.ended], [.apple]) == [])
        // Audio has no such rule.
        let audio = Self.variants.replacing("hvc1.1.6.L93", with: "mp4a.40.2")
        #expect(try findings(audio, ["b": Self.ended], [.apple]) == [])
    }

    @Test(
        arguments: [
            (["6", "6"], ["6", "6"], true), (["6", "6"], ["6.1", "5.9"], true), (["6", "6"], ["6.101", "5.9"], false),
            (["6.1", "6"], ["6", "6"], true), (["6.101", "6"], ["6", "6"], false), (["6", "6"], ["6"], false),
            (["6", "6"], ["6.06", "6.04"], true), (["6", "6"], ["6.06", "6.041"], false),
            (["6", "6"], ["5.94", "5.959"], false),
        ] as [([String], [String], Bool)]
    )
    func appleAlignsSegments(first: [String], second: [String], areAligned: Bool) throws {
        func text(_ durations: [String], _ end: String = "#EXT-X-ENDLIST\n") -> String {
            "#EXT-X-INDEPENDENT-SEGMENTS\n#EXT-X-TARGETDURATION:6\n#EXT-X-MAP:URI=\"i\"\n"
                + durations.map { "#EXTINF:\($0),\ns\n" }.joined() + end
        }
        #expect(try findings(text(first), text(second), [.apple]) == (areAligned ? [] : ["b apple-boundaries-differ"]))
        #expect(try findings(text(first, ""), text(second), [.apple]) == [])
        #expect(try findings(text(first), text(second, ""), [.apple]) == [])
    }
}
