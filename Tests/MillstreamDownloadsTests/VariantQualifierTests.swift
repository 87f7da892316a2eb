import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

@Suite struct VariantQualifierTests {
    private static let playlist = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="stereo",NAME="English",LANGUAGE="en",CHANNELS="2",DEFAULT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="stereo",NAME="Commentary",LANGUAGE="en",CHANNELS="2",URI="comment.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="stereo",NAME="Korean",LANGUAGE="ko",CHANNELS="2",URI="ko.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="surround",NAME="Korean",LANGUAGE="ko",CHANNELS="6",SAMPLE-RATE=48000,URI="ko6.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="surround",NAME="English",LANGUAGE="en",CHANNELS="6",AUTOSELECT=YES,URI="en6.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="lossless",NAME="English",LANGUAGE="en",CHANNELS="2",SAMPLE-RATE=96000,URI="flac.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="muxed",NAME="English",LANGUAGE="en",DEFAULT=YES
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="muxed",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=9000000,AVERAGE-BANDWIDTH=7000000,FRAME-RATE=59.940,RESOLUTION=3840x2160,VIDEO-RANGE=PQ,CODECS="hvc1.2.4.L150,mp4a.40.2",AUDIO="stereo"
        v0.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=5000000,RESOLUTION=1920x1080,CODECS="avc1.64001f,flac",AUDIO="lossless"
        v1.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=4000000,AVERAGE-BANDWIDTH=3000000,FRAME-RATE=25.000,RESOLUTION=1920x1080,CODECS="avc1.64001f,ec-3",AUDIO="surround"
        v2.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,RESOLUTION=1280x720,CODECS="avc1.64001f,mp4a.40.2",AUDIO="stereo"
        v3.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=300000,AUDIO="muxed"
        v4.m3u8

        """

    /// Returns the file names of the chosen variants and renditions.
    private func names(
        _ selection: DownloadSelection,
        canDecode: @escaping @Sendable (String) -> Bool = { _ in true }
    ) throws -> [String] {
        let playlist = try MultivariantPlaylist(
            parsing: Array(Self.playlist.utf8),
            context: PlaylistContext(address: ResourceAddress("https://origin.example/top.m3u8"))
        )
        return try DownloadResolver(
            loader: ResourceLoader(ScriptedTransport(texts: [:])),
            selection: selection,
            canDecode: canDecode
        ).choose(from: playlist).map { String($0.address.lastPathComponent.dropLast(5)) }
    }

    private func selection(
        _ variants: DownloadSelection.Variants = .best,
        _ conditions: String...,
        audio: DownloadSelection.Languages = .none
    ) throws -> DownloadSelection {
        var selection = DownloadSelection(variants: variants, audio: audio)
        selection.qualifiers = try conditions.map { try #require(VariantQualifier($0)) }
        return selection
    }

    @Test(arguments: [
        ("peak-rate<=4M", ["v2", "v3", "v4"]), ("peak-rate=5000000", ["v1"]), ("peak-rate>=5M", ["v0", "v1"]),
        // A variant without a resolution satisfies no condition on it.
        ("height<=1080", ["v1", "v2", "v3"]), ("height>=1081", ["v0"]), ("width=1280", ["v3"]),
        ("width>=1920", ["v0", "v1", "v2"]), ("channels>=3", ["v2"]), ("channels<=2", ["v0", "v1", "v3"]),
        // A variant without a video range has standard dynamic range.
        ("video-range=pq", ["v0"]), ("video-range=SDR", ["v1", "v2", "v3", "v4"]),
        ("video-range=hdr", ["v0"]),
        // A variant without an average bit rate or a frame rate satisfies no condition on it.
        ("average-rate<=3M", ["v2"]), ("average-rate>3M", ["v0"]), ("average-rate!=3M", ["v0"]),
        ("average-rate<7000000", ["v2"]), ("frame-rate>30", ["v0"]), ("frame-rate=25", ["v2"]),
        ("frame-rate<=59.94", ["v0", "v2"]),
        ("sample-rate>=48000", ["v1", "v2"]), ("sample-rate=96000", ["v1"]),
        ("peak-rate!=5M", ["v0", "v2", "v3", "v4"]), ("width>1280", ["v0", "v1", "v2"]), ("height<1080", ["v3"]),
        ("codec=hvc1", ["v0"]), ("codec=AVC1.64001F", ["v1", "v2", "v3"]), ("codec=ec-3", ["v2"]),
    ])
    func qualifierLimitsTheVariants(condition: String, expected: [String]) throws {
        #expect(try names(selection(.all, condition)) == expected)
    }

    @Test func variantSatisfiesAllQualifiers() throws {
        #expect(try names(selection(.best, "height<=1080", "codec=mp4a")) == ["v3"])
        #expect(try names(selection(.lowest, "height>=720", "video-range=SDR")) == ["v3"])
        #expect(try names(selection(.maximumHeight(2160), "codec=avc1")) == ["v1"])
    }

    @Test(arguments: [DownloadSelection.Variants.best, .lowest, .all])
    func qualifiersThatNoVariantSatisfiesAreReported(variants: DownloadSelection.Variants) throws {
        let error = #expect(throws: DownloadError.self) {
            try names(selection(variants, "height>=720", "peak-rate<=1M"))
        }
        #expect(error?.code == .nothingSelected)
        #expect(error?.message == "no variant satisfies height>=720 and peak-rate<=1000000")
        #expect(
            error?.hint?.hasPrefix("available: 300000 bit/s; 2000000 bit/s 1280x720 avc1.64001f,mp4a.40.2;") == true
        )
    }

    @Test(arguments: [
        ("1280x720", "v3"), ("1281x720", "v2"), ("1280x721", "v2"), ("3840x2160", "v0"),
        // No variant is large enough, so that the variant with the highest bit rate is chosen.
        ("4096x2160", "v0"), ("1x1", "v3"),
    ])
    func minimumSizeChoosesTheLowestVariantThatIsLargeEnough(size: String, expected: String) throws {
        let size = try #require(Resolution(size))
        #expect(try names(DownloadSelection(variants: .minimumSize(size), audio: .none)) == [expected])
    }

    @Test func bestVariantIsOneThatCanBeDecoded() throws {
        let withoutHEVC: @Sendable (String) -> Bool = { !$0.hasPrefix("hvc1") }
        #expect(try names(selection(), canDecode: withoutHEVC) == ["v1"])
        #expect(
            try names(selection(.minimumBandwidth(BitRate(bitsPerSecond: 9_000_000))), canDecode: withoutHEVC) == ["v1"]
        )
        #expect(
            try names(selection(.maximumHeight(2160)), canDecode: { $0.hasPrefix("avc1") || $0 == "ec-3" }) == ["v2"]
        )
        // All variants are chosen regardless of decoders, and a codec that is not declared counts as decodable.
        #expect(try names(selection(.all), canDecode: withoutHEVC).count == 5)
        #expect(try names(selection(), canDecode: { _ in false }) == ["v4"])
        // If no candidate can be decoded, the selection is made among all of them.
        #expect(try names(selection(.best, "height>=1"), canDecode: { _ in false }) == ["v0"])
    }

    @Test func audioPreferencesLimitTheVariantsIfPossible() throws {
        var preferred = try selection()
        preferred.prefersMultichannelAudio = true
        #expect(try names(preferred) == ["v2"])
        preferred.prefersLosslessAudio = true
        #expect(try names(preferred) == ["v1"])
        preferred.prefersMultichannelAudio = false
        #expect(try names(preferred) == ["v1"])
        preferred.qualifiers = [.height(.atMost, 720)]
        #expect(try names(preferred) == ["v3"])
        preferred.prefersMultichannelAudio = true
        #expect(try names(preferred) == ["v3"])
    }

    @Test(arguments: [
        ("codec=hvc1", ["v0", "en"]), ("codec=flac", ["v1", "flac"]), ("codec=ec-3", ["v2", "en6"]),
        // The default rendition is part of the variant.
        ("peak-rate=300000", ["v4"]),
    ])
    func defaultAudioOfEachVariantHasSound(condition: String, expected: [String]) throws {
        #expect(try names(selection(.best, condition, audio: .defaults)) == expected)
    }

    @Test(arguments: [
        (["en"], ["v0", "en", "comment"]), (["en:Commentary"], ["v0", "comment"]), (["EN:english"], ["v0", "en"]),
        ([":Korean", "en:Commentary"], ["v0", "comment", "ko"]), (["commentary"], ["v0", "comment"]),
    ])
    func renditionsOfOneLanguageAreToldApartByName(entries: [String], expected: [String]) throws {
        #expect(try names(selection(audio: .some(entries))) == expected)
    }

    @Test(arguments: ["ko:Commentary", "en:", ":Welsh", "en:English:2"])
    func missingNamesAreReported(entry: String) throws {
        let error = #expect(throws: DownloadError.self) { try names(selection(audio: .some([entry]))) }
        #expect(error?.message == "no audio track matches \"\(entry)\"")
        let hint = "available: en (English), en (Commentary), ko (Korean); select by language, name or LANGUAGE:NAME"
        #expect(error?.hint == hint)
    }

    @Test(arguments: [
        "", "height", "height<>720", "height!720", "frame-rate>=-1", "frame-rate>x", "sample-rate=", "average-rate>",
        "height==720", "height>=-1", "height>=x", "size>=1", "peak-rate<=", "codec<=avc1",
        "codec=", "video-range>=PQ", "video-range=", "<=5", "channels=2.5", " height<=5",
    ])
    func otherTextIsNoQualifier(text: String) {
        #expect(VariantQualifier(text) == nil)
    }

    @Test func qualifierIsWrittenAsItIsParsed() throws {
        for text in [
            "peak-rate<=4000000", "width>=1", "height=720", "channels>=6", "video-range=HLG", "video-range=HDR",
            "codec=hvc1.2.4.L150",
            "average-rate<3000000", "frame-rate>29.97", "sample-rate!=48000", "peak-rate>1000",
        ] {
            let qualifier = try #require(VariantQualifier(text))
            #expect(qualifier.description == text)
        }
        var all = try selection(.minimumSize(Resolution(width: 2, height: 1)), "height<=5", "channels>=6")
        all.prefersMultichannelAudio = true
        all.prefersLosslessAudio = true
        #expect(
            all.description
                == "min-size=2x1&audio=none&subtitles=all&qualifier=height<=5&qualifier=channels>=6&prefer-multichannel=true"
                + "&prefer-lossless=true"
        )
    }
}
