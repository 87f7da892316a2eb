import MediaTiming
import SegmentFormat

/// The first frame of many MP3 files, which says how many follow, and sounds like nothing.
struct MPEGAudioInformation {
    /// Samples in front of the sound: what the encoder says, and what any decoder adds; 0 where the frame does not say it.
    let delay: Int

    /// A decoder gives each sample so many later (as FFmpeg and LAME count).
    private static let decoderDelay = 529

    /// Reads a frame; `nil` where it is one of sound.
    init?(_ frame: Span<UInt8>) {
        // The name stands behind the side information, whose length depends on the version and the channels.
        for offset in [36, 21, 13] where frame.count > offset + 8 {
            if frame.hasBytes("Xing", at: offset) || frame.hasBytes("Info", at: offset) {
                delay = Self.delay(frame, behind: offset + 4)
                return
            }
            if offset == 36, frame.hasBytes("VBRI", at: offset) {
                delay = 0
                return
            }
        }
        return nil
    }

    private static func delay(_ frame: Span<UInt8>, behind start: Int) -> Int {
        var cursor = ByteCursor(start..<frame.count, in: frame)
        let flags = cursor.uint32(frame)
        if flags & 1 != 0 { cursor.skip(4) }
        if flags & 2 != 0 { cursor.skip(4) }
        if flags & 4 != 0 { cursor.skip(100) }
        if flags & 8 != 0 { cursor.skip(4) }
        let encoder = cursor.code(frame)
        // Other encoders leave the rest empty, or do not write it.
        guard (["LAME", "Lavf", "Lavc"] as [FourCharacterCode]).contains(encoder) else { return 0 }
        cursor.skip(17)
        let value = Int(cursor.uint24(frame))
        return cursor.isPastEnd ? 0 : (value >> 12) + decoderDelay
    }
}
