import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing
import SegmentFormat
import Testing

@testable import MillstreamDownloads

/// Tests the description of a media file by its tracks, and the selection of its languages.
@Suite struct MediaFileDetailTests {
    private static let address = ResourceAddress("https://films.example/a.wav")

    private static func file(length: Int64?, isWhole: Bool = false) throws -> MediaFileSource {
        let bytes: [UInt8] = Array("RIFF".utf8) + [36, 0, 0, 0] + Array("WAVEfmt ".utf8)
        let response = TransportResponse(
            status: 200,
            headers: [],
            address: address,
            expectedLength: length,
            body: TransportBody(bytes)
        )
        return try #require(MediaFileSource(bytes, response, isWhole: isWhole))
    }

    private static func video(_ width: Int?, _ height: Int?) -> MediaTrack {
        MediaTrack(id: 1, mediaType: .video, width: width, height: height)
    }

    private static func audio(_ language: String?, codec: String? = nil, name: String? = nil) -> MediaTrack {
        MediaTrack(id: 2, mediaType: .audio, codec: codec, name: name, language: language)
    }

    private static func subtitles(_ language: String?) -> MediaTrack {
        MediaTrack(id: 3, mediaType: .subtitles, language: language)
    }

    // MARK: Variants

    /// The bit rate is that of all bytes, rounded up; it is at least one bit per second.
    @Test(
        arguments: [(1_001, 3, 2_670), (3, 8, 3), (0, 3, 1), (nil, 3, nil), (1_000, 0, nil)]
            as [(Int64?, Int64, Int64?)]
    )
    func bitRateOfAFileFollowsFromItsSize(length: Int64?, seconds: Int64, expected: Int64?) throws {
        let file = try Self.file(length: length)
        let variant = try #require(file.variant([Self.video(640, 360)], duration: MediaTime(seconds: seconds)))
        #expect(variant.bandwidth?.bitsPerSecond == expected)
        #expect(variant.resolution == Resolution(width: 640, height: 360))
        #expect(variant.address == Self.address)
    }

    /// A file that was received as a whole has the size of its bytes.
    @Test func wholeFileHasTheSizeOfItsBytes() throws {
        let file = try Self.file(length: 1_000, isWhole: true)
        let variant = try #require(file.variant([], duration: MediaTime(seconds: 1)))
        #expect(variant.bandwidth?.bitsPerSecond == 16 * 8 && variant.resolution == nil && variant.codecs.isEmpty)
    }

    @Test(
        arguments: [(1, 1, true), (0, 360, false), (640, 0, false), (nil, 360, false), (640, nil, false)]
            as [(Int?, Int?, Bool)]
    )
    func resolutionOfAFileIsThatOfItsVideo(width: Int?, height: Int?, isKnown: Bool) throws {
        let file = try Self.file(length: 1_000)
        let tracks = [Self.audio("en"), Self.video(width, height)]
        let variant = try #require(file.variant(tracks, duration: MediaTime(seconds: 1)))
        #expect((variant.resolution != nil) == isKnown)
    }

    /// A codec is a part of a quoted string.
    @Test func codecsThatCannotBeWrittenAreLeftOut() throws {
        let file = try Self.file(length: 1_000)
        let codecs = ["avc1.64001f", "a!b~", "a b", "a,b", "a\"b", "a\u{7F}b", "é", nil]
        let tracks = codecs.map { Self.audio("en", codec: $0) }
        let variant = try #require(file.variant(tracks, duration: MediaTime(seconds: 1)))
        #expect(variant.codecs == ["avc1.64001f", "a!b~"])
    }

    // MARK: Languages

    /// A text that is no language tag is that of an undetermined language (RFC 5646 §4.1).
    @Test(arguments: [
        ("en", "en"), ("zh-Hant", "zh-Hant"), ("AZ-az-09", "AZ-az-09"), ("a/b", "und"), ("a:b", "und"), ("a@b", "und"),
        ("a[b", "und"), ("a`b", "und"), ("a{b", "und"), ("a b", "und"), ("a.b", "und"), ("é", "und"),
    ])
    func languagesHaveLettersAndDigits(language: String, expected: String) {
        #expect(DownloadResolver.languages(of: .audio, in: [Self.audio(language)]) == [expected])
    }

    @Test func languagesAreThoseOfAMediaType() {
        let long = String(repeating: "a", count: 100)
        let tracks = [
            Self.audio("en"), Self.subtitles("ko"), Self.audio(nil), Self.audio(long), Self.audio(long + "a"),
        ]
        #expect(DownloadResolver.languages(of: .audio, in: tracks) == ["en", "und", long, "und"])
        #expect(DownloadResolver.languages(of: .subtitles, in: tracks) == ["ko"])
        #expect(DownloadResolver.languages(of: .video, in: tracks).isEmpty)
    }

    private func hint(
        _ languages: [String],
        _ type: Rendition.MediaType,
        in tracks: [MediaTrack]
    ) -> String? {
        let error = #expect(throws: DownloadError.self) {
            try DownloadResolver.verify(.some(languages), type, in: tracks)
        }
        #expect(error?.code == .nothingSelected)
        return error?.hint
    }

    /// Each type has its own languages; it is unknown what a file without tracks in its index has.
    @Test func languagesOfAFileAreVerified() throws {
        let tracks = [Self.audio("en", name: "English"), Self.subtitles("ko")]
        try DownloadResolver.verify(.some(["en"]), .audio, in: tracks)
        try DownloadResolver.verify(.some(["English"]), .audio, in: tracks)
        try DownloadResolver.verify(.some(["ko"]), .subtitles, in: tracks)
        try DownloadResolver.verify(.some(["de"]), .audio, in: [])
        try DownloadResolver.verify(.all, .audio, in: [Self.video(640, 360)])
        let suffix = "; select by language, name or LANGUAGE:NAME"
        #expect(hint(["ko"], .audio, in: tracks) == "available: en (English)\(suffix)")
        #expect(hint(["en", "ko"], .subtitles, in: tracks) == "available: ko\(suffix)")
        #expect(hint(["en"], .audio, in: [Self.subtitles("en")]) == "the file has no audio")
        #expect(hint(["en"], .subtitles, in: [Self.audio("en")]) == "the file has no subtitles")
    }
}
