import HLSPlaylist
import MediaTiming
import PlaylistEditing
import Testing

/// Tests the filters of one media type, of caption types and of content types.
@Suite struct TrackFilterTests {
    private static let text = """
        #EXTM3U
        #EXT-X-VERSION:7
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,CHANNELS="2",URI="en"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Described",LANGUAGE="en",CHANNELS="2",CHARACTERISTICS="public.accessibility.describes-video",URI="described"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="English",LANGUAGE="en",DEFAULT=YES,CHANNELS="16/JOC",URI="atmos"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="Described",LANGUAGE="en",CHANNELS="6",CHARACTERISTICS="public.accessibility.describes-video",URI="described-b"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="s-en"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="SDH",LANGUAGE="en",CHARACTERISTICS="public.accessibility.describes-music-and-sound",URI="s-sdh"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Forced",LANGUAGE="de",FORCED=YES,URI="s-forced"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="E",LANGUAGE="en",INSTREAM-ID="CC1"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="d",NAME="E",LANGUAGE="en",INSTREAM-ID="SERVICE1"
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=640x360,CODECS="avc1.64001e,mp4a.40.2",AUDIO="a",SUBTITLES="s",CLOSED-CAPTIONS="c"
        low
        #EXT-X-STREAM-INF:BANDWIDTH=4000000,RESOLUTION=1280x720,CODECS="hvc1.2.4.L93.90,ec-3",AUDIO="b",SUBTITLES="s",CLOSED-CAPTIONS="d"
        high
        #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.5"
        sound
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=50000,RESOLUTION=640x360,CODECS="avc1.64001e",URI="i"

        """

    private func edited(_ name: String, _ value: String, of text: String = Self.text) throws -> MultivariantPlaylist {
        let result = try EditPlan([PlaylistEdit(name: name, value: value)]).applied(
            to: MultivariantPlaylist(parsing: Array(text.utf8))
        )
        let findings = PresentationValidation(result, playlists: [:]).diagnostics(of: [.rfc])
        #expect(!findings.flatMap(\.diagnostics).contains { $0.severity == .error }, "\(name) \(value): \(findings)")
        return result
    }

    private func uris(_ playlist: MultivariantPlaylist, _ type: Rendition.MediaType) -> [String] {
        playlist.renditions.filter { $0.type == type }.compactMap { $0.uri ?? $0.instreamID }
    }

    @Test(arguments: [
        ("bandwidth(2M...)", ["high", "sound"]), ("max-height(360)", ["low", "sound"]),
        ("codecs(hvc1)", ["high", "sound"]), ("drop-codecs(hvc1),bandwidth(...2M)", ["low", "sound"]),
        ("resolution(1280x720...)", ["high", "sound"]), ("video-range(SDR)", ["low", "high", "sound"]),
        ("frame-rate(...30)", ["low", "high", "sound"]),
    ])
    func conditionsForVideoPreserveAudio(conditions: String, uris: [String]) throws {
        #expect(try edited("filter-video", conditions).variants.map(\.uri) == uris)
    }

    @Test func conditionsForVideoMustLeaveVideo() throws {
        let error = #expect(throws: PlaylistEditError.self) { try edited("filter-video", "bandwidth(9M...)") }
        guard case .nothingLeft(let filter, let available) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(filter == "filter-video bandwidth(9000000...)" && available.count == 3)
        // Without video there is nothing to filter.
        let sound = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS=\"mp4a.40.5\"\nsound\n"
        #expect(try edited("filter-video", "bandwidth(9M...),codecs(hvc1)", of: sound).bytes == Array(sound.utf8))
    }

    @Test func conditionsForAudioChangeOnlyAudio() throws {
        let stereo = try edited("filter-audio", "channels(...2)")
        #expect(uris(stereo, .audio) == ["en", "described"] && stereo.variants.map(\.uri) == ["low", "sound"])
        #expect(try edited("filter-audio", "channels(2)").bytes == edited("filter-audio", "channels(2...2)").bytes)
        let surround = try edited("filter-audio", "channels(6...),languages(en)")
        #expect(
            uris(surround, .audio) == ["atmos", "described-b"] && surround.variants.map(\.uri) == ["high", "sound"]
        )
        let codec = try edited("filter-audio", "codecs(ec-3)")
        #expect(codec.variants.map(\.uri) == ["high"] && uris(codec, .audio) == ["atmos", "described-b"])
        let described = try edited("filter-audio", "characteristics(public.accessibility.describes-video)")
        #expect(
            uris(described, .audio) == ["described", "described-b"] && described.renditions.first?.isDefault == true
        )
        #expect(throws: PlaylistEditError.self) { try edited("filter-audio", "bandwidth(...32k)") }
        #expect(try edited("filter-audio", "drop-codecs(ec-3)").variants.map(\.uri) == ["low", "sound"])
    }

    @Test func conditionsForSubtitlesChangeOnlySubtitles() throws {
        let english = try edited("filter-subtitles", "languages(en),types(sdh)")
        #expect(uris(english, .subtitles) == ["s-sdh"] && uris(english, .closedCaptions) == ["CC1", "SERVICE1"])
        #expect(uris(english, .audio).count == 4 && english.variants.count == 3)
        let marked = try edited(
            "filter-subtitles",
            "characteristics(public.accessibility.describes-music-and-sound)"
        )
        #expect(uris(marked, .subtitles) == ["s-sdh"])
        #expect(throws: PlaylistEditError.self) { try edited("filter-subtitles", "languages(en),types(forced)") }
    }

    @Test(arguments: [
        "bandwidth", "bandwidth()", "bandwidth(1M...", "bandwidth(1M...) codecs(avc1)", "bandwidth(1M...),", ",",
        "languages(en)", "append(a)", "bandwidth(1M...))", "(1M...)",
        Array(repeating: "max-height(1)", count: 9).joined(separator: ","),
    ])
    func invalidConditionsAreRefused(conditions: String) {
        let error = #expect(throws: PlaylistEditError.self) {
            try PlaylistEdit(name: "filter-video", value: conditions)
        }
        #expect(error?.code == .invalidValue && error?.description.contains("filter-video") == true)
    }

    /// The message names the part of the value that is wrong.
    @Test(arguments: [
        (
            "filter-audio", "languages(en),chanels(2)",
            "a name in the value of filter-audio must be one of bandwidth, codecs, "
        ),
        ("filter-audio", "languages(en),chanels(2)", ", not \"chanels\""),
        ("filter-audio", "languages(en),channels(two)", "channels of filter-audio must be a number or LOW...HIGH, "),
        ("filter-audio", "languages(en),channels(two)", ", not \"two\""),
        ("filter-audio", "languages(en),channels", "a condition of filter-audio must be NAME(VALUE), not \"channels\""),
        (
            "filter-video", "video-range(SDR,FOO)",
            "video-range of filter-video must be a list of SDR, HLG and PQ, not \"FOO\""
        ),
        ("filter-video", "height<=360", "must be a list of conditions such as max-height(720), separated by commas"),
        ("filter-audio", "en", "must be a list of conditions such as channels(6...), separated by commas"),
        ("filter-subtitles", "en", "must be a list of conditions such as languages(en), separated by commas"),
        ("video-range", "SDR,FOO", "video-range must be a list of SDR, HLG and PQ, not \"FOO\""),
        ("insert", "a.m3u8@later", "the time of insert must be a time, such as 12.5 or 00:01:30, not \"later\""),
    ])
    func theInvalidPartOfAValueIsNamed(edit: String, value: String, message: String) {
        let error = #expect(throws: PlaylistEditError.self) { try PlaylistEdit(name: edit, value: value) }
        #expect(error?.description.contains(message) == true, "\(String(describing: error))")
    }

    @Test func conditionsAreNormalized() throws {
        let edit = try PlaylistEdit.filterVideo("bandwidth(900k...4M), codecs(hvc1, avc1)")
        #expect(edit.value == "bandwidth(900000...4000000),codecs(hvc1,avc1)")
        #expect(try PlaylistEdit.filterAudio("channels(6...)").value == "channels(6...)")
        #expect(try PlaylistEdit.filterSubtitles("types(SDH)").value == "types(sdh)")
    }

    @Test func captionsOfOtherTypesAreRemoved() throws {
        let subtitles = try edited("caption-types", "subtitles,forced")
        #expect(uris(subtitles, .subtitles) == ["s-en", "s-forced"] && uris(subtitles, .closedCaptions).isEmpty)
        let written = subtitles.variants.map { $0.attributes["CLOSED-CAPTIONS"] }
        #expect(
            written == ["NONE", "NONE", "NONE"] && subtitles.variants.map { $0.groupID(.subtitles) } == ["s", "s", nil]
        )
        let older = try edited("caption-types", "cea608")
        #expect(uris(older, .closedCaptions) == ["CC1"] && uris(older, .subtitles).isEmpty)
        #expect(older.variants.map { $0.groupID(.closedCaptions) } == ["c", nil, nil])
        #expect(older.variants.map { $0.groupID(.subtitles) } == [nil, nil, nil])
        #expect(uris(try edited("caption-types", "cea708,sdh"), .closedCaptions) == ["SERVICE1"])
        #expect(try edited("caption-types", "subtitles,sdh,forced,cea608,cea708").bytes == Array(Self.text.utf8))
    }

    @Test func contentOfOtherTypesIsRemoved() throws {
        let sound = try edited("content-types", "audio")
        #expect(sound.variants.map(\.uri) == ["sound"] && sound.renditions.isEmpty && sound.iFrameVariants.isEmpty)
        let silent = try edited("content-types", "video")
        #expect(silent.variants.map(\.uri) == ["low", "high"] && silent.renditions.isEmpty)
        #expect(silent.variants.map(\.codecs) == [["avc1.64001e"], ["hvc1.2.4.L93.90"]])
        #expect(silent.variants.map { $0.groupID(.audio) } == [nil, nil] && silent.iFrameVariants.count == 1)
        let plain = try edited("content-types", "video,audio,closed-captions")
        #expect(uris(plain, .subtitles).isEmpty && plain.variants.count == 3)
        #expect(uris(plain, .closedCaptions).count == 2 && uris(plain, .audio).count == 4)
        #expect(throws: PlaylistEditError.self) {
            try edited(
                "content-types",
                "audio",
                of: "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"avc1.64001e\"\nv\n"
            )
        }
    }

    @Test func separateAudioBecomesAVariant() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="German",LANGUAGE="de",URI="de"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,CHANNELS="6",URI="en"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="m",NAME="Muxed",LANGUAGE="en",DEFAULT=YES
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="text"
            #EXT-X-STREAM-INF:BANDWIDTH=3000000,CODECS="avc1.64001e,ec-3",RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
            low
            #EXT-X-STREAM-INF:BANDWIDTH=6000000,CODECS="avc1.64001e,ec-3",RESOLUTION=1280x720,AUDIO="a",SUBTITLES="s"
            high
            #EXT-X-STREAM-INF:BANDWIDTH=5000000,CODECS="avc1.64001e,mp4a.40.2",RESOLUTION=1280x720,AUDIO="m"
            muxed
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,RESOLUTION=640x360,URI="images"

            """
        let playlist = try edited("content-types", "audio", of: text)
        #expect(playlist.variants.map(\.uri) == ["en"] && playlist.iFrameVariants.isEmpty)
        #expect(playlist.variants[0].codecs == ["ec-3"] && playlist.variants[0].resolution == nil)
        #expect(playlist.variants[0].bandwidth == BitRate(bitsPerSecond: 384_000))
        #expect(playlist.renditions.map(\.name) == ["German", "English"])
        #expect(playlist.variants[0].groupID(.audio) == "a" && playlist.variants[0].groupID(.subtitles) == nil)
        let titled = try edited("content-types", "audio,subtitles", of: text)
        #expect(titled.variants[0].groupID(.subtitles) == "s" && titled.renditions.count == 3)
    }

    @Test(arguments: ["", "#EXT-X-ENDLIST"])
    func audioWithoutAUsableURIIsNoVariant(uri: String) throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",DEFAULT=YES,URI="\(uri)"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="unused",NAME="E",URI="u"
            #EXT-X-STREAM-INF:BANDWIDTH=3000000,CODECS="avc1.64001e,mp4a.40.2",AUDIO="a"
            low

            """
        #expect(throws: PlaylistEditError.self) { try edited("content-types", "audio", of: text) }
    }

    @Test func audioInTheSegmentsOfTheVideoRemains() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",DEFAULT=YES
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="German",URI="de"
            #EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS="avc1.64001e,mp4a.40.2",AUDIO="a"
            low

            """
        let playlist = try edited("content-types", "video", of: text)
        #expect(playlist.renditions.isEmpty && playlist.variants.first?.groupID(.audio) == nil)
        #expect(playlist.variants.first?.codecs == ["avc1.64001e", "mp4a.40.2"])
    }
}
