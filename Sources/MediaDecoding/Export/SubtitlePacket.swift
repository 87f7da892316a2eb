import CFFmpeg
import MediaTiming
import SegmentFormat

/// A subtitle in the form that a file stores.
struct SubtitlePacket {
    /// The start and the duration, in milliseconds.
    let start, duration: Int64
    let bytes: [UInt8]

    /// The description of samples of timed text without styles (3GPP TS 26.245 §5.16): white text at the bottom.
    static let sampleDescription: [UInt8] =
        [0, 0, 0, 0, 1, 0xFF] + [0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 0]
        + [0, 0, 0, 0, 0, 1, 0, 18, 0xFF, 0xFF, 0xFF, 0xFF]
        + [0, 0, 0, 18] + Array("ftab".utf8) + [0, 1, 0, 1, 5] + Array("Serif".utf8)

    /// Returns the packets of a subtitle track in the order of their start times.
    ///
    /// Timed text in MP4 files cannot overlap; cues that are shown at the same time are combined.
    static func packets(_ cues: [SubtitleCue], for type: MediaFileType) -> [SubtitlePacket] {
        switch type {
        case .matroska:
            cues.compactMap { cue in
                SubtitlePacket(cue.timeRange, Array(SubRipWriter.text(of: [cue]).utf8))
            }
        case .mp4: combined(cues)
        }
    }

    private static func combined(_ cues: [SubtitleCue]) -> [SubtitlePacket] {
        var timeline = SubtitleTimeline()
        timeline.insert(cues)
        var packets: [SubtitlePacket] = []
        var time = timeline.firstStart
        while let start = time {
            let next = timeline.nextChange(after: start)
            let shown = timeline.cues(at: start)
            if let next, !shown.isEmpty {
                let text = Array(shown.map(\.plainText).joined(separator: "\n").utf8.prefix(Int(UInt16.max)))
                let length = UInt16(clamping: text.count)
                let bytes = [UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)] + text
                if let packet = SubtitlePacket(MediaTimeRange(start: start, end: next), bytes) {
                    packets.append(packet)
                }
            }
            time = next
        }
        return packets
    }

    private init?(_ range: MediaTimeRange, _ bytes: [UInt8]) {
        start = max(0, range.start.units(in: MediaFileWriter.textTimeBase))
        duration = (range.end.units(in: MediaFileWriter.textTimeBase) -| start)
        self.bytes = bytes
        guard duration > 0 else { return nil }
    }
}
