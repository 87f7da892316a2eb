import MediaTiming
import SegmentFormat

/// A sequence of CTA-608 byte pairs, one pair per frame of 1/30 s.
struct LineTwentyOne {
    var pairs: [(UInt8, UInt8)] = []
    var kind = CaptionTriplet.Kind.firstField
    /// The bits of the channel within the field: 0 for the first, 8 for the second.
    var channel: UInt8 = 0

    static func parity(_ byte: UInt8) -> UInt8 { byte.nonzeroBitCount % 2 == 1 ? byte : byte | 0x80 }

    mutating func pair(_ first: UInt8, _ second: UInt8) {
        pairs.append((Self.parity(first), Self.parity(second)))
    }

    /// Appends a control code twice, as the standard requires.
    mutating func control(_ first: UInt8, _ second: UInt8) {
        pair(first | channel, second)
        pair(first | channel, second)
    }

    mutating func command(_ second: UInt8) { control(0x14, second) }

    mutating func text(_ text: String) {
        let codes = Array(text.utf8)
        for index in stride(from: 0, to: codes.count, by: 2) {
            pair(codes[index], index + 1 < codes.count ? codes[index + 1] : 0)
        }
    }

    /// Appends a preamble address code with a row from 1 to 15 and an indent in units of four columns.
    mutating func row(_ row: Int, indent: Int = 0) {
        let (first, isSecond) = Self.address(row)
        control(first, 0x50 | UInt8(indent << 1) | (isSecond ? 0x20 : 0))
    }

    /// Appends a preamble address code with a row from 1 to 15 and the bits of a color or style.
    mutating func row(_ row: Int, look: UInt8) {
        let (first, isSecond) = Self.address(row)
        control(first, 0x40 | look | (isSecond ? 0x20 : 0))
    }

    private static func address(_ row: Int) -> (UInt8, Bool) {
        let table: [(UInt8, Bool)] = [
            (0x11, false), (0x11, true), (0x12, false), (0x12, true), (0x15, false), (0x15, true), (0x16, false),
            (0x16, true), (0x17, false), (0x17, true), (0x10, false), (0x13, false), (0x13, true), (0x14, false),
            (0x14, true),
        ]
        return table[row - 1]
    }

    mutating func wait(_ frames: Int) { for _ in 0..<frames { pairs.append((0x80, 0x80)) } }

    static func time(_ frame: Int) -> MediaTime { MediaTime(value: Int64(frame), timescale: 30) }

    func decoded(
        _ channel: CEA608Decoder.Channel = .cc1,
        growth: CEA608Decoder.CueGranularity = .perFrame
    ) -> [SubtitleCue] {
        var decoder = CEA608Decoder(channel: channel, granularity: growth)
        var cues: [SubtitleCue] = []
        for (frame, pair) in pairs.enumerated() {
            let triplet = CaptionTriplet(kind: kind, first: pair.0, second: pair.1)
            cues += decoder.decode([triplet], at: Self.time(frame))
        }
        return cues + decoder.finish(at: Self.time(pairs.count))
    }

    /// Returns the first frame, the end frame and the text of a cue.
    static func line(_ cue: SubtitleCue) -> String {
        let frames = [cue.timeRange.start, cue.timeRange.end].map { ($0 * 30).roundedSeconds }
        return "\(frames[0])-\(frames[1]) \(cue.plainText.split(separator: "\n").joined(separator: "|"))"
    }
}
