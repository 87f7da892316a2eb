import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import Testing

/// Tests the edits that exclude segments by a rule and that set the key of segments.
@Suite struct SegmentRuleTests {
    private func media(_ lines: String...) throws -> MediaPlaylist {
        let text = (["#EXTM3U", "#EXT-X-TARGETDURATION:10"] + lines).joined(separator: "\n") + "\n"
        return try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress("https://a.example/show/list.m3u8"))
        )
    }

    private func edited(_ playlist: MediaPlaylist, _ name: String, _ value: String) throws -> MediaPlaylist {
        try EditPlan([PlaylistEdit(name: name, value: value)]).applied(to: playlist)
    }

    /// The names of the segments, with a vertical bar before those after a discontinuity.
    private func names(_ playlist: MediaPlaylist) -> String {
        playlist.segments.map { ($0.hasDiscontinuity ? "|" : "") + $0.uri }.joined(separator: " ")
    }

    private func text(_ playlist: MediaPlaylist) -> String { String(decoding: playlist.bytes, as: UTF8.self) }

    // MARK: Breaks

    @Test func segmentsOfBreaksAreRemovedWithTheTagsThatAnnounceThem() throws {
        let playlist = try media(
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"",
            "#EXTINF:10,",
            "0",
            "#EXT-X-CUE-OUT:20",
            "#EXTINF:10,",
            "1",
            "#EXT-X-CUE-OUT-CONT:10/20",
            "#EXTINF:10,",
            "2",
            "#EXT-X-CUE-IN",
            "#EXTINF:10,",
            "3",
            "#EXT-X-CUE-OUT:DURATION=10",
            "#EXTINF:10,",
            "4",
            "#EXTINF:10,",
            "5",
            "#EXT-X-CUE-OUT",
            "#EXTINF:10,",
            "6",
            "#EXT-X-CUE-IN",
            "#EXTINF:10,",
            "7",
            "#EXT-X-ENDLIST"
        )
        let result = try edited(playlist, "exclude", "cues")
        #expect(names(result) == "0 |3 |5 |7")
        #expect(!text(result).contains("CUE") && result.hasEndMarker)
        // The segments after the removed ones have explicit initialization vectors, because their numbers changed.
        #expect(text(result).contains("IV=0x00000000000000000000000000000003"))
    }

    @Test func aBreakWithoutAnEndRemovesNothing() throws {
        let playlist = try media(
            "#EXTINF:10,",
            "0",
            "#EXT-X-CUE-OUT",
            "#EXTINF:10,",
            "1",
            "#EXTINF:10,",
            "2",
            "#EXT-X-ENDLIST"
        )
        #expect(try edited(playlist, "exclude", "cues").bytes == playlist.bytes)
    }

    @Test func aBreakEndsWithItsDurationOrItsTag() throws {
        func lines(_ duration: String) -> [String] {
            ["#EXTINF:10,", "0", "#EXT-X-CUE-OUT:\(duration)", "#EXTINF:10,", "1", "#EXTINF:10,", "2", "#EXT-X-CUE-IN"]
                + ["#EXTINF:10,", "3", "#EXTINF:10,", "4", "#EXT-X-ENDLIST"]
        }
        for (duration, expected) in [("10", "0 |2 3 4"), ("20", "0 |3 4"), ("30", "0 |3 4")] {
            let text = (["#EXTM3U", "#EXT-X-TARGETDURATION:10"] + lines(duration)).joined(separator: "\n") + "\n"
            let playlist = try MediaPlaylist(parsing: Array(text.utf8))
            #expect(names(try edited(playlist, "exclude", "cues")) == expected, "\(duration)")
        }
    }

    @Test func anEndAfterTheNextStartIsThatOfTheNextBreak() throws {
        let playlist = try media(
            "#EXTINF:10,",
            "0",
            "#EXT-X-CUE-OUT",
            "#EXTINF:10,",
            "1",
            "#EXTINF:10,",
            "2",
            "#EXT-X-CUE-OUT",
            "#EXTINF:10,",
            "3",
            "#EXT-X-CUE-IN",
            "#EXTINF:10,",
            "4",
            "#EXT-X-ENDLIST"
        )
        #expect(names(try edited(playlist, "exclude", "cues")) == "0 1 2 |4")
    }

    /// Returns a complete playlist of segments of 10 seconds, with tags before some of them.
    private func film(_ count: Int, _ tags: [Int: [String]]) throws -> MediaPlaylist {
        var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:10"]
        for number in 0..<count { lines += (tags[number] ?? []) + ["#EXTINF:10,", "\(number)"] }
        return try MediaPlaylist(parsing: Array((lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n").utf8))
    }

    /// The end of a break is the first one after its start, and not after the start of the next one.
    @Test func endsOfBreaksAreThoseAfterTheirStarts() throws {
        let (out, end) = ("#EXT-X-CUE-OUT", "#EXT-X-CUE-IN")
        let apart = try film(8, [1: [out], 3: [end], 5: [out], 6: [end]])
        #expect(names(try edited(apart, "exclude", "cues")) == "0 |3 4 |6 7")
        // One break ends where the next one starts.
        let adjacent = try film(8, [1: [out], 3: [end, out], 5: [end]])
        #expect(names(try edited(adjacent, "exclude", "cues")) == "0 |5 6 7")
        let open = try film(8, [1: [out], 3: [out], 4: [end]])
        #expect(names(try edited(open, "exclude", "cues")) == "0 1 2 |4 5 6 7")
        let late = try film(8, [1: [out], 3: [out], 4: [end], 6: [out], 7: [end]])
        #expect(names(try edited(late, "exclude", "cues")) == "0 1 2 |4 5 |7")
        // The duration is known, although the end is that of another break.
        let known = try film(8, [1: ["\(out):10"], 3: [out], 4: [end]])
        #expect(names(try edited(known, "exclude", "cues")) == "0 |2 |4 5 6 7")
        let both = try film(8, [1: ["\(out):40"], 2: [end], 4: [end]])
        #expect(names(try edited(both, "exclude", "cues")) == "0 |2 3 4 5 6 7")
    }

    /// A break in progress has the rest of its duration.
    @Test(arguments: [
        ("10/30", "2 3 4"), ("0/30", "3 4"), ("14.999/30", "2 3 4"), ("15/30", "1 2 3 4"), ("24.999/30", "1 2 3 4"),
        ("25/30", "0 1 2 3 4"), ("30/20", "0 1 2 3 4"),
    ])
    func breakInProgressHasTheRestOfItsDuration(progress: String, expected: String) throws {
        let playlist = try film(5, [0: ["#EXT-X-CUE-OUT-CONT:\(progress)"]])
        #expect(names(try edited(playlist, "exclude", "cues")) == expected)
    }

    /// The duration of a date range is counted from its date and not from the nearest boundary.
    @Test(
        arguments: [
            ("13", "13", "0 |3 4"), ("13", "12", "0 |2 3 4"), ("08", "16", "0 |2 3 4"), ("08", "17.001", "0 |3 4"),
            ("10", "15", "0 |2 3 4"), ("10", "15.001", "0 |3 4"), ("10", "5", "0 1 2 3 4"), ("10", "5.001", "0 |2 3 4"),
        ]
    )
    func durationOfADateRangeBeginsWithItsDate(start: String, duration: String, expected: String) throws {
        let range =
            "#EXT-X-DATERANGE:ID=\"1\",CLASS=\"ad\",START-DATE=\"2026-01-01T00:00:\(start)Z\",DURATION=\(duration)"
        let playlist = try film(5, [0: ["#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z", range]])
        #expect(names(try edited(playlist, "exclude", "class=ad")) == expected)
    }

    @Test func dateRangesOfAClassAreBreaks() throws {
        let playlist = try media(
            "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z",
            "#EXT-X-DATERANGE:ID=\"1\",CLASS=\"ad\",START-DATE=\"2026-01-01T00:00:09Z\",DURATION=21.5",
            "#EXT-X-DATERANGE:ID=\"2\",CLASS=\"other\",START-DATE=\"2026-01-01T00:00:40Z\",DURATION=10",
            "#EXTINF:10,",
            "0",
            "#EXTINF:10,",
            "1",
            "#EXTINF:10,",
            "2",
            "#EXTINF:10,",
            "3",
            "#EXTINF:10,",
            "4",
            "#EXT-X-ENDLIST"
        )
        let result = try edited(playlist, "exclude", "class=ad")
        #expect(names(result) == "0 |3 4")
        #expect(result.dateRanges.map(\.id) == ["2"])
        #expect("\(try #require(result.segments[1].programDateTime))".hasPrefix("2026-01-01T00:00:30"))
    }

    // MARK: Addresses and ranges

    @Test func segmentsWithATextInTheirURLAreRemoved() throws {
        let playlist = try media(
            "#EXT-X-MAP:URI=\"a.mp4\"",
            "#EXTINF:10,",
            "/ads/0.m4s",
            "#EXTINF:5,",
            "/ads/1.m4s",
            "#EXT-X-DISCONTINUITY",
            "#EXT-X-MAP:URI=\"b.mp4\"",
            "#EXTINF:10,",
            "2.m4s",
            "#EXTINF:10,",
            "https://b.example/ads/3.m4s",
            "#EXT-X-ENDLIST"
        )
        let result = try edited(playlist, "exclude", "address=/ads/")
        #expect(names(result) == "|2.m4s" && result.mediaSequence == 2 && result.hasEndMarker)
        #expect(result.segments[0].map?.uri == "b.mp4")
        #expect(names(try edited(playlist, "exclude", "address=b.example")) == "/ads/0.m4s /ads/1.m4s |2.m4s")
        #expect(throws: PlaylistEditError.nothingLeft(filter: "exclude address=a", available: ["4 segments"])) {
            try edited(playlist, "exclude", "address=a")
        }
    }

    @Test func rangesMayOverlapAndTouch() throws {
        let segments = (0..<10).flatMap { ["#EXTINF:10,", "\($0)"] }
        let text = (["#EXTM3U", "#EXT-X-TARGETDURATION:10"] + segments + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
        let playlist = try MediaPlaylist(parsing: Array(text.utf8))
        #expect(names(try edited(playlist, "exclude", "70...,9...31,30...40,12...20")) == "0 |4 5 6")
        #expect(try edited(playlist, "exclude", "none").bytes == playlist.bytes)
        #expect(try edited(playlist, "exclude", "11...14").bytes == playlist.bytes)
    }

    @Test func aLivePlaylistIsRefused() throws {
        let playlist = try media("#EXTINF:10,", "ad", "#EXTINF:10,", "1")
        #expect(throws: PlaylistEditError.self) { try edited(playlist, "exclude", "address=ad") }
    }

    @Test(arguments: [
        "", "every=60", "address=", "10...20,", "cues,class=a", "class=", "seams=", "seams=10...20", "seams=10...20/0",
        "seams=10...20/1/0", "seams=10...20/-1/0", "seams=10...20/0/0,", "seams=10...20/0/0,every=60",
        "seams=10...20/0/0,10...20,cues", "seams=cues", "seams=20...10/0/0",
    ])
    func otherRulesAreInvalid(text: String) {
        #expect(SegmentRule(text) == nil)
    }

    @Test(arguments: [
        "cues", "class=a,b", "address=x=y", "10...20,30.5...40", "none", "seams=10...20/0/1",
        "seams=10...20/3/3,30.5.../3/4", "seams=0...1/0/0,cues", "seams=10...20/0/0,class=1...2/0/0,b",
    ])
    func rulesHaveOneForm(text: String) throws {
        #expect(try #require(SegmentRule(text)).description == text)
    }

    @Test func numberOfRangesIsLimited() {
        func text(_ count: Int) -> String { (0..<count).map { "\($0 * 2)...\($0 * 2 + 1)" }.joined(separator: ",") }
        #expect(SegmentRule(text(256)) != nil)
        #expect(SegmentRule(text(257)) == nil)
    }

    /// A text has 255 bytes at most, however many characters these are.
    @Test func lengthOfATextIsLimited() throws {
        let long = String(repeating: "é", count: 127)
        #expect(SegmentRule("address=\(long)x") == .address(containing: long + "x"))
        #expect(SegmentRule("address=\(long)xy") == nil)
    }

    @Test func rangesThatTouchAreOne() throws {
        let playlist = try film(6, [:])
        #expect(names(try edited(playlist, "exclude", "10...20,20...30")) == "0 |3 4 5")
        #expect(names(try edited(playlist, "exclude", "10...20,30...40")) == "0 |2 |4 5")
        #expect(names(try edited(playlist, "exclude", "10...50,20...30")) == "0 |5")
        #expect(names(try edited(playlist, "exclude", "20...30,10...50")) == "0 |5")
        #expect(names(try edited(playlist, "exclude", "0...50")) == "5")
        #expect(throws: PlaylistEditError.nothingLeft(filter: "exclude 0...60", available: ["6 segments"])) {
            try edited(playlist, "exclude", "0...60")
        }
    }

    // MARK: Presentations

    private struct Loader: PlaylistLoader {
        let texts: [String: String]

        func loadPlaylist(at source: String, variables: [String: String], budget: EditBudget) async throws -> Playlist {
            try Playlist.parse(
                Array(try #require(texts[source]).utf8),
                context: PlaylistContext(address: ResourceAddress(source), importableVariables: variables)
            )
        }
    }

    @Test func otherTracksAreCutWhereTheVideoIs() async throws {
        let audio = (0..<15).map { "#EXTINF:4,\na\($0)\n" }.joined()
        let loader = Loader(texts: [
            "https://h/film": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",DEFAULT=YES,URI="audio"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",LANGUAGE="en",URI="text"
            #EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
            video

            """,
            "https://h/video": """
            #EXTM3U
            #EXT-X-TARGETDURATION:10
            #EXTINF:10,
            v0
            #EXT-X-CUE-OUT:20
            #EXTINF:10,
            v1
            #EXTINF:10,
            v2
            #EXT-X-CUE-IN
            #EXTINF:10,
            v3
            #EXT-X-CUE-OUT:10
            #EXTINF:10,
            v4
            #EXTINF:10,
            v5
            #EXT-X-ENDLIST

            """,
            "https://h/audio": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(audio)#EXT-X-ENDLIST\n",
            "https://h/text": "#EXTM3U\n#EXT-X-TARGETDURATION:60\n#EXTINF:60,\nt.vtt\n#EXT-X-ENDLIST\n",
        ])
        let editor = try PresentationEditor(EditPlan([.exclude(.breaks(.cues))]), loader: loader)
        let film = try await loader.loadPlaylist(at: "https://h/film", variables: [:], budget: EditBudget())
        guard case .multivariant(let presentation) = try await editor.prepare(film).apply() else {
            Issue.record("the result is not a multivariant playlist")
            return
        }
        var result: [String: MediaPlaylist] = [:]
        let entries =
            presentation.playlist.variants.map { PresentationEntry.variant($0) }
            + presentation.playlist.renditions.map { .rendition($0) }
        for entry in entries {
            let address = try #require(entry.address).text
            let media = try await loader.loadPlaylist(at: address, variables: [:], budget: EditBudget())
            let plan = try #require(presentation.plan(for: entry))
            guard case .media(let edited) = try await PresentationEditor(plan, loader: loader).prepare(media).apply()
            else {
                Issue.record("the result for \(address) is not a media playlist")
                continue
            }
            result[address] = edited
        }
        #expect(names(try #require(result["https://h/video"])) == "v0 |v3 |v5")
        // 10...30 and 40...50 at the nearest boundaries of segments of 4 seconds; the earlier one if two are as near.
        #expect(names(try #require(result["https://h/audio"])) == "a0 a1 |a7 a8 a9 |a12 a13 a14")
        let parts = names(try #require(result["https://h/text"]))
        #expect(parts == "t.vtt#t=0,10 |t.vtt#t=30,40 |t.vtt#t=50,")
    }

    // MARK: Keys

    private static let key = "00112233445566778899aabbccddeeff"

    @Test func theKeyReplacesThoseOfThePlaylist() throws {
        let playlist = try media(
            "#EXT-X-KEY:METHOD=AES-128,URI=\"https://gone.example/k\",IV=0x01",
            "#EXTINF:10,",
            "0",
            "#EXT-X-KEY:METHOD=NONE",
            "#EXTINF:10,",
            "1",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.apple.streamingkeydelivery\"",
            "#EXTINF:10,",
            "2",
            "#EXT-X-ENDLIST"
        )
        let address = "data:application/octet-stream;base64,ABEiM0RVZneImaq7zN3u/w=="
        let result = try edited(playlist, "key", Self.key)
        #expect(result.segments.map { $0.keys.first?.uri } == [address, nil, "skd://x"])
        #expect(text(result).contains("IV=0x01"))
        let vector = "ffeeddccbbaa99887766554433221100"
        let both = try edited(playlist, "key", "0x\(Self.key.uppercased()),iv=\(vector)")
        #expect(text(both).contains("\"\(address)\",IV=0x\(vector.uppercased())\n"))
    }

    @Test func aPlaylistWithoutKeysIsEncryptedEntirely() throws {
        let result = try edited(try media("#EXTINF:10,", "0", "#EXTINF:10,", "1", "#EXT-X-ENDLIST"), "key", Self.key)
        #expect(result.segments.allSatisfy { $0.keys.first?.method == .aes128 })
    }

    /// Initialization vectors require version 2 (RFC 8216bis §8).
    @Test func versionPermitsTheInitializationVector() throws {
        let plain = Array("#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n0\n#EXT-X-ENDLIST\n".utf8)
        let vector = "\(Self.key),iv=\(Self.key)"
        #expect(try edited(try MediaPlaylist(parsing: plain), "key", vector).declaredVersion == 2)
        #expect(try edited(try MediaPlaylist(parsing: plain), "key", Self.key).declaredVersion == nil)
        for (declared, expected) in [(1, 2), (2, 2), (3, 3)] {
            let text = "#EXTM3U\n#EXT-X-VERSION:\(declared)\n" + String(decoding: plain.dropFirst(8), as: UTF8.self)
            let playlist = try MediaPlaylist(parsing: Array(text.utf8))
            #expect(try edited(playlist, "key", vector).declaredVersion == expected)
        }
    }

    @Test(arguments: [
        "", "0011", "\(key)00", "\(key),iv=00", "\(key),vi=\(key)", "\(key),iv=\(key),x",
        "zz112233445566778899aabbccddeeff",
    ])
    func otherKeysAreInvalid(text: String) {
        #expect(SegmentKey(text) == nil)
    }
}
