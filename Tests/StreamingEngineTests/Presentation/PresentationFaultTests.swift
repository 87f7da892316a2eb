import HLSPlaylist
import MediaTiming
import ResourceAddressing
import SegmentFormat
import Testing

@testable import StreamingEngine

/// Tests of the properties that identify variants and options, and of the reasons why they are not played.
@Suite struct PresentationFaultTests {
    private static func presentation(
        _ lines: String,
        _ capabilities: PlaybackCapabilities = .init()
    ) throws -> Presentation {
        Presentation(try multivariant("#EXTM3U\n" + lines), capabilities: capabilities)
    }

    // MARK: Identities

    @Test(arguments: [
        "AVERAGE-BANDWIDTH=1", "CODECS=\"avc1.4d\"", "SUPPLEMENTAL-CODECS=\"dvh1.08/db4h\"", "RESOLUTION=16x9",
        "FRAME-RATE=25", "VIDEO-RANGE=SDR", "HDCP-LEVEL=NONE", "ALLOWED-CPC=\"identity:X\"",
        "REQ-VIDEO-LAYOUT=\"CH-MONO\"", "SCORE=1", "STABLE-VARIANT-ID=\"v\"", "NAME=\"n\"", "AUDIO=\"a\"",
        "VIDEO=\"v\"", "SUBTITLES=\"s\"", "CLOSED-CAPTIONS=\"c\"",
    ])
    func variantsDifferIfAnAttributeDiffers(attribute: String) throws {
        let media = "#EXT-X-MEDIA:GROUP-ID="
        let renditions =
            "\(media)\"a\",TYPE=AUDIO,NAME=\"A\"\n\(media)\"v\",TYPE=VIDEO,NAME=\"V\"\n"
            + "\(media)\"s\",TYPE=SUBTITLES,NAME=\"S\",URI=\"s\"\n"
            + "\(media)\"c\",TYPE=CLOSED-CAPTIONS,NAME=\"C\",INSTREAM-ID=\"CC1\"\n"
        let bare = "#EXT-X-STREAM-INF:BANDWIDTH=1\na\n#EXT-X-STREAM-INF:BANDWIDTH=1,X-A=\"1\"\nb\n"
        let other = "#EXT-X-STREAM-INF:BANDWIDTH=1,\(attribute)\nc\n"
        let variants = try Self.presentation(renditions + bare + other).variants
        #expect(variants.map(\.locations.count) == [2, 1] && variants[0].id.description == variants[0].id.text)
    }

    @Test(
        arguments: [
            ("AUDIO", "", "", 1), ("AUDIO", ",LANGUAGE=\"en\"", "", 2),
            ("AUDIO", ",LANGUAGE=\"en\"", ",LANGUAGE=\"EN\"", 1),
            ("AUDIO", ",CHANNELS=\"2\"", "", 2), ("AUDIO", ",CHANNELS=\"2\"", ",CHANNELS=\"6\"", 2),
            ("AUDIO", ",SAMPLE-RATE=48000", "", 2), ("AUDIO", ",STABLE-RENDITION-ID=\"r\"", "", 2),
            ("AUDIO", ",URI=\"u\"", "", 2), ("AUDIO", ",URI=\"u\"", ",URI=\"w\"", 1), ("AUDIO", ",BIT-DEPTH=16", "", 1),
            ("SUBTITLES", ",URI=\"u\",FORCED=YES", ",URI=\"u\"", 2), ("VIDEO", "", "", 1),
        ]
    )
    func groupsAreEqualIfTheirMembersAre(type: String, first: String, second: String, count: Int) throws {
        let media = "#EXT-X-MEDIA:TYPE=\(type),NAME=\"N\",GROUP-ID="
        let lines = """
            \(media)"g"\(first)
            \(media)"h"\(second)
            #EXT-X-STREAM-INF:BANDWIDTH=1,\(type)="g"
            a
            #EXT-X-STREAM-INF:BANDWIDTH=1,\(type)="h"
            b

            """
        #expect(try Self.presentation(lines).variants.count == count)
    }

    @Test func locationsOnTheInitialPathwayAreFirst() throws {
        let names = ["one", "two", "three"]
        let lines = names.map { "#EXT-X-STREAM-INF:BANDWIDTH=1,PATHWAY-ID=\"\($0)\"\n\($0)\n" }
        let variants = lines.joined() + "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"i\"\n"
        let steering = "#EXT-X-CONTENT-STEERING:SERVER-URI=\"s\",PATHWAY-ID="
        let first = try Self.presentation("\(steering)\"two\"\n" + variants)
        #expect(first.initialPathwayID == "two" && first.variants.count == 1)
        #expect(first.variants[0].locations.map(\.pathwayID) == ["two", "one", "three"])
        #expect(first.variants[0].address.lastPathComponent == "two" && first.pathways == ["two", "one", "three"])
        #expect(first.iFrameVariants[0].locations.map(\.pathwayID) == ["."])
        let unknown = try Self.presentation("\(steering)\"four\"\n" + variants)
        #expect(unknown.initialPathwayID == nil)
        #expect(unknown.variants[0].locations.map(\.pathwayID) == ["one", "two", "three"])
    }

    @Test(arguments: [
        ("CODECS=\"mp4a.40.2\"", true), ("CODECS=\"mp4a.40.2,avc1.4d\"", false), ("CODECS=\"mp4a.40.2,xxxx\"", false),
        ("CODECS=\"mp4a.40.2\",RESOLUTION=16x9", false), ("NAME=\"n\"", false), ("CODECS=\"\"", false),
    ])
    func variantIsAudioAloneByItsCodecsAndResolution(attributes: String, isAudioOnly: Bool) throws {
        let variants = try Self.presentation("#EXT-X-STREAM-INF:BANDWIDTH=7,\(attributes)\na\n").variants
        #expect(variants.map(\.isAudioOnly) == [isAudioOnly])
        #expect(variants.first?.typicalBitRate == BitRate(bitsPerSecond: 7) && variants.first?.averageBitRate == nil)
    }

    @Test func mediaPlaylistHasAVariantWithoutAttributes() throws {
        let presentation = Presentation(try media("#EXTM3U\n#EXT-X-INDEPENDENT-SEGMENTS\n#EXT-X-TARGETDURATION:2\n"))
        let variant = try #require(presentation.variants.first)
        #expect(variant.id.text == "media" && !variant.isIFramesOnly && variant.codecs.isEmpty && !variant.isAudioOnly)
        #expect(variant.typicalBitRate == nil && variant.score == nil && variant.locations.map(\.pathwayID) == ["."])
        #expect(presentation.hasIndependentSegments && presentation.title == nil && presentation.variables.isEmpty)
        #expect(presentation.unplayable.isEmpty && presentation.iFrameVariants.isEmpty && !presentation.isScored)
        #expect(presentation.variant(variant.id) == variant && presentation.group(.audio) == nil)
        #expect(presentation.start == nil && presentation.sessionKeys.isEmpty && presentation.initialPathwayID == nil)
    }

    // MARK: Obstacles

    @Test(
        arguments: [
            (.codec("xxxx"), "the codec xxxx cannot be decoded"),
            (.videoRange(.pq), "the video range PQ is not supported"),
            (.videoLayout("CH-STEREO"), "the video layout CH-STEREO is not supported"),
            (.keyFormats(["a", "b"]), "the content is protected with a, b, which is not supported"),
            (.hdcp(.type1), "the output does not satisfy HDCP level TYPE-1"),
        ] as [(PlaybackObstacle, String)]
    )
    func obstacleHasADescription(obstacle: PlaybackObstacle, text: String) { #expect(obstacle.description == text) }

    @Test(
        arguments: [
            (.keyFormats(["a", "b"]), "its keys are only in the format a or b"),
            (.method("ROT13"), "the encryption method ROT13 is not supported"),
            (.missingKeyAddress, "its key has no URI"),
            (.invalidInitializationVector, "its initialization vector is not a hexadecimal number of at most 128 bits"),
            (.missingInitializationVector, "its initialization section has no initialization vector"),
        ] as [(Protection.UnsupportedReason, String)]
    )
    func unsupportedProtectionHasADescription(reason: Protection.UnsupportedReason, text: String) {
        #expect(reason.description == text && Protection.unsupported(reason).unsupportedReason == reason)
        #expect(Protection.unsupported(reason).key == nil && Protection.none.unsupportedReason == nil)
    }

    private static func obstacles(
        _ attributes: String,
        _ lines: String = "",
        _ capabilities: PlaybackCapabilities = .init()
    ) throws -> [PlaybackObstacle] {
        let text = lines + "#EXT-X-STREAM-INF:BANDWIDTH=1\(attributes)\na\n"
        return try presentation(text, capabilities).unplayable.first?.obstacles ?? []
    }

    @Test func allObstaclesOfAVariantAreListed() throws {
        let attributes =
            ",CODECS=\"avc1.4d,mp4a.40.2\",VIDEO-RANGE=HLG,HDCP-LEVEL=TYPE-1,"
            + "REQ-VIDEO-LAYOUT=\"CH-STEREO/PROJ-RECT,CH-MONO\""
        let capabilities = PlaybackCapabilities(videoRanges: [.sdr], hdcpLevel: .type0) { $0.hasPrefix("mp4a") }
        #expect(
            try Self.obstacles(attributes, "", capabilities)
                == [.codec("avc1.4d"), .videoRange(.hlg), .videoLayout("CH-STEREO"), .hdcp(.type1)]
        )
        for range in ["SDR", "HLG", "PQ"] { #expect(try Self.obstacles(",VIDEO-RANGE=\(range)").isEmpty) }
        #expect(try Self.obstacles(",REQ-VIDEO-LAYOUT=\"CH-MONO/PROJ-RECT\"").isEmpty)
        #expect(try Self.obstacles(",HDCP-LEVEL=NONE").isEmpty)
    }

    @Test func keyFormatsOfAVariantReplaceThoseOfTheSession() throws {
        let key = "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="
        let foreign = "\(key)\"a\",KEYFORMAT=\"drm\"\n\(key)\"b\",KEYFORMAT=\"drm\"\n\(key)\"c\",KEYFORMAT=\"other\"\n"
        #expect(try Self.obstacles("", foreign) == [.keyFormats(["drm", "other"])])
        #expect(try Self.obstacles(",ALLOWED-CPC=\"identity:X\"", foreign) == [.keyFormats(["drm", "other"])])
        let identity = foreign + "\(key)\"d\"\n"
        #expect(try Self.obstacles("", identity).isEmpty)
        #expect(try Self.obstacles(",ALLOWED-CPC=\"drm:X\"", identity) == [.keyFormats(["drm"])])
        #expect(try Self.obstacles("", foreign, PlaybackCapabilities(keyFormats: ["other"])).isEmpty)
    }

    // MARK: Options

    @Test func optionHasTheAttributesOfItsRendition() throws {
        let media = "#EXT-X-MEDIA:TYPE="
        let lines = """
            \(media)CLOSED-CAPTIONS,GROUP-ID="c",NAME="C",INSTREAM-ID="CC3",URI="ignored"
            \(media)SUBTITLES,GROUP-ID="s",NAME="S",LANGUAGE="EN-us",FORCED=YES,AUTOSELECT=YES,URI="s.m3u8"
            \(media)AUDIO,GROUP-ID="a",NAME="A",CHARACTERISTICS="z,b",CHANNELS="2",BIT-DEPTH=16,SAMPLE-RATE=48000
            \(media)AUDIO,GROUP-ID="b",NAME="A",CHARACTERISTICS="b,z",CHANNELS="6"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            v

            """
        let presentation = try Self.presentation(lines)
        #expect(presentation.groups.map(\.allowsEmptySelection) == [false, true, true])
        let audio = try #require(presentation.group(.audio)?.options.first)
        #expect(audio.characteristics == ["b", "z"] && audio.channelCount == 6 && audio.language == nil)
        #expect(!audio.isDefault && !audio.isAutoselect && !audio.isForced && audio.fileTrack == nil)
        let encoding = try #require(audio.encoding(in: "a"))
        #expect(encoding.bitDepth == 16 && encoding.sampleRate == 48_000 && encoding.channels?.count == 2)
        let subtitles = try #require(presentation.group(.subtitles)?.options.first)
        #expect(subtitles.isForced && subtitles.isAutoselect && subtitles.language == "EN-us")
        #expect(subtitles.id.language == "en-us" && subtitles.encodings.first?.address?.lastPathComponent == "s.m3u8")
        let captions = try #require(presentation.group(.closedCaptions)?.options.first)
        #expect(captions.instreamID == "CC3" && captions.encodings.map(\.address) == [nil])
        let group = try #require(presentation.group(.audio))
        #expect(group.option(audio.id) == audio && group.option(captions.id) == nil)
        var selection = MediaSelection()
        for option in [captions, subtitles, audio] { selection[option.type] = option }
        #expect(selection.all == [audio, subtitles, captions])
        selection[.subtitles] = nil
        #expect(selection.all == [audio, captions] && selection[.subtitles] == nil)
    }

    @Test func optionOfAFileIsSelectedAutomatically() {
        let tracks = [
            MediaTrack(id: 1, mediaType: .audio, codec: "ac-3", language: "ENG"),
            MediaTrack(id: 2, mediaType: .audio, codec: "ac-3", name: "(Track 1)"),
        ]
        let options = MediaSelectionGroup.groups(of: tracks, in: .isoBaseMedia).first?.options ?? []
        #expect(options.map(\.isAutoselect) == [true, true] && options.map(\.isDefault) == [true, false])
        #expect(options.map(\.id.language) == ["eng", nil] && options.map(\.language) == ["ENG", nil])
        #expect(options.map(\.name) == ["ENG", "(Track 1) (track 2)"] && options.allSatisfy(\.encodings.isEmpty))
        #expect(options.allSatisfy { !$0.isForced && $0.associatedLanguage == nil && $0.characteristics.isEmpty })
    }

    @Test func fileHasTheOptionsOfItsTracks() throws {
        let file = OpenedFile(
            playlist: try media("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na\n#EXT-X-ENDLIST\n"),
            container: .isoBaseMedia,
            firstTimestamp: MediaTime(seconds: 2),
            beginsWithinFrames: true,
            tracks: ["eng", "deu"].map { MediaTrack(id: 1, mediaType: .audio, codec: "ac-3", language: $0) },
            metadata: MediaFileMetadata(),
            shortfall: nil,
            problem: nil
        )
        let presentation = Presentation(file)
        let options = try #require(presentation.group(.audio)?.options)
        #expect(options.map(\.name) == ["eng", "deu"] && presentation.groups.count == 1)
        var selection = MediaSelection()
        selection[.audio] = options[1]
        #expect(presentation.variants(for: selection).map(\.id) == presentation.variants.map(\.id))
        let position = PipelineSegment.FilePosition(ByteRange(start: 3, length: 2), in: file, isLast: true)
        #expect(position.offset == 3 && position.isLast && position.beginsWithinFrames)
        #expect(position.firstTimestamp == MediaTime(seconds: 2) && position.container == .isoBaseMedia)
        let whole = PipelineSegment.FilePosition(nil, in: file, isLast: false)
        #expect(whole.offset == 0 && whole.earlierLength == 0 && !whole.isLast && position.earlierLength == 0)
    }

    @Test func preferredLanguagesAreComparedInTheirOrder() throws {
        let media = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",AUTOSELECT=YES,NAME="
        let lines = """
            \(media)"E",LANGUAGE="en-US-x-a"
            \(media)"D",LANGUAGE="de"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            v

            """
        let group = try #require(try Self.presentation(lines).group(.audio))
        #expect(MediaSelectionRules(audioLanguages: ["en", "de"]).option(in: group)?.name == "E")
        #expect(MediaSelectionRules(audioLanguages: ["ko", "de", "en"]).option(in: group)?.name == "D")
        #expect(MediaSelectionRules().option(in: group)?.name == "E")
        #expect(MediaSelectionRules().subtitleMode == .automatic && !MediaSelectionRules().isLanguageChoiceExplicit)
    }

    @Test(arguments: [(false, "Full"), (true, "Signs")])
    func forcedSubtitlesAreRequestedByNameOnlyForAnItem(isExplicit: Bool, name: String) throws {
        let media = "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",LANGUAGE=\"en\",AUTOSELECT=YES,NAME="
        let lines = "\(media)\"Full\",URI=\"f\"\n\(media)\"Signs\",URI=\"g\",FORCED=YES\n"
        let presentation = try Self.presentation(lines + "#EXT-X-STREAM-INF:BANDWIDTH=1,SUBTITLES=\"s\"\nv\n")
        var rules = MediaSelectionRules(subtitleLanguages: ["signs"], subtitleMode: .always)
        rules.isLanguageChoiceExplicit = isExplicit
        #expect(rules.selection(for: presentation)[.subtitles]?.name == name)
    }

    // MARK: Protection

    @Test(arguments: ["AES-128", "SAMPLE-AES", "SAMPLE-AES-CTR", "AES-256-GCM"])
    func protectionHasTheVectorOfItsMethod(method: String) throws {
        func key(_ attributes: String) throws -> KeyReference? {
            let head = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:3\n"
            let text = head + "#EXT-X-KEY:METHOD=\(method),\(attributes)\n#EXTINF:4,\na\n"
            let protection = PresentationTimeline(try media(text)).segments.first?.protection
            let isSampled = if case .samples = protection { true } else { false }
            #expect(isSampled == method.hasPrefix("SAMPLE"))
            return protection?.key
        }
        let isGCM = method == "AES-256-GCM"
        let explicit = try key("URI=\"k\",IV=0x5")
        #expect(explicit?.isInitializationVectorExplicit == !isGCM)
        #expect(explicit?.initializationVector?.last == (isGCM ? nil : 5) && explicit?.method.rawValue == method)
        let implicit = try key("URI=\"k\"")
        #expect(implicit?.isInitializationVectorExplicit == false)
        #expect(implicit?.initializationVector?.last == (isGCM ? nil : 3))
    }

    @Test(arguments: ["", ",URI=\"\""]) func keyWithoutAnAddressIsRefused(attributes: String) throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=AES-128\(attributes)\n#EXTINF:4,\na\n"
        let segment = PresentationTimeline(try media(text)).segments.first
        #expect(segment?.protection == .unsupported(.missingKeyAddress))
    }
}
