import MediaTiming
import SegmentFormat

/// The `Xing`, `Info` or `VBRI` frame at the start of many MP3 files, which describes the file and contains no audio.
struct MPEGAudioInfoFrame {
    /// The number of samples before the actual audio: the declared encoder delay and the decoder delay; 0 if not
    /// declared.
    let delay: Int

    /// The decoder delay in samples, as FFmpeg and LAME define it.
    private static let decoderDelay = 529

    /// Reads a frame; returns `nil` if it contains audio.
    init?(_ frame: Span<UInt8>) {
        // The identifier follows the side information, whose length depends on the version and the channel mode.
        for offset in [36, 21, 13] where frame.count > offset + 8 {
            if frame.hasBytes("Xing", at: offset) || frame.hasBytes("Info", at: offset) {
                delay = Self.encoderDelay(in: frame, after: offset + 4)
                return
            }
            if offset == 36, frame.hasBytes("VBRI", at: offset) {
                delay = 0
                return
            }
        }
        return nil
    }

    private static func encoderDelay(in frame: Span<UInt8>, after start: Int) -> Int {
        var cursor = ByteCursor(start..<frame.count, in: frame)
        let flags = cursor.readUInt32(frame)
        if flags & 1 != 0 { cursor.skip(4) }
        if flags & 2 != 0 { cursor.skip(4) }
        if flags & 4 != 0 { cursor.skip(100) }
        if flags & 8 != 0 { cursor.skip(4) }
        let encoder = cursor.readFourCharacterCode(frame)
        // Other encoders leave the remaining fields empty or omit them.
        guard (["LAME", "Lavf", "Lavc"] as [FourCharacterCode]).contains(encoder) else { return 0 }
        cursor.skip(17)
        let value = Int(cursor.readUInt24(frame))
        return cursor.isPastEnd ? 0 : (value >> 12) + decoderDelay
    }
}
