import HLSPlaylist
import MediaTiming
import PlaylistEditing
import Testing

/// Tests the filters of variants, and what is removed with a variant.
@Suite struct VariantFilterTests {
    private static let text = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="E",LANGUAGE="en",DEFAULT=YES,URI="aac.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="ac3",NAME="E",LANGUAGE="en",DEFAULT=YES,URI="ac3.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="spare",NAME="E",LANGUAGE="en",URI="spare.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=1000,CODECS="avc1.4d401e,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=29.970,AUDIO="aac"
        360
        #EXT-X-STREAM-INF:BANDWIDTH=2000,CODECS="avc1.64001f,mp4a.40.2,wvtt",RESOLUTION=1280x720,FRAME-RATE=60,AUDIO="aac"
        720
        #EXT-X-STREAM-INF:BANDWIDTH=3000,CODECS="hvc1.2.4.L120,ec-3",RESOLUTION=1280x720,VIDEO-RANGE=PQ,AUDIO="ac3"
        720-pq
        #EXT-X-STREAM-INF:BANDWIDTH=4000,CODECS="hvc1.2.4.L120,mp4a.40.2",RESOLUTION=1920x1080,VIDEO-RANGE=HLG,AUDIO="aac"
        1080-hlg
        #EXT-X-STREAM-INF:BANDWIDTH=5000,RESOLUTION=1920x800
        wide
        #EXT-X-STREAM-INF:BANDWIDTH=100,CODECS="mp4a.40.2",AUDIO="aac"
        sound
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=10,CODECS="avc1.4d401e",RESOLUTION=640x360,URI="i-avc"
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=10,CODECS="hvc1.2.4.L120",RESOLUTION=1280x720,VIDEO-RANGE=PQ,URI="i-pq"

        """

    private func edited(_ name: String, _ value: String) throws -> MultivariantPlaylist {
        try EditPlan([PlaylistEdit(name: name, value: value)]).applied(
            to: MultivariantPlaylist(parsing: Array(Self.text.utf8))
        )
    }

    @Test(arguments: [
        ("resolution", "1280x720...", "720 720-pq 1080-hlg wide"),
        ("resolution", "...1280x720", "360 720 720-pq sound"),
        ("resolution", "640x360...1920x800", "360 720 720-pq wide"), ("resolution", "1x1...65535x400", "360"),
        ("frame-rate", "...30", "360 720-pq 1080-hlg wide sound"), ("frame-rate", "29.97...", "360 720"),
        ("frame-rate", "50...60", "720"), ("video-range", "SDR", "360 720 wide sound"),
        ("video-range", "pq, HLG", "720-pq 1080-hlg sound"), ("codecs", "avc1,mp4a", "360 720 sound"),
        ("codecs", "avc1", "360 720 sound"), ("codecs", "avc", "360 720 sound"),
        ("codecs", "hv,mp4a", "1080-hlg sound"), ("codecs", "hvc1", "720-pq 1080-hlg sound"),
        ("codecs", "ec-3", "720-pq"), ("codecs", "avc1.64,mp4a.40", "720 sound"),
        ("drop-codecs", "hvc1", "360 720 wide sound"), ("drop-codecs", "ec-3,avc1.64", "360 1080-hlg wide sound"),
    ])
    func variantsInTheRangeRemain(name: String, value: String, expected: String) throws {
        #expect(try edited(name, value).variants.map(\.uri).joined(separator: " ") == expected)
    }

    @Test(arguments: [
        ("codecs", "avc1", "i-avc"), ("codecs", "hvc1", "i-pq"), ("drop-codecs", "avc1", "i-pq"),
        ("video-range", "SDR", "i-avc"), ("resolution", "...640x360", "i-avc"), ("frame-rate", "50...60", "i-avc i-pq"),
    ])
    func iFrameVariantsFollowTheFilter(name: String, value: String, expected: String) throws {
        #expect(try edited(name, value).iFrameVariants.map(\.uri).joined(separator: " ") == expected)
    }

    /// Variants without a readable `SCORE` are removed, because their quality relative to the others is unknown.
    @Test(arguments: [
        ("0", "low high best"), ("1", "low high best"), ("1.001", "high best"), ("2.7", "high best"), ("2.71", "best"),
        ("10.000", "best"),
    ])
    func variantsWithALowerScoreAreRemoved(minimum: String, expected: String) throws {
        let text = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=1000,SCORE=1
            low
            #EXT-X-STREAM-INF:BANDWIDTH=2000,SCORE=2.70
            high
            #EXT-X-STREAM-INF:BANDWIDTH=3000,SCORE=10
            best
            #EXT-X-STREAM-INF:BANDWIDTH=4000
            unrated
            #EXT-X-STREAM-INF:BANDWIDTH=5000,SCORE=nan
            invalid

            """
        let playlist = try MultivariantPlaylist(parsing: Array(text.utf8))
        let edited = try EditPlan([PlaylistEdit(name: "score", value: minimum)]).applied(to: playlist)
        #expect(edited.variants.map(\.uri).joined(separator: " ") == expected)
        let error = #expect(throws: PlaylistEditError.self) {
            try EditPlan([.score(MediaTime(seconds: 11))]).applied(to: playlist)
        }
        #expect(error?.code == .nothingLeft && error?.description.contains("score 11") == true)
        #expect(error?.description.contains("2 kbit/s SCORE 2.70") == true)
    }

    @Test func groupsThatOnlyRemovedVariantsUseAreRemoved() throws {
        #expect(try edited("codecs", "avc1").renditions.map(\.groupID) == ["aac", "spare"])
        #expect(try edited("bandwidth", "3000...3000").renditions.map(\.groupID) == ["ac3", "spare"])
        #expect(try edited("bandwidth", "...10000").renditions.map(\.groupID) == ["aac", "ac3", "spare"])
    }

    @Test(arguments: [
        ("codecs", "av01"), ("resolution", "4000x4000..."), ("frame-rate", "100..."), ("drop-codecs", "avc1,hvc1,mp4a"),
        ("score", "0"),
    ])
    func filterWithoutResultListsVariants(name: String, value: String) throws {
        // A variant without codecs has no codec that could be dropped.
        guard name != "drop-codecs" else {
            #expect(try edited(name, value).variants.map(\.uri) == ["wide"])
            return
        }
        let error = #expect(throws: PlaylistEditError.self) { try edited(name, value) }
        #expect(
            error?.code == .nothingLeft
                && error?.description.contains("3 kbit/s 1280x720 PQ hvc1.2.4.L120+ec-3") == true
        )
    }

    @Test func filterThatKeepsEverythingChangesNothing() throws {
        for (name, value) in [("resolution", "...4000x4000"), ("drop-codecs", "av01"), ("video-range", "SDR,PQ,HLG")] {
            #expect(try edited(name, value).bytes == Array(Self.text.utf8), "\(name)")
        }
    }

    @Test(arguments: [
        ("resolution", "720"), ("resolution", "..."), ("resolution", "1280x720...640x1080"), ("resolution", "0x1..."),
        ("frame-rate", "30"), ("frame-rate", "-1..."), ("video-range", "SDR,HDR"), ("codecs", "avc1,"),
        ("codecs", "avc1\"x"), ("score", "-0.1"), ("score", "1e3"), ("score", "good"), ("audio-languages", "en,,ko"),
        ("repeat", "0"), ("repeat", "1001"),
    ])
    func invalidValuesAreRejected(name: String, value: String) {
        #expect(throws: PlaylistEditError.self) { try PlaylistEdit(name: name, value: value) }
    }
}
