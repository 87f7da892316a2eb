import CFFmpeg
import MediaTiming
import SegmentFormat
import StreamingEngine
import Testing

@testable import MediaDecoding

/// Tests the cues of subtitle tracks in media files.
@Suite struct FileSubtitlesTests {
    private static func cues(_ codec: String, _ packets: [MediaPacket], offset: Int64) throws -> [SubtitleCue] {
        var format = try SyntheticPackets.format(AV_CODEC_ID_NONE, .subtitles)
        format.codec = codec
        let segment = SyntheticPackets.segment(format, packets)
        let cues = FileSubtitles.cues(of: segment, offset: MediaTime(seconds: offset))
        return cues.values.flatMap(\.self)
    }

    private static func document(_ text: String, from start: Int, to end: Int, padding: Int = 0) -> [UInt8] {
        let cue = "<p begin=\"\(start)s\" end=\"\(end)s\">\(text)</p>"
        return Array("<tt xmlns=\"http://www.w3.org/ns/ttml\">".utf8) + [UInt8](repeating: 0x20, count: padding)
            + Array("<body><div>\(cue)</div></body></tt>".utf8)
    }

    private static func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end))
    }

    /// The first timestamp of the file is ten seconds.
    @Test func cuesHaveTheTimesOfPlayback() throws {
        let boxes = MovieEncryption.box(
            "vttc",
            MovieEncryption.box("payl", Array("Hello".utf8))
        )
        let packet = try SyntheticPackets.packet(boxes, at: 990_000, duration: 180_000)
        let webVTT = try Self.cues("wvtt", [packet], offset: -10)
        #expect(webVTT.map(\.plainText) == ["Hello"] && webVTT.map(\.timeRange) == [Self.range(1, 3)])
        let document = Self.document("Hello", from: 11, to: 12)
        let sample = try SyntheticPackets.packet(document, at: 990_000, duration: 180_000)
        let timedText = try Self.cues("stpp", [sample], offset: -10)
        #expect(timedText.map(\.plainText) == ["Hello"] && timedText.map(\.timeRange) == [Self.range(1, 2)])
    }

    @Test func documentsOfASegmentHaveALimitedSize() throws {
        let packets = try (0..<3).map { index in
            let document = Self.document("\(index)", from: index, to: index + 1, padding: 3 << 19)
            return try SyntheticPackets.packet(document, at: Int64(index) * 90_000, duration: 90_000)
        }
        let cues = try Self.cues("stpp", packets, offset: 0)
        #expect(cues.map(\.plainText) == ["0", "1"])
    }
}
