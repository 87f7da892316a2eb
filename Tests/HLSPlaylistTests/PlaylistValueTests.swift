import MediaTiming
import ResourceAddressing
import Testing

@testable import HLSPlaylist

/// Tests of values of a playlist that its report does not contain.
@Suite struct PlaylistValueTests {
    private func media(
        _ text: String,
        at address: String? = "https://h.example/a/list.m3u8?q=1"
    ) throws -> MediaPlaylist {
        try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: address.map { ResourceAddress($0) })
        )
    }

    private func dateRange(_ attributes: String) throws -> DateRange {
        try #require(try media("#EXTM3U\n#EXT-X-DATERANGE:ID=\"a\",\(attributes)\n").dateRanges.first)
    }

    @Test func dateRangeExposesItsAttributes() throws {
        let range = try dateRange(
            """
            CLASS="c",START-DATE="2024-01-01T00:00:00Z",END-DATE="2024-01-01T00:00:09Z",DURATION=9,PLANNED-DURATION=8.5,\
            END-ON-NEXT=YES,CUE="PRE, ONCE,NEVER",SCTE35-CMD=0x01,SCTE35-OUT=0x02,SCTE35-IN=0x03
            """
        )
        #expect(range.id == "a" && range.classIdentifier == "c")
        #expect(range.startDate?.sinceEpoch == MediaTime(seconds: 1_704_067_200))
        #expect(range.endDate?.sinceEpoch == MediaTime(seconds: 1_704_067_209))
        #expect(range.duration?.description == "9" && range.plannedDuration?.description == "8.5")
        #expect(range.endsOnNext && range.cues == [.pre, .once])
        #expect(range.spliceCommand == [1] && range.spliceOut == [2] && range.spliceIn == [3])
        #expect(range.interstitial == nil && range.preload == nil && range["X-NONE"] == nil)
        let bare = try dateRange("END-ON-NEXT=NO")
        #expect(!bare.endsOnNext && bare.cues.isEmpty && bare.startDate == nil && bare.duration == nil)
        #expect(bare.spliceCommand == nil && bare.classIdentifier == nil)
    }

    @Test func interstitialExposesItsAttributes() throws {
        let range = try dateRange(
            """
            CLASS="com.apple.hls.interstitial",X-ASSET-URI="ad.m3u8",X-ASSET-LIST="/list.json",X-RESUME-OFFSET=-1.5,\
            X-PLAYOUT-LIMIT=20,X-SNAP="OUT,IN,UP",X-RESTRICT="SKIP,JUMP,FLY",X-CONTENT-MAY-VARY="NO",\
            X-TIMELINE-OCCUPIES="RANGE",X-TIMELINE-STYLE="PRIMARY",X-SKIP-CONTROL-OFFSET=2,X-SKIP-CONTROL-DURATION=5,\
            X-SKIP-CONTROL-LABEL-ID="label"
            """
        )
        let interstitial = try #require(range.interstitial)
        #expect(interstitial.assetAddress?.text == "https://h.example/a/ad.m3u8")
        #expect(interstitial.assetListAddress?.text == "https://h.example/list.json")
        #expect(interstitial.resumeOffset?.description == "-1.5" && interstitial.playoutLimit?.description == "20")
        #expect(interstitial.snaps == [.out, .in] && interstitial.restrictions == [.skip, .jump])
        #expect(
            !interstitial.mayVary && interstitial.timelineOccupation == .range && interstitial.timelineStyle == .primary
        )
        #expect(
            interstitial.skipControlOffset?.description == "2" && interstitial.skipControlDuration?.description == "5"
        )
        #expect(interstitial.skipControlLabelID == "label")
        let bare = try #require(try dateRange("CLASS=\"com.apple.hls.interstitial\"").interstitial)
        #expect(bare.mayVary && bare.timelineOccupation == .point && bare.timelineStyle == .highlight)
        #expect(bare.snaps.isEmpty && bare.restrictions.isEmpty && bare.assetAddress == nil && bare.resumeOffset == nil)
    }

    @Test func preloadRequiresAllItsAttributes() throws {
        let all = ["X-URI=\"p\"", "X-TARGET-ID=\"t\"", "X-TARGET-CLASS=\"c\""]
        let kind = "CLASS=\"com.apple.hls.preload\","
        let preload = try #require(try dateRange(kind + all.joined(separator: ",")).preload)
        #expect(
            preload.address.text == "https://h.example/a/p" && preload.targetID == "t" && preload.targetClass == "c"
        )
        for missing in all.indices {
            let rest = all.enumerated().filter { $0.offset != missing }.map(\.element).joined(separator: ",")
            #expect(try dateRange(kind + rest).preload == nil)
        }
        #expect(try dateRange("CLASS=\"other\"," + all.joined(separator: ",")).preload == nil)
    }

    @Test func dateRangeTagsWithSameIDAreMerged() throws {
        let ranges = try media(
            """
            #EXTM3U
            #EXT-X-DATERANGE:ID="b",X-A=1,X-A=2
            #EXT-X-DATERANGE:ID="a",X-A=3
            #EXT-X-DATERANGE:X-A=4
            #EXT-X-DATERANGE:ID="b",X-A=5,X-B=6
            """
        ).dateRanges
        #expect(ranges.map(\.id) == ["b", "a"])
        let spelled = ranges.map { range in range.attributes.map { "\($0.name)=\($0.value)" } }
        #expect(spelled == [["ID=b", "X-A=1", "X-B=6"], ["ID=a", "X-A=3"]])
    }

    @Test func segmentPositionsAndTimeRangesAgree() throws {
        let segments = try media("#EXTM3U\n#EXTINF:2,\na\n#EXTINF:0,\nb\n#EXTINF:1.5,\nc\n").segments
        let positions = ["-0.001", "0", "1.999", "2", "3.499", "3.5", "9"].map { time in
            MediaTime(decimal: time).flatMap { segments.position(at: $0) }
        }
        #expect(positions == [nil, 0, 0, 2, 2, nil, nil])
        #expect((0..<3).map { segments.timeRange(at: $0).description } == ["0...2", "2...2", "2...3.5"])
        #expect(segments.map(\.start.description) == ["0", "2", "2"])
        #expect(segments.startIndex == 0 && segments.endIndex == 3)
    }

    @Test(
        arguments: [
            (["4"], "4"), (["1.5", "0.25", "1"], "2.75"), (["0.123456789"], "0.123456789"),
            (["0.1234567894"], "0.123456789"), (["0.1234567895"], "0.12345679"), (["0.12345678949"], "0.123456789"),
            (["1", "0.1", "0.01", "0.001", "0.0001"], "1.1111"), (["-1", "2"], "2"), (["x", "2"], "2"),
            (["", "2"], "2"),
            (["1e3", "2"], "2"), ([".5", "5."], "5.5"), (["999999999999999999", "1"], "1000000000000000000"),
            (["9223372036", "0.000000001"], "9223372036.000000001"),
            (["9000000000", "0.000000001", "9000000000"], "9223372036.854775807"),
            (["1.0000000000", "1.0"], "2"), ([" 3 ", "+2"], "5"),
        ]
    )
    func playlistDurationIsSumOfSegmentDurations(durations: [String], sum: String) throws {
        let playlist = try media("#EXTM3U\n" + durations.map { "#EXTINF:\($0),\na\n" }.joined())
        #expect(playlist.duration.description == sum && playlist.segments.count == durations.count)
    }

    @Test func relativeAddressesAreResolved() {
        let context = PlaylistContext(address: ResourceAddress("https://h.example/a/list.m3u8?q=1#f"))
        let resolved = ["b", "/b", "?x", "#y", "", "https://o.example/", "../c"].map { context.resolve($0).text }
        #expect(
            resolved == [
                "https://h.example/a/b", "https://h.example/b", "https://h.example/a/list.m3u8?x",
                "https://h.example/a/list.m3u8?q=1#y", "https://h.example/a/list.m3u8?q=1", "https://o.example/",
                "https://h.example/c",
            ]
        )
        var moved = context
        moved.address = ResourceAddress("https://n.example/d/e")
        #expect(moved.resolve("b").text == "https://n.example/d/b")
        moved.address = nil
        #expect(moved.resolve("b").text == "b")
    }

    @Test func groupListsItsRenditions() throws {
        let playlist = try MultivariantPlaylist(parsing: Array(Fixtures.multivariant.utf8))
        for _ in 0..<2 {
            #expect(playlist.renditions(.audio, in: "aac").map(\.language) == ["en", "ko"])
            #expect(playlist.renditions(.subtitles, in: "subs").map(\.isForced) == [true])
            #expect(playlist.renditions(.audio, in: "subs").isEmpty && playlist.renditions(.video, in: "aac").isEmpty)
        }
        #expect(playlist.renditions.map(\.isDefault) == [true, false, false, false])
        #expect(playlist.renditions.map(\.isAutoselect) == [true, true, false, false])
        let none = try MultivariantPlaylist(parsing: Array(Fixtures.multivariant.utf8))
        #expect(none.renditions(.video, in: "aac").isEmpty)
    }

    @Test func endMarkerOrVODTypeEndsLivePlaylist() throws {
        func isLive(_ lines: String) throws -> Bool { try media("#EXTM3U\n#EXTINF:1,\na\n" + lines).isLive }
        #expect(try isLive("") && isLive("#EXT-X-PLAYLIST-TYPE:EVENT\n") && isLive("#EXT-X-PLAYLIST-TYPE:OTHER\n"))
        #expect(try !isLive("#EXT-X-ENDLIST\n") && !isLive("#EXT-X-PLAYLIST-TYPE:VOD\n"))
    }

    @Test(
        arguments: [
            ("#EXTINF:1,", 1), ("#EXTINF:1.0,", 3), ("#EXTINF:1,1.0", 1), ("#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", 1),
            ("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1", 2), ("#EXT-X-BYTERANGE:1", 4), ("#EXT-X-I-FRAMES-ONLY", 4),
            ("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"", 5), ("#EXT-X-KEY:METHOD=AES-128,KEYFORMAT=\"k\"", 5),
            ("#EXT-X-KEY:METHOD=AES-128,KEYFORMATVERSIONS=\"1\"", 5), ("#EXT-X-MAP:URI=\"m\"", 6),
            ("#EXT-X-I-FRAMES-ONLY\n#EXT-X-MAP:URI=\"m\"", 5), ("#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"", 8),
            ("#EXT-X-DEFINE:QUERYPARAM=\"a\"", 11), ("#EXT-X-SKIP:SKIPPED-SEGMENTS=1", 9),
            ("#EXT-X-SKIP:SKIPPED-SEGMENTS=1,RECENTLY-REMOVED-DATERANGES=\"\"", 10),
            ("#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,INSTREAM-ID=\"CC1\"", 1),
            ("#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,INSTREAM-ID=\"SERVICE1\"", 7),
            ("#EXT-X-MEDIA:TYPE=AUDIO,INSTREAM-ID=\"1\"", 13), ("#EXT-X-MEDIA:INSTREAM-ID=\"1\"", 1),
            ("#EXT-X-STREAM-INF:BANDWIDTH=1,REQ-VIDEO-LAYOUT=\"CH-STEREO\"\na", 12),
            ("#EXT-X-I-FRAME-STREAM-INF:REQ-X=1,URI=\"a\"", 12), ("#EXT-X-STREAM-INF:BANDWIDTH=1,X-REQ-A=1\na", 1),
        ]
    )
    func minimumVersionDependsOnFeatures(lines: String, version: Int) throws {
        #expect(try Playlist.parse(Array("#EXTM3U\n\(lines)\n".utf8)).minimumVersion == version)
    }

    @Test func importedVariablesAreListed() throws {
        let text = """
            #EXTM3U
            #EXT-X-DEFINE:IMPORT="a"
            #EXT-X-DEFINE:NAME="b",VALUE="1",IMPORT="c"
            #EXT-X-DEFINE:QUERYPARAM="d"
            #EXT-X-DEFINE
            #EXT-X-DEFINE:IMPORT="e"
            #EXTINF:1,
            {$a}
            """
        let playlist = try Playlist.parse(Array(text.utf8))
        #expect(playlist.importedVariableNames == ["a", "e"])
        #expect(playlist.entryCount == 7)
        let multivariant = try Playlist.parse(Array(Fixtures.multivariant.utf8))
        #expect(multivariant.importedVariableNames.isEmpty && multivariant.entryCount == 15)
    }
}
