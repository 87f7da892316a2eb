import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import Testing

/// Tests of the whole result of filters, for playlists with entries that a filter must not touch.
@Suite struct FilterResultTests {
    private func playlist(_ text: String) throws -> MultivariantPlaylist {
        try MultivariantPlaylist(parsing: Array("#EXTM3U\n\(text)".utf8))
    }

    private func lines(_ playlist: MultivariantPlaylist) -> [String] {
        String(decoding: playlist.bytes, as: UTF8.self).split(separator: "\n").dropFirst().map { String($0) }
    }

    /// Returns the lines of an edited playlist after its header.
    private func edited(_ name: String, _ value: String, _ text: String) throws -> [String] {
        lines(try EditPlan([PlaylistEdit(name: name, value: value)]).applied(to: playlist(text)))
    }

    /// Returns the name of a filter that would remove everything, and the entries that its error lists.
    private func available(_ name: String, _ value: String, _ text: String) throws -> [String] {
        do {
            return try edited(name, value, text)
        } catch PlaylistEditError.nothingLeft(let filter, let available) {
            return [filter] + available
        }
    }

    // MARK: Variants

    /// A filter may remove nothing but I-frame variants.
    @Test(arguments: [
        ("video-range", "SDR"), ("drop-codecs", "hvc1"), ("codecs", "avc1"), ("filter-video", "codecs(avc1)"),
    ])
    func iFrameVariantsAloneAreRemoved(name: String, value: String) throws {
        let text = """
            #EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=2x2,CODECS="avc1.64001e"
            a
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i"
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,VIDEO-RANGE=PQ,CODECS="hvc1.2.4",URI="pq"

            """
        #expect(
            try edited(name, value, text) == [
                #"#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=2x2,CODECS="avc1.64001e""#, "a",
                #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i""#,
            ]
        )
    }

    /// Variants have only audio if all their codecs are audio, and they have no resolution.
    @Test(arguments: [
        ("content-types", "audio,subtitles,closed-captions", ["a", "e"]),
        ("content-types", "video,subtitles,closed-captions", ["b", "c", "d"]),
        ("filter-video", "bandwidth(3...)", ["a", "c", "d", "e"]),
        ("filter-audio", "bandwidth(3...)", ["b", "c", "d", "e"]),
    ])
    func variantsWithOnlyAudioAreRecognized(name: String, value: String, expected: [String]) throws {
        let text = """
            #EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="mp4a.40.2"
            a
            #EXT-X-STREAM-INF:BANDWIDTH=2,CODECS="mp4a.40.2",RESOLUTION=2x2
            b
            #EXT-X-STREAM-INF:BANDWIDTH=3
            c
            #EXT-X-STREAM-INF:BANDWIDTH=4,CODECS="avc1.64001e,mp4a.40.2"
            d
            #EXT-X-STREAM-INF:BANDWIDTH=5,CODECS="mp4a.40.2,ec-3"
            e

            """
        #expect(try edited(name, value, text).filter { !$0.hasPrefix("#") } == expected)
    }

    @Test func variantsAreListedWithTheirProperties() throws {
        let text = """
            #EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=2x2,FRAME-RATE=29.970,VIDEO-RANGE=PQ,CODECS="a,b",SCORE=1.0
            a
            #EXT-X-STREAM-INF:AUDIO="a"
            b

            """
        #expect(
            try available("bandwidth", "2000...", text) == [
                "bandwidth 2000...", "1 kbit/s 2x2 29.97 fps PQ a+b SCORE 1.0", "no BANDWIDTH",
            ]
        )
    }

    @Test(arguments: [(19, []), (20, []), (21, ["1 more"]), (40, ["20 more"])] as [(Int, [String])])
    func messageListsAtMostTwentyEntries(count: Int, rest: [String]) throws {
        let text = (0..<count).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0)\n\($0)\n" }.joined()
        let listed = (0..<min(count, 20)).map { "\($0) bit/s" }
        let expected: [String] = ["bandwidth 1000..."] + listed + rest
        #expect(try available("bandwidth", "1000...", text) == expected)
    }

    // MARK: Renditions

    @Test func renditionsOfUnknownTypesRemain() throws {
        let text = """
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",URI="s"
            #EXT-X-MEDIA:TYPE=METADATA,GROUP-ID="s",NAME="M",URI="m"
            #EXT-X-MEDIA:GROUP-ID="s",NAME="N",URI="n"
            #EXT-X-STREAM-INF:BANDWIDTH=1,SUBTITLES="s"
            a

            """
        #expect(
            try edited("no-subtitles", "", text) == [
                #"#EXT-X-MEDIA:TYPE=METADATA,GROUP-ID="s",NAME="M",URI="m""#,
                #"#EXT-X-MEDIA:GROUP-ID="s",NAME="N",URI="n""#, "#EXT-X-STREAM-INF:BANDWIDTH=1", "a",
            ]
        )
        #expect(try edited("content-types", "video,audio,subtitles,closed-captions", text).count == 5)
    }

    /// Filters of subtitles change neither the audio nor its defaults.
    @Test(arguments: [("subtitle-languages", "de"), ("filter-subtitles", "languages(de)")])
    func audioIsUnchangedByFiltersOfSubtitles(name: String, value: String) throws {
        let text = """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",DEFAULT=YES,URI="en"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="D",LANGUAGE="de",URI="de"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="D",LANGUAGE="de",URI="s-de"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",LANGUAGE="en",DEFAULT=YES,URI="s-en"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a",SUBTITLES="s"
            v

            """
        let expected = text.split(separator: "\n").map { String($0) }.filter { !$0.contains("s-en") }
        #expect(try edited(name, value, text) == expected)
    }

    @Test func onlyGroupsThatHadADefaultGetAnotherOne() throws {
        func rendition(_ group: String, _ language: String, _ rest: String = "") -> String {
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="\#(group)",NAME="\#(language)",LANGUAGE="\#(language)",URI="u""# + rest
        }
        let variants = ["a", "b", "c"].flatMap { ["#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"\($0)\"", $0] }
        let all =
            [
                rendition("a", "en", ",DEFAULT=YES"), rendition("a", "de-AT"),
                rendition("a", "de", ",AUTOSELECT=YES"), rendition("b", "en"), rendition("b", "de"),
                rendition("c", "en"), rendition("c", "de", ",DEFAULT=YES"),
            ] + variants
        let expected =
            [
                rendition("a", "de-AT"), rendition("a", "de", ",AUTOSELECT=YES,DEFAULT=YES"), rendition("b", "de"),
                rendition("c", "de", ",DEFAULT=YES"),
            ] + variants
        #expect(try edited("audio-languages", "de", all.joined(separator: "\n") + "\n") == expected)
    }

    @Test func channelsOfARenditionMayBeUnknown() throws {
        let text = """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="2",CHANNELS="2",URI="2"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="N",URI="n"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            v

            """
        let all = text.split(separator: "\n").map { String($0) }
        #expect(try edited("filter-audio", "channels(...2)", text) == all)
        #expect(try edited("filter-audio", "channels(2...)", text) == [all[0], all[2], all[3]])
        #expect(try edited("filter-audio", "channels(...1)", text) == [all[1], all[2], all[3]])
        #expect(
            try available("filter-audio", "channels(3...)", text) == [
                "filter-audio channels(3...)", "2 channels", "no CHANNELS",
            ]
        )
    }

    @Test func characteristicsAreListed() throws {
        let text = """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="1",CHARACTERISTICS="a.b,c",URI="1"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="2",URI="2"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="3",CHARACTERISTICS="d",URI="3"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a",SUBTITLES="s"
            v

            """
        #expect(
            try available("filter-audio", "characteristics(d)", text) == [
                "filter-audio characteristics(d)", "a.b+c", "none",
            ]
        )
        let all = text.split(separator: "\n").map { String($0) }
        #expect(try edited("filter-audio", "characteristics(x,c)", text) == [all[0], all[2], all[3], all[4]])
        #expect(try edited("filter-subtitles", "characteristics(d)", text) == all)
    }

    // MARK: Captions

    @Test(
        arguments: [
            ("TYPE=SUBTITLES", .subtitles), ("TYPE=SUBTITLES,FORCED=NO", .subtitles),
            ("TYPE=SUBTITLES,FORCED=YES", .forced),
            ("TYPE=SUBTITLES,CHARACTERISTICS=\"public.easy-to-read\"", .subtitles),
            ("TYPE=SUBTITLES,CHARACTERISTICS=\"x,public.accessibility.transcribes-spoken-dialog\"", .sdh),
            ("TYPE=SUBTITLES,CHARACTERISTICS=\"public.accessibility.describes-music-and-sound\"", .sdh),
            ("TYPE=SUBTITLES,FORCED=YES,CHARACTERISTICS=\"public.accessibility.describes-music-and-sound\"", .forced),
            ("TYPE=CLOSED-CAPTIONS,INSTREAM-ID=\"CC1\"", .cea608),
            ("TYPE=CLOSED-CAPTIONS,INSTREAM-ID=\"SERVICE63\"", .cea708),
            ("TYPE=CLOSED-CAPTIONS,INSTREAM-ID=\"X1\"", nil), ("TYPE=CLOSED-CAPTIONS,FORCED=YES", nil),
            ("TYPE=AUDIO,FORCED=YES,INSTREAM-ID=\"CC1\"", nil), ("TYPE=VIDEO,INSTREAM-ID=\"CC1\"", nil),
            ("TYPE=OTHER,INSTREAM-ID=\"CC1\"", nil),
        ] as [(String, CaptionType?)]
    )
    func captionsHaveAType(attributes: String, expected: CaptionType?) throws {
        let rendition = try #require(try playlist("#EXT-X-MEDIA:\(attributes)\n").renditions.first)
        #expect(CaptionType(rendition) == expected)
    }

    @Test func captionsAreListedByType() throws {
        let text = """
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="1",URI="1"
            #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="2",INSTREAM-ID="CC1"
            #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="3",INSTREAM-ID="X"
            #EXT-X-STREAM-INF:BANDWIDTH=1
            v

            """
        #expect(
            try available("caption-types", "forced", text) == [
                "caption-types forced", "subtitles", "cea608", "closed captions without a known INSTREAM-ID",
            ]
        )
    }

    /// NONE is in all variants, and in no I-frame variant; a group can have this name too.
    @Test func removedClosedCaptionsAreNotShown() throws {
        let text = """
            #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="C",INSTREAM-ID="CC1"
            #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="NONE",NAME="C",INSTREAM-ID="CC1"
            #EXT-X-STREAM-INF:BANDWIDTH=1,CLOSED-CAPTIONS="c",NAME="n"
            a
            #EXT-X-STREAM-INF:BANDWIDTH=2,CLOSED-CAPTIONS="NONE"
            b
            #EXT-X-STREAM-INF:BANDWIDTH=3,CLOSED-CAPTIONS=NONE
            c
            #EXT-X-STREAM-INF:BANDWIDTH=4
            d
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=5,URI="i"
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=6,CLOSED-CAPTIONS="c",URI="j"

            """
        #expect(
            try edited("content-types", "video,audio,subtitles", text) == [
                "#EXT-X-STREAM-INF:BANDWIDTH=1,CLOSED-CAPTIONS=NONE,NAME=\"n\"", "a",
                "#EXT-X-STREAM-INF:BANDWIDTH=2,CLOSED-CAPTIONS=NONE", "b",
                "#EXT-X-STREAM-INF:BANDWIDTH=3,CLOSED-CAPTIONS=NONE", "c",
                "#EXT-X-STREAM-INF:BANDWIDTH=4,CLOSED-CAPTIONS=NONE", "d",
                "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=5,URI=\"i\"", "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=6,URI=\"j\"",
            ]
        )
    }

    // MARK: Types of content

    @Test func renditionsOfVideoAreRemovedWithTheVideo() throws {
        let text = """
            #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="A",URI="angle"
            #EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="mp4a.40.2",VIDEO="v"
            s
            #EXT-X-STREAM-INF:BANDWIDTH=2,CODECS="avc1.64001e",VIDEO="v"
            v

            """
        let all = text.split(separator: "\n").map { String($0) }
        #expect(
            try edited("content-types", "audio,subtitles,closed-captions", text)
                == ["#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"mp4a.40.2\"", "s"]
        )
        #expect(
            try edited("content-types", "video,subtitles,closed-captions", text) == [all[0], all[3], all[4]]
        )
    }

    /// The bit rate of audio without video is estimated by its channels.
    @Test(arguments: [
        ("", 128_000), (",CHANNELS=\"x\"", 128_000), (",CHANNELS=\"0\"", 64_000), (",CHANNELS=\"1\"", 64_000),
        (",CHANNELS=\"2\"", 128_000), (",CHANNELS=\"16/JOC\"", 1_024_000), (",CHANNELS=\"64\"", 4_096_000),
        (",CHANNELS=\"65\"", 4_096_000),
    ])
    func bitRateOfAudioFollowsFromItsChannels(channels: String, rate: Int) throws {
        let text = """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E"\(channels),URI="e"
            #EXT-X-STREAM-INF:BANDWIDTH=9,CODECS="avc1.64001e,mp4a.40.2",RESOLUTION=2x2,AUDIO="a"
            v

            """
        #expect(
            try edited("content-types", "audio,closed-captions", text) == [
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"E\"\(channels)",
                "#EXT-X-STREAM-INF:BANDWIDTH=\(rate),CODECS=\"mp4a.40.2\",AUDIO=\"a\"", "e",
            ]
        )
    }

    /// A variant that declares its average bit rate declares that of its audio, which Apple's rules require.
    @Test func averageBitRateIsThatOfTheAudio() throws {
        let text = """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",CHANNELS="2",URI="e"
            #EXT-X-STREAM-INF:BANDWIDTH=9,AVERAGE-BANDWIDTH=8,CODECS="avc1.64001e,mp4a.40.2",AUDIO="a"
            v

            """
        #expect(
            try edited("content-types", "audio,closed-captions", text) == [
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"E\",CHANNELS=\"2\"",
                "#EXT-X-STREAM-INF:BANDWIDTH=128000,AVERAGE-BANDWIDTH=128000,CODECS=\"mp4a.40.2\",AUDIO=\"a\"", "e",
            ]
        )
    }

    @Test func audioVariantHasTheDefaultRendition() throws {
        let text = """
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="a",NAME="S",DEFAULT=YES,URI="s"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="1",URI="1"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="2",CHANNELS="6",URI="2"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="3",URI="3"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="4",DEFAULT=YES,URI="4"
            #EXT-X-STREAM-INF:BANDWIDTH=9,CODECS="avc1.64001e",AUDIO="a"
            v
            #EXT-X-STREAM-INF:BANDWIDTH=9,AUDIO="b"
            w
            #EXT-X-STREAM-INF:BANDWIDTH=9
            x

            """
        #expect(
            try edited("content-types", "audio,subtitles,closed-captions", text) == [
                #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="a",NAME="S",DEFAULT=YES,URI="s""#,
                #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="1""#,
                #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="2",CHANNELS="6",URI="2""#,
                #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="3",URI="3""#,
                #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="4",DEFAULT=YES"#,
                #"#EXT-X-STREAM-INF:BANDWIDTH=384000,AUDIO="a""#, "1", #"#EXT-X-STREAM-INF:BANDWIDTH=128000,AUDIO="b""#,
                "4",
            ]
        )
    }

    /// The codecs are rewritten only if separate audio is removed from them.
    @Test(arguments: [
        (##"CODECS="avc1.64001e,mp4a.40.2",AUDIO="a""##, ##"CODECS="avc1.64001e""##),
        (##"CODECS="xyz1 , mp4a.40.2 ,wvtt",AUDIO="a""##, ##"CODECS="xyz1,wvtt""##),
        (##"CODECS="avc1.64001e , wvtt",AUDIO="a""##, ##"CODECS="avc1.64001e , wvtt""##),
        (##"CODECS="mp4a.40.2",RESOLUTION=2x2,AUDIO="a""##, ##"CODECS="mp4a.40.2",RESOLUTION=2x2"##),
        (##"CODECS="avc1.64001e,mp4a.40.2",AUDIO="b""##, ##"CODECS="avc1.64001e,mp4a.40.2""##),
        (##"CODECS="avc1.64001e,mp4a.40.2",AUDIO="c""##, ##"CODECS="avc1.64001e,mp4a.40.2""##),
        (##"CODECS="avc1.64001e,mp4a.40.2""##, ##"CODECS="avc1.64001e,mp4a.40.2""##),
        (##"AUDIO="a",NAME="n""##, ##"NAME="n""##),
    ])
    func codecsOfRemovedAudioAreRemoved(attributes: String, expected: String) throws {
        let text = """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="e"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="E"
            #EXT-X-STREAM-INF:BANDWIDTH=1,\(attributes)
            v

            """
        #expect(
            try edited("content-types", "video,subtitles,closed-captions", text)
                == ["#EXT-X-STREAM-INF:BANDWIDTH=1,\(expected)", "v"]
        )
    }

    // MARK: Audio of stitched playlists

    /// Returns the lines of a playlist into which one with the given lines is stitched.
    private func stitched(_ text: String, with other: String) throws -> [String] {
        lines(
            try EditPlan([]).applied(to: playlist(text), sources: ["o": .multivariant(try playlist(other))])
        )
    }

    private static let separate = """
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="e"
        #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
        v

        """

    @Test func audioRenditionsAreAddedForVariantsThatMayHaveAudio() throws {
        let text = """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="x",NAME="X",URI="x"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="m",NAME="M"
            #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="m",NAME="C",INSTREAM-ID="CC1"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="unused",NAME="U"
            #EXT-X-STREAM-INF:BANDWIDTH=500,AUDIO="x"
            a
            #EXT-X-STREAM-INF:BANDWIDTH=400,CODECS="avc1.64001e"
            b
            #EXT-X-STREAM-INF:BANDWIDTH=300,CODECS="avc1.64001e,mp4a.40.2"
            c
            #EXT-X-STREAM-INF:BANDWIDTH=200
            d
            #EXT-X-STREAM-INF:BANDWIDTH=200
            e
            #EXT-X-STREAM-INF:BANDWIDTH=100,AUDIO="m"
            f

            """
        #expect(
            try stitched(text, with: Self.separate) == [
                #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="x",NAME="X",URI="x""#,
                #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="m",NAME="M",URI="f""#,
                #"#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="m",NAME="C",INSTREAM-ID="CC1""#,
                #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="unused",NAME="U""#, #"#EXT-X-STREAM-INF:BANDWIDTH=500,AUDIO="x""#,
                "a", #"#EXT-X-STREAM-INF:BANDWIDTH=400,CODECS="avc1.64001e""#, "b",
                #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="millstream-audio",NAME="Audio",DEFAULT=YES,AUTOSELECT=YES,URI="d""#,
                #"#EXT-X-STREAM-INF:BANDWIDTH=300,CODECS="avc1.64001e,mp4a.40.2",AUDIO="millstream-audio""#, "c",
                #"#EXT-X-STREAM-INF:BANDWIDTH=200,AUDIO="millstream-audio""#, "d",
                #"#EXT-X-STREAM-INF:BANDWIDTH=200,AUDIO="millstream-audio""#, "e",
                #"#EXT-X-STREAM-INF:BANDWIDTH=100,AUDIO="m""#, "f",
            ]
        )
    }

    /// Returns the URI of the audio that is added to a playlist of two variants, `a` and `b`.
    private func addedAudio(_ first: String, _ second: String) throws -> String? {
        let text = "#EXT-X-STREAM-INF:\(first)\na\n#EXT-X-STREAM-INF:\(second)\nb\n"
        let result = try EditPlan([]).applied(
            to: playlist(text),
            sources: ["o": .multivariant(try playlist(Self.separate))]
        )
        return result.renditions.first?.uri
    }

    @Test(arguments: [
        ("BANDWIDTH=2", "BANDWIDTH=1", "b"), ("BANDWIDTH=1", "BANDWIDTH=2", "a"), ("BANDWIDTH=1", "BANDWIDTH=1", "a"),
        ("BANDWIDTH=1", "NAME=\"n\"", "b"), ("NAME=\"n\"", "BANDWIDTH=1", "a"), ("NAME=\"n\"", "BANDWIDTH=0", "a"),
        ("BANDWIDTH=0", "NAME=\"n\"", "a"),
    ])
    func addedAudioIsThatOfTheLowestBitRate(first: String, second: String, expected: String) throws {
        #expect(try addedAudio(first, second) == expected)
        let matching = StitchMatching(
            try playlist("#EXT-X-STREAM-INF:\(first)\na\n#EXT-X-STREAM-INF:\(second)\nb\n")
        )
        #expect(matching.lowestBitRateVariant?.text == expected)
    }

    @Test(arguments: [
        "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"E\"\n#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nv\n",
        "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"a\",NAME=\"E\",URI=\"e\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n",
    ])
    func audioInVariantsNeedsNoRendition(other: String) throws {
        let text = "#EXT-X-STREAM-INF:BANDWIDTH=1\na\n"
        #expect(try stitched(text, with: other) == ["#EXT-X-STREAM-INF:BANDWIDTH=1", "a"])
    }

    @Test func quotationMarksInTheURIOfAddedAudioAreEncoded() throws {
        #expect(
            try stitched("#EXT-X-STREAM-INF:BANDWIDTH=1\na\"b\n", with: Self.separate).first
                == #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="millstream-audio",NAME="Audio",DEFAULT=YES,AUTOSELECT=YES,URI="a%22b""#
        )
    }
}
