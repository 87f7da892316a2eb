import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import Testing

@Suite struct PlaylistEditTests {
    @Test(arguments: [
        ("bandwidth", "900k...4M", "900000...4000000"), ("bandwidth", "...4M", "...4000000"),
        ("bandwidth", "1M...", "1000000..."), ("duration", "00:00:30.5", "30.5"), ("start", "01:01", "61"),
        ("score", "2.50", "2.5"),
        ("insert", "https://h/a@b.m3u8@12.5", "https://h/a@b.m3u8@12.5"), ("drop-range", "10...20", "10...20"),
        ("insert", "https://h/a@b.m3u8@0:12.50/3/4", "https://h/a@b.m3u8@12.5/3/4"),
        ("insert", "https://user@10/a@10/0/1", "https://user@10/a@10/0/1"),
        ("insert", "https://h?a=b@5", "https://h?a=b@5"),
        ("insert", "//user@10/0/1@7", "//user@10/0/1@7"), ("insert", "gap:8@6/0/0", "gap:8@6/0/0"),
        ("replace-breaks", "https://u@h/a@class=b@c", "https://u@h/a@class=b@c"),
        ("interstitials", "https://u@cues/@10...20,cues", "https://u@cues/@10...20,cues"),
        ("exclude", "seams=0:10...20/0/1,30.../1/1,cues", "seams=10...20/0/1,30.../1/1,cues"),
        ("max-height", "720", "720"), ("append", "ad.m3u8", "ad.m3u8"), ("absolute", "", ""),
    ])
    func editsRoundTripThroughTheirSpelling(name: String, value: String, expected: String) throws {
        let edit = try PlaylistEdit(name: name, value: value)
        #expect(edit.nameAndValue.name == name && edit.nameAndValue.value == expected)
        #expect(try PlaylistEdit(name: name, value: edit.nameAndValue.value) == edit)
    }

    @Test(arguments: [
        ("bandwidth", "4M...900k"), ("bandwidth", "..."), ("bandwidth", "900k"), ("bandwidth", "x...y"),
        ("duration", "-1"), ("duration", "0"), ("duration", "1e9"), ("start", "1:99"), ("insert", "a.m3u8"),
        ("max-height", "0"), ("append", ""), ("resolution", "1"), ("drop-range", "20...10"),
        ("insert", "a.m3u8@12/1/0"), ("insert", "a.m3u8@12/1"), ("insert", "a.m3u8@-1/0/0"),
        // The host follows the user name.
        ("insert", "https://user@10/0/1"), ("insert", "https://user@10"), ("insert", "//user@10"),
        ("insert", "https://u@1?a"),
        ("replace-breaks", "https://user@cues"), ("interstitials", "https://user@every=60/"),
    ])
    func invalidEditIsRejected(name: String, value: String) {
        #expect(throws: PlaylistEditError.self) { try PlaylistEdit(name: name, value: value) }
    }

    /// The place would otherwise be read as the host.
    @Test func hostGetsAPathBeforeThePlace() throws {
        let edits: [PlaylistEdit] = [
            .insert("https://h", at: MediaTime(seconds: 2)), .replaceBreaks(with: "//u@h:80", at: .cues),
        ]
        #expect(edits.map(\.value) == ["https://h/@2", "//u@h:80/@cues"])
        let parsed = try edits.map { try PlaylistEdit(name: $0.nameAndValue.name, value: $0.value) }
        #expect(parsed == edits && parsed.map(\.source) == ["https://h/", "//u@h:80/"])
    }

    /// The attempts are limited, so that a long text takes no longer than a short one.
    @Test func nameOfAClassContainsFewSeparators() throws {
        for (count, isValid) in [(15, true), (16, false)] {
            let name = String(repeating: "@", count: count)
            let edit = try? PlaylistEdit(name: "replace-breaks", value: "a.m3u8@class=\(name)")
            #expect((edit != nil) == isValid && edit?.source == (isValid ? "a.m3u8" : nil))
        }
    }

    @Test func onlyEditsThatLoadAnotherPlaylistHaveSource() throws {
        let names = try PlaylistEdit.definitions.filter { definition in
            let edit = try PlaylistEdit(name: definition.name, value: definition.examples.first ?? "")
            return edit.source != nil
        }.map(\.name)
        #expect(names == ["append", "prepend", "insert", "replace-breaks"], "interstitials are loaded by players")
    }
}

@Suite struct EditPlanTests {
    private func multivariant(_ lines: String, at address: String) throws -> MultivariantPlaylist {
        try MultivariantPlaylist(
            parsing: Array(("#EXTM3U\n" + lines).utf8),
            context: PlaylistContext(address: ResourceAddress(address))
        )
    }

    private func content() throws -> MultivariantPlaylist {
        try multivariant(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="K",LANGUAGE="ko",URI="ko.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=300000,RESOLUTION=320x180
            180.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=1500000,RESOLUTION=854x480
            480.m3u8
            # the best
            #EXT-X-STREAM-INF:BANDWIDTH=5000000,RESOLUTION=1920x1080
            1080.m3u8
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=50000,RESOLUTION=1280x720,URI="i.m3u8"

            """,
            at: "https://a.example/m.m3u8"
        )
    }

    private func advertisement() throws -> MultivariantPlaylist {
        try multivariant(
            """
            #EXT-X-STREAM-INF:BANDWIDTH=400000,RESOLUTION=426x240
            240.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1600x900
            900.m3u8

            """,
            at: "https://ads.example/x/ad.m3u8"
        )
    }

    @Test func filterRemovesOnlyLinesOfRemovedVariants() throws {
        let source = try content()
        let plan = EditPlan([try PlaylistEdit(name: "bandwidth", value: "1M...2M")])
        let limited = try plan.applied(to: source)
        #expect(limited.variants.map(\.uri) == ["480.m3u8"])
        #expect(limited.iFrameVariants.isEmpty, "an I-frame picture larger than all that is left")
        let kept = String(decoding: limited.bytes, as: UTF8.self).split(separator: "\n")
        let all = String(decoding: source.bytes, as: UTF8.self).split(separator: "\n")
        #expect(kept.allSatisfy(all.contains) && kept.count == all.count - 5)
    }

    @Test func filterWithoutResultListsAvailableVariants() throws {
        let plan = EditPlan([try PlaylistEdit(name: "bandwidth", value: "9M...")])
        let error = #expect(throws: PlaylistEditError.self) { try plan.applied(to: content()) }
        #expect(error?.description.contains("300 kbit/s 320x180") == true)
    }

    @Test func filterOfMediaPlaylistIsRejected() throws {
        let plan = EditPlan([.maxHeight(100)])
        let media = try MediaPlaylist(parsing: Array("#EXTM3U\n#EXTINF:1,\na\n".utf8))
        #expect(throws: PlaylistEditError.self) { try plan.applied(to: media) }
    }

    @Test func variantsAreStitchedWithMatchingVariants() throws {
        let content = try content()
        let plan = EditPlan([.maxHeight(2000), .append("ad"), .duration(MediaTime(seconds: 30))])
        let sources: [String: Playlist] = ["ad": .multivariant(try advertisement())]
        let children = try content.variants.map {
            try plan.childPlans(sources: sources).plan(for: .variant($0)).edits.map(\.nameAndValue.value)
        }
        #expect(
            children == [
                ["https://ads.example/x/240.m3u8", "30"], ["https://ads.example/x/240.m3u8", "30"],
                ["https://ads.example/x/900.m3u8", "30"],
            ]
        )
    }

    /// BANDWIDTH is the peak segment bit rate (RFC 8216bis §4.4.6.2), also that of the segments that are stitched in.
    @Test func stitchedVariantsDeclareTheHighestBitRatesAndAllFormats() throws {
        let source = try multivariant(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="en.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=382518,AVERAGE-BANDWIDTH=300000,CODECS="avc1.64001e,mp4a.40.2",AUDIO="a"
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=9000000,RESOLUTION=1920x1080,AUDIO="a"
            high.m3u8

            """,
            at: "https://a.example/m.m3u8"
        )
        let codecs = "CODECS=\"avc1.640028,hvc1.2.4.L93,mp4a.40.5,ac-3\""
        let other = try multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=6500000,AVERAGE-BANDWIDTH=5000000,\(codecs),RESOLUTION=1280x720\nad.m3u8\n",
            at: "https://ads.example/x/ad.m3u8"
        )
        let media = try MediaPlaylist(parsing: Array("#EXTM3U\n#EXTINF:1,\na\n#EXT-X-ENDLIST\n".utf8))
        let plan = EditPlan([.append("ad"), .replaceBreaks(with: "ad", at: .cues), .prepend("media")])
        let sources: [String: Playlist] = ["ad": .multivariant(other), "media": .media(media)]
        let lines = String(decoding: try plan.applied(to: source, sources: sources).bytes, as: UTF8.self)
            .split(separator: "\n").map(String.init).filter { $0.hasPrefix("#EXT-X-STREAM-INF") }
        #expect(
            lines == [
                "#EXT-X-STREAM-INF:BANDWIDTH=6500000,AVERAGE-BANDWIDTH=5000000,"
                    + "CODECS=\"avc1.64001e,mp4a.40.2,hvc1.2.4.L93,ac-3\",AUDIO=\"a\"",
                "#EXT-X-STREAM-INF:BANDWIDTH=9000000,RESOLUTION=1920x1080,AUDIO=\"a\"",
            ]
        )
    }

    /// Without a declared average, the peak is the only known upper bound.
    ///
    /// Renditions that a variant has no group for are not played.
    @Test func declaredFormatsAreThoseThatArePlayed() throws {
        let source = try multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=1000,AVERAGE-BANDWIDTH=900,CODECS=\"avc1.64001e\"\nv.m3u8\n",
            at: "https://a.example/m.m3u8"
        )
        let other = try multivariant(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="en.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=2000,CODECS="avc1.640028,mp4a.40.2,wvtt",AUDIO="a",SUBTITLES="s"
            ad.m3u8

            """,
            at: "https://ads.example/x/ad.m3u8"
        )
        let edited = try EditPlan([.append("ad")]).applied(to: source, sources: ["ad": .multivariant(other)])
        let variant = try #require(edited.variants.first)
        #expect(variant.bandwidth?.bitsPerSecond == 2_000 && variant.averageBandwidth?.bitsPerSecond == 2_000)
        #expect(variant.codecs == ["avc1.64001e"])
    }

    @Test func audioRenditionsGetAudioAndSubtitlesGetGap() throws {
        let content = try content()
        let plan = EditPlan([.append("ad")])
        let sources: [String: Playlist] = ["ad": .multivariant(try advertisement())]
        let audio = try plan.childPlans(sources: sources).plan(for: .rendition(content.renditions[0]))
        #expect(audio.edits == [.append("https://ads.example/x/240.m3u8")])
        let gap = try GapPlaylist.address(of: MediaTime(seconds: 20))
        let text = try plan.childPlans(sources: sources, gaps: ["ad": gap])
            .plan(for: .rendition(content.renditions[1]))
        #expect(text.edits == [.append("gap:20")])
        #expect(throws: PlaylistEditError.self) {
            try plan.childPlans(sources: sources).plan(for: .rendition(content.renditions[1]))
        }
    }

    @Test func gapHasRequestedDuration() throws {
        let gap = try #require(GapPlaylist.playlist(at: "gap:24.025"))
        #expect(gap.duration.description == "24.025" && gap.segments.allSatisfy(\.isGap))
        #expect(GapPlaylist.playlist(at: "gap:1e9") == nil && GapPlaylist.playlist(at: "gap:-3") == nil)
    }

    @Test func editsAreAppliedInOrder() throws {
        let text = "#EXTM3U\n" + (0..<10).map { "#EXTINF:4,\n\($0).ts\n" }.joined() + "#EXT-X-ENDLIST\n"
        let media = try MediaPlaylist(parsing: Array(text.utf8))
        let startFirst = EditPlan([.start(MediaTime(seconds: 8)), .duration(MediaTime(seconds: 12))])
        #expect(try startFirst.applied(to: media).segments.map(\.uri) == ["2.ts", "3.ts", "4.ts"])
        let limitFirst = EditPlan([.duration(MediaTime(seconds: 12)), .start(MediaTime(seconds: 8))])
        #expect(try limitFirst.applied(to: media).segments.map(\.uri) == ["2.ts"])
    }
}
