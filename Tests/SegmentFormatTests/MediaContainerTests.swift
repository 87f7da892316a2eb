import SegmentFormat
import Testing

@Suite struct MediaContainerTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let container: MediaContainer?
        var testDescription: String { name }
    }

    static let samples: [Sample] = [
        Sample(name: "a movie", bytes: Movies.initialization, container: .isoBaseMedia),
        Sample(name: "a segment", bytes: box("styp", ascii("msdh")) + zeros(20), container: .isoBaseMedia),
        Sample(name: "a fragment", bytes: Movies.fragment(1, base: 0), container: .isoBaseMedia),
        Sample(name: "an index", bytes: Movies.index(earliest: 0, [(false, 10, 10)]), container: .isoBaseMedia),
        Sample(name: "a transport stream", bytes: TransportStreamBuilder.film(seconds: 1), container: .transportStream),
        Sample(
            name: "a Blu-ray stream",
            bytes: TransportStreamBuilder.film(seconds: 1, prefix: 4),
            container: .transportStream
        ),
        Sample(
            name: "a stream with error correction",
            bytes: TransportStreamBuilder.film(seconds: 1, suffix: 16),
            container: .transportStream
        ),
        Sample(name: "AAC", bytes: Audio.repeated(Audio.adts(), 3), container: .aac),
        Sample(name: "MP3", bytes: Audio.repeated(Audio.mp3, 3), container: .mpegAudio),
        Sample(name: "AC-3", bytes: Audio.repeated(Audio.ac3, 3), container: .ac3),
        Sample(name: "E-AC-3", bytes: Audio.repeated(Audio.enhancedAC3, 3), container: .enhancedAC3),
        Sample(
            name: "AAC behind a tag",
            bytes: Audio.id3(Audio.timestamp(1)) + Audio.adts() + Audio.adts(),
            container: .aac
        ),
        Sample(name: "a tag alone", bytes: Array(Audio.id3(Audio.timestamp(1)).prefix(40)), container: .id3),
        Sample(name: "FLAC", bytes: Audio.flac(samples: 1, picture: 0, frames: 10), container: .flac),
        Sample(name: "FLAC behind a tag", bytes: Audio.id3([]) + ascii("fLaC") + zeros(40), container: .flac),
        Sample(name: "WAV", bytes: Audio.wave(seconds: 1), container: .wave),
        Sample(name: "Ogg", bytes: ascii("OggS") + zeros(24), container: .ogg),
        Sample(
            name: "WebM",
            bytes: [0x1A, 0x45, 0xDF, 0xA3, 0x87, 0x42, 0x82, 0x84] + ascii("webm"),
            container: .webM
        ),
        Sample(
            name: "Matroska",
            bytes: [0x1A, 0x45, 0xDF, 0xA3, 0x8B, 0x42, 0x82, 0x88] + ascii("matroska"),
            container: .matroska
        ),
        Sample(name: "WebVTT", bytes: ascii("WEBVTT\n\n"), container: .webVTT),
        Sample(
            name: "WebVTT with a mark",
            bytes: [0xEF, 0xBB, 0xBF] + ascii("WEBVTT - a title\n"),
            container: .webVTT
        ),
        Sample(name: "WebVTT's name as part of a word", bytes: ascii("WEBVTTX\n"), container: nil),
        Sample(
            name: "TTML",
            bytes: ascii("<?xml version=\"1.0\"?>\n<!-- <html> -->\n<tt:tt xmlns:tt=\"x\">"),
            container: .ttml
        ),
        Sample(name: "a playlist", bytes: ascii("#EXTM3U\n"), container: .hlsPlaylist),
        Sample(name: "an MPD", bytes: ascii("<?xml version=\"1.0\"?><MPD>"), container: .mediaPresentation),
        Sample(name: "a page", bytes: ascii("\n <!DOCTYPE html><title>404</title>"), container: .html),
        Sample(name: "a page without a type", bytes: ascii("<HTML>"), container: .html),
        Sample(name: "other XML", bytes: ascii("<rss/>"), container: nil),
        Sample(name: "nothing", bytes: [], container: nil),
        Sample(name: "zeros", bytes: zeros(1_000), container: nil),
        Sample(name: "text", bytes: ascii("Not found"), container: nil),
    ]

    @Test(arguments: samples)
    func containerIsDetectedFromFirstBytes(_ sample: Sample) {
        #expect(MediaContainer(reading: sample.bytes) == sample.container)
    }

    @Test func containerNamesAreStable() {
        let names = MediaContainer.allCases.map(\.rawValue)
        #expect(
            names == [
                "mp4", "mpeg-ts", "aac", "mp3", "ac-3", "e-ac-3", "id3", "flac", "ogg", "wav", "matroska", "webm",
                "webvtt",
                "ttml", "hls", "dash", "html",
            ]
        )
    }

    @Test(arguments: [(0, 0, 188, 0), (4, 0, 192, 4), (0, 16, 204, 0)])
    func transportPacketLengthIsDetected(_ prefix: Int, _ suffix: Int, _ stride: Int, _ first: Int) throws {
        let stream = TransportStreamBuilder.film(seconds: 1, prefix: prefix, suffix: suffix)
        let layout = try #require(TransportPacketLayout(reading: stream))
        #expect(layout.stride == stride)
        #expect(layout.firstSync == first)
    }

    @Test(arguments: [(0, 0), (4, 0), (0, 16)])
    func bytesWithoutSyncBytesAreCounted(_ prefix: Int, _ suffix: Int) throws {
        let packet = zeros(prefix) + [0x47] + [UInt8](repeating: 0xFF, count: 187) + zeros(suffix)
        let intact = Audio.repeated(packet, 10)
        let layout = try #require(TransportPacketLayout(reading: intact))
        #expect(layout.loss(in: intact.span).skippedByteCount == prefix)
        let damaged = intact + zeros(1_000) + intact + zeros(500)
        #expect(layout.loss(in: damaged.span).skippedByteCount >= 1_500)
        #expect(layout.loss(in: damaged.span).skippedByteCount <= 1_500 + 2 * prefix + suffix)
        #expect(layout.loss(in: Array(intact.dropLast(100)).span).skippedByteCount == prefix)
    }

    /// In frames of 192 bytes, a byte can repeat at the distance of transport packets with a timestamp.
    @Test func audioFramesOfThePacketSizeAreNoTransportStream() {
        let frame = [0xFF, 0xFB, 0x54, 0x00] as [UInt8] + zeros(16) + [0x47] + zeros(171)
        #expect(frame.count == 192)
        #expect(MediaContainer(reading: Audio.repeated(frame, 8)) == .mpegAudio)
        let packet = zeros(4) + [0x47] + zeros(187)
        #expect(MediaContainer(reading: Audio.repeated(packet, 8)) == .transportStream)
    }
}
