import MediaTiming
import SegmentFormat
import Testing

@testable import MediaDecoding

/// Tests the packets of exported subtitle tracks.
@Suite struct SubtitlePacketTests {
    private static func cue(_ start: Int64, _ end: Int64, _ text: String) -> SubtitleCue {
        SubtitleCue(
            timeRange: MediaTimeRange(
                start: MediaTime(value: start, timescale: 1_000),
                end: MediaTime(value: end, timescale: 1_000)
            ),
            lines: [SubtitleLine([SubtitleSpan(text)])]
        )
    }

    private func packets(_ cues: [SubtitleCue], _ type: MediaFileType) throws -> [SubtitlePacket] {
        var packets = SubtitlePackets(cues, for: type, of: ExportSource.Properties(title: "Commentary"))
        var found: [SubtitlePacket] = []
        while let packet = try packets.next() { found.append(packet) }
        return found
    }

    @Test func cuesShownAtTheSameTimeAreCombinedInMP4() throws {
        let cues = [Self.cue(0, 4_000, "a"), Self.cue(1_000, 2_000, "b"), Self.cue(6_000, 7_000, "c")]
        let found = try packets(cues, .mp4)
        #expect(found.map(\.start) == [0, 1_000, 2_000, 6_000])
        #expect(found.map(\.duration) == [1_000, 1_000, 2_000, 1_000])
        #expect(found.map(\.bytes) == [[0, 1, 97], [0, 3, 97, 10, 98], [0, 1, 97], [0, 1, 99]])
    }

    @Test func cuesOverlapInMatroska() throws {
        let found = try packets([Self.cue(0, 4_000, "a"), Self.cue(1_000, 2_000, "b")], .matroska)
        #expect(found.map(\.start) == [0, 1_000] && found.map(\.duration) == [4_000, 1_000])
        #expect(found.map(\.bytes) == [[97], [98]])
    }

    /// Long cues that are shown all of the time, and many short ones one after the other.
    private static let hostile: [SubtitleCue] = {
        var cues: [SubtitleCue] = []
        for letter in "abcdefghijklmno" {
            cues.append(Self.cue(0, 100_000_000, String(repeating: letter, count: 4_400)))
        }
        for number in 0..<4_000 {
            let start = 1_000 + Int64(number) * 20_000
            cues.append(Self.cue(start, start + 20_000, "\(number)"))
        }
        return cues
    }()

    @Test func textThatIsRepeatedTooOftenIsRefused() throws {
        #expect { () throws in
            _ = try packets(Self.hostile, .mp4)
        } throws: {
            let error = $0 as? DecodingError
            return error?.code == .unsupported && error?.message.contains("\"Commentary\"") == true
        }
        var stream = SubtitlePackets(Self.hostile, for: .mp4, of: ExportSource.Properties())
        var byteCount = 0
        while let packet = try? stream.next() { byteCount += packet.bytes.count }
        let text = Self.hostile.reduce(0) { $0 + $1.plainText.utf8.count }
        #expect(byteCount > 0 && byteCount <= 70 * text)
    }

    @Test func theSameCuesAreWrittenOnceToMatroska() throws {
        #expect(try packets(Self.hostile, .matroska).count == Self.hostile.count)
    }

    /// A few cues without much text may be repeated.
    @Test func smallTracksAreNotLimited() throws {
        let cues =
            (0..<40).map { Self.cue(0, 100_000, "\($0)") }
            + (0..<50).map { Self.cue(1_000 + $0 * 1_000, 2_000 + $0 * 1_000, "-\($0)") }
        #expect(try packets(cues, .mp4).count == 52)
    }
}
