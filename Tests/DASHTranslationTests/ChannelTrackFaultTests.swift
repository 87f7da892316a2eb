import HLSPlaylist
import MediaTiming
import Testing

@testable import DASHTranslation

/// Tests tracks of simulated channels, and the manifests of a single track.
@Suite struct ChannelTrackFaultTests {
    private static func media(
        start: MediaTime = .zero,
        timescale: Int64 = 10,
        hasVideo: Bool = false,
        codecs: [String] = ["mp4a.40.2"],
        channelCount: Int? = nil
    ) -> TrackMedia {
        TrackMedia(
            start: start,
            timescale: timescale,
            hasVideo: hasVideo,
            codecs: codecs,
            width: 320,
            height: 180,
            sampleRate: 44_100,
            channelCount: channelCount
        )
    }

    /// Returns a run of segments with the given times and durations.
    private static func run(
        _ number: Int64 = 0,
        _ times: [(start: MediaTime, duration: MediaTime)] = [(.zero, 4)],
        media: TrackMedia = media()
    ) -> ChannelTrack.Run {
        ChannelTrack.Run(
            number: number,
            start: MediaTime(seconds: number),
            media: media,
            startNumber: 1,
            initialization: "i.mp4",
            initializationRange: nil,
            segments: times.map {
                ChannelTrack.Segment(address: "s", byteRange: nil, time: $0.start, duration: $0.duration)
            }
        )
    }

    private static func variant(_ attributes: String) throws -> ChannelTrack.Entry {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\(attributes)\nv\n"
        return .variant(try #require(MultivariantPlaylist(parsing: Array(text.utf8)).variants.first))
    }

    private static func rendition(_ attributes: String) throws -> ChannelTrack.Entry {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",URI="a"\(attributes)
            #EXT-X-STREAM-INF:BANDWIDTH=1000,AUDIO="a"
            v

            """
        return .rendition(try #require(MultivariantPlaylist(parsing: Array(text.utf8)).renditions.first))
    }

    private static func manifest(
        _ entries: [ChannelTrack.Entry],
        runs: [ChannelTrack.Run] = [run()],
        targetDuration: MediaTime = 4,
        duration: MediaTime? = nil
    ) -> ChannelManifest {
        ChannelManifest(
            start: .zero,
            date: 100,
            lastChange: 90,
            window: 60,
            targetDuration: targetDuration,
            duration: duration,
            tracks: entries.enumerated().map { ChannelTrack(id: "t\($0.offset)", entry: $0.element, runs: runs) }
        )
    }

    private static func text(_ manifest: ChannelManifest) throws -> String {
        String(decoding: try #require(manifest.xml(limit: 1 << 20)), as: UTF8.self)
    }

    private static func entries(_ run: ChannelTrack.Run) throws -> [String] {
        let text = try text(manifest([rendition(",NAME=\"n\"")], runs: [run]))
        return text.split(separator: "\n").filter { $0.hasPrefix("<S ") }.map(String.init)
    }

    // MARK: Tracks

    @Test func runsAreFoundByNumber() throws {
        let runs = [Self.run(2), Self.run(3, []), Self.run(5)]
        let track = ChannelTrack(id: "a", entry: try Self.rendition(",NAME=\"n\""), runs: runs)
        #expect([Int64(1), 2, 3, 4, 5, 6].map { track.run($0)?.number } == [nil, 2, nil, nil, 5, nil])
        #expect(track.audioCodec.isEmpty)
        var manifest = Self.manifest([])
        #expect(manifest.periodNumbers == [])
        manifest.tracks = [track]
        #expect(manifest.periodNumbers == [2, 5])
    }

    @Test(
        arguments: [
            (",RESOLUTION=640x360", false, true), (",CODECS=\"avc1.64001f\"", false, true),
            (",CODECS=\"mp4a.40.2\"", true, false), (",CODECS=\"mp4a.40.2\",RESOLUTION=640x360", false, true),
            ("", true, true), ("", false, false),
        ]
    )
    func variantHasVideo(attributes: String, isInMedia: Bool, expected: Bool) throws {
        let runs = [Self.run(0, media: Self.media()), Self.run(1, media: Self.media(hasVideo: isInMedia))]
        let track = ChannelTrack(id: "v", entry: try Self.variant(attributes), runs: runs)
        #expect(track.hasVideo == expected)
    }

    @Test func renditionHasNoVideo() throws {
        let runs = [Self.run(media: Self.media(hasVideo: true))]
        let track = ChannelTrack(id: "a", entry: try Self.rendition(",NAME=\"n\""), runs: runs)
        #expect(!track.hasVideo)
    }

    // MARK: Times

    /// Segments without a duration, and those before time zero, do not overlap the next ones.
    @Test func entriesDoNotOverlap() throws {
        let empty = Self.run(0, [(0, 4), (4, 0), (4, 4)])
        #expect(
            try Self.entries(empty) == [
                #"<S t="0" d="40"/>"#, #"<S d="1"/>"#, #"<S d="39"/>"#,
            ]
        )
        let early = Self.run(0, [(0, 4), (4, 4), (8, 4)], media: Self.media(start: MediaTime(seconds: -8)))
        #expect(try Self.entries(early) == [#"<S t="0" d="1" r="1"/>"#, #"<S d="38"/>"#])
        let crossing = Self.run(0, [(0, 4), (4, 4)], media: Self.media(start: MediaTime(seconds: -1)))
        #expect(try Self.entries(crossing) == [#"<S t="0" d="30"/>"#, #"<S d="40"/>"#])
        let gap = Self.run(0, [(0, 4), (8, 4), (12, 4)])
        #expect(try Self.entries(gap) == [#"<S t="0" d="40"/>"#, #"<S t="80" d="40" r="1"/>"#])
    }

    @Test(
        arguments: [
            (MediaTime(value: 1, timescale: 2), 1), (MediaTime(value: 1, timescale: 4), 0),
            (MediaTime(value: 3, timescale: 4), 1), (MediaTime(value: 3, timescale: 2), 2),
            (MediaTime(seconds: -3), 0),
        ] as [(MediaTime, Int)]
    )
    func originIsTheNearestUnit(start: MediaTime, expected: Int) throws {
        let run = Self.run(media: Self.media(start: start, timescale: 1))
        let text = try Self.text(Self.manifest([Self.rendition(",NAME=\"n\"")], runs: [run]))
        #expect(text.contains(#"<SegmentList timescale="1" presentationTimeOffset="\#(expected)" startNumber="1">"#))
        #expect(text.contains(#"<Initialization sourceURL="i.mp4"/>"#) && text.contains(#"<SegmentURL media="s"/>"#))
    }

    /// Durations of players follow from the target duration, which is at least a second.
    @Test(
        arguments: [(0, "0.5", "3", "1"), (1, "0.5", "3", "1"), (2, "1", "6", "2")]
            as [(Int64, String, String, String)]
    )
    func durationsFollowFromTheTargetDuration(target: Int64, update: String, delay: String, buffer: String) throws {
        var manifest = Self.manifest([try Self.rendition(",NAME=\"n\"")], targetDuration: MediaTime(seconds: target))
        let text = try Self.text(manifest)
        #expect(text.contains("minimumUpdatePeriod=\"PT\(update)S\""))
        #expect(text.contains("minBufferTime=\"PT\(buffer)S\""))
        #expect(text.contains("suggestedPresentationDelay=\"PT\(delay)S\""))
        #expect(text.contains("timeShiftBufferDepth=\"PT60S\""))
        #expect(text.contains("publishTime=\"1970-01-01T00:01:30.000Z\""))
        manifest.duration = MediaTime(seconds: -1)
        let ended = try Self.text(manifest)
        #expect(!ended.contains("minimumUpdatePeriod") && !ended.contains("timeShiftBufferDepth"))
        #expect(ended.contains("mediaPresentationDuration=\"PT0S\""))
    }

    @Test func rangeWithoutBytesIsLeftOut() throws {
        for (length, expected) in [(Int64(0), nil), (1, "10-10"), (2, "10-11")] as [(Int64, String?)] {
            var run = Self.run()
            run.initializationRange = ByteRange(start: 10, length: length)
            run.segments[0].byteRange = ByteRange(start: 10, length: length)
            let text = try Self.text(Self.manifest([Self.rendition(",NAME=\"n\"")], runs: [run]))
            let range = expected.map { " range=\"\($0)\"" } ?? ""
            let mediaRange = expected.map { " mediaRange=\"\($0)\"" } ?? ""
            #expect(text.contains("<Initialization sourceURL=\"i.mp4\"\(range)/>"))
            #expect(text.contains("<SegmentURL media=\"s\"\(mediaRange)/>"))
        }
    }

    // MARK: Properties

    /// The bit rate of audio is that of its channels, which the playlist or the media declares.
    @Test(
        arguments: [
            (",CHANNELS=\"6\"", 2, 384_000), ("", 6, 384_000), ("", nil, 128_000), ("", 0, 64_000), ("", 1, 64_000),
        ] as [(String, Int?, Int)]
    )
    func bitRateOfAudioFollowsFromItsChannels(attributes: String, count: Int?, expected: Int) throws {
        let run = Self.run(media: Self.media(channelCount: count))
        let text = try Self.text(Self.manifest([Self.rendition(",NAME=\"n\"" + attributes)], runs: [run]))
        #expect(text.contains("bandwidth=\"\(expected)\" codecs=\"mp4a.40.2\" audioSamplingRate=\"44100\">"))
    }

    @Test(
        arguments: [
            (nil, nil), (0, nil), (1, 1), (2, 2), (6, 6), (7, nil), (8, 7), (9, nil),
        ] as [(Int?, Int?)]
    )
    func channelConfigurationIsThatOfTheStandard(count: Int?, expected: Int?) throws {
        let run = Self.run(media: Self.media(channelCount: count))
        let text = try Self.text(Self.manifest([Self.rendition(",NAME=\"n\"")], runs: [run]))
        let scheme = "urn:mpeg:dash:23003:3:audio_channel_configuration:2011"
        let element = "<AudioChannelConfiguration schemeIdUri=\"\(scheme)\" value=\"\(expected ?? 0)\"/>"
        #expect(text.contains("AudioChannelConfiguration") == (expected != nil))
        #expect(text.contains(element) == (expected != nil))
    }

    @Test(
        arguments: [
            (",NAME=\"n\",DEFAULT=YES", "main", true), (",NAME=\"n\"", "alternate", true),
            (",NAME=\"n\",DEFAULT=YES,CHARACTERISTICS=\"public.accessibility.describes-video\"", "description", true),
            (",NAME=\"\"", "alternate", false),
        ]
    )
    func roleAndLabelAreThoseOfTheRendition(attributes: String, role: String, hasLabel: Bool) throws {
        let text = try Self.text(Self.manifest([Self.rendition(attributes)]))
        #expect(text.contains("<Role schemeIdUri=\"urn:mpeg:dash:role:2011\" value=\"\(role)\"/>"))
        #expect(text.contains("<Label>n</Label>") == hasLabel && text.contains("<Label>") == hasLabel)
        #expect(text.contains(#"<AdaptationSet id="1" contentType="audio" mimeType="audio/mp4">"#))
    }

    @Test func languageIsLeftOutIfItIsNone() throws {
        for (language, isValid) in [("de", true), ("d e", false)] {
            let text = try Self.text(Self.manifest([Self.rendition(",NAME=\"n\",LANGUAGE=\"\(language)\"")]))
            #expect(text.contains(" lang=\"\(language)\"") == isValid && text.contains(" lang=") == isValid)
        }
    }

    /// The codecs of the media are preferred, because a variant declares those of its renditions too.
    @Test func codecsAndSizeOfVideoAreThoseOfTheMedia() throws {
        let entry = try Self.variant(",CODECS=\"avc1.64001f,mp4a.40.2\",RESOLUTION=640x360,FRAME-RATE=25")
        for (codecs, expected) in [(["avc1.4d"], "avc1.4d"), ([], "avc1.64001f,mp4a.40.2")] as [([String], String)] {
            let run = Self.run(media: Self.media(hasVideo: true, codecs: codecs, channelCount: 2))
            let text = try Self.text(Self.manifest([entry], runs: [run]))
            #expect(
                text.contains(
                    "bandwidth=\"1000\" codecs=\"\(expected)\" width=\"320\" height=\"180\" frameRate=\"25\">"
                )
            )
            #expect(!text.contains("AudioChannelConfiguration") && !text.contains("<Role") && !text.contains("<Label"))
        }
        let plain = try Self.text(Self.manifest([Self.variant("")], runs: [Self.run(media: Self.media(codecs: []))]))
        #expect(plain.contains("bandwidth=\"1000\" audioSamplingRate=\"44100\">") && plain.contains("value=\"main\""))
    }

    /// Players switch between tracks of one adaptation set only.
    @Test(
        arguments: [
            (",RESOLUTION=640x360", ",RESOLUTION=854x480", 1), (",RESOLUTION=640x360", ",RESOLUTION=640x480", 2),
            (",CODECS=\"avc1.64001f\"", ",CODECS=\"avc1.4d401e\"", 1),
            (",CODECS=\"avc1.64001f\"", ",CODECS=\"hvc1.2.4.L93.B0\"", 2),
            (",RESOLUTION=640x360,VIDEO-RANGE=SDR", ",RESOLUTION=640x360", 1),
            (",RESOLUTION=640x360,VIDEO-RANGE=PQ", ",RESOLUTION=640x360", 2),
            (",CODECS=\"mp4a.40.2\"", ",CODECS=\"ac-3\"", 1),
        ]
    )
    func variantsOfOneKindAreASet(first: String, second: String, count: Int) throws {
        let text = try Self.text(Self.manifest([Self.variant(first), Self.variant(second)]))
        #expect(text.ranges(of: "<AdaptationSet ").count == count)
        #expect(text.ranges(of: "<Representation ").count == 2)
    }

    @Test(
        arguments: [
            (",NAME=\"n\",CHANNELS=\"2\"", 1), (",NAME=\"m\",CHANNELS=\"2\"", 2), (",NAME=\"n\",CHANNELS=\"6\"", 2),
            (",NAME=\"n\",CHANNELS=\"2\",LANGUAGE=\"de\"", 2),
        ]
    )
    func renditionsOfOneKindAreASet(second: String, count: Int) throws {
        let entries = [try Self.rendition(",NAME=\"n\",CHANNELS=\"2\""), try Self.rendition(second)]
        let text = try Self.text(Self.manifest(entries))
        #expect(text.ranges(of: "<AdaptationSet ").count == count)
        #expect(text.ranges(of: "<Representation ").count == 2)
    }

    // MARK: Text

    @Test func textBeyondTheLimitIsNotExtended() {
        var writer = XMLTextWriter(limit: 0)
        let size = writer.bytes.count
        #expect(writer.isTooLong)
        writer.writeElement("a", text: "b")
        #expect(writer.bytes.count == size)
        var exact = XMLTextWriter(limit: size)
        #expect(!exact.isTooLong)
        exact.writeElement("a", ["b": nil, "c": "\u{1F}\u{FFFF} \u{7F}\u{80}"], text: "")
        #expect(exact.isTooLong)
        #expect(String(decoding: exact.bytes.dropFirst(size), as: UTF8.self) == "<a c=\" \u{7F}\u{80}\"></a>\n")
    }

    @Test func elementsHaveOneForm() {
        var writer = XMLTextWriter(limit: 1_000)
        let size = writer.bytes.count
        writer.writeElement("a") { writer in
            writer.writeElement("b")
            writer.writeElement("c", ["d": "1", "e": "2"], text: "f")
        }
        let text = String(decoding: writer.bytes.dropFirst(size), as: UTF8.self)
        #expect(text == "<a>\n<b/>\n<c d=\"1\" e=\"2\">f</c>\n</a>\n")
    }
}
