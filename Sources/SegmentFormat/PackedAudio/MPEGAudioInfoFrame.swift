import MediaTiming

/// The `Xing`, `Info` or `VBRI` frame at the start of many MP3 files, which describes the file and contains no audio.
package struct MPEGAudioInfoFrame: Sendable, Hashable {
    /// The number of frames that follow; `nil` if it is not declared.
    package private(set) var frameCount: UInt32?
    /// The total size of the frames in bytes; `nil` if it is not declared.
    package private(set) var byteCount: UInt32?
    /// The seek table: element *p* is the position at *p* % of the duration, in 256ths of the bytes; empty if it is
    /// missing.
    package private(set) var seekTable: [UInt8] = []
    /// The number of decoded samples before the audio: the declared delay of the encoder and that of the decoder; 0 if
    /// not declared.
    package private(set) var delay = 0
    /// The number of decoded samples after the audio; 0 if not declared.
    package private(set) var padding = 0

    /// The decoder delay in samples, as FFmpeg and LAME define it.
    private static let decoderDelay = 529

    /// Creates the description from a frame; the result is `nil` if the frame contains audio.
    package init?(_ frame: Span<UInt8>) {
        // The identifier follows the side information, whose length depends on the version and the channel mode.
        for offset in [36, 21, 13] where frame.count > offset + 8 {
            if frame.hasBytes("Xing", at: offset) || frame.hasBytes("Info", at: offset) {
                readFields(ByteCursor(offset + 4..<frame.count, in: frame), frame)
                return
            }
            if offset == 36, frame.hasBytes("VBRI", at: offset) {
                var cursor = ByteCursor(min(offset + 10, frame.count)..<frame.count, in: frame)
                let (length, frames) = (cursor.readUInt32(frame), cursor.readUInt32(frame))
                if !cursor.isPastEnd, frames > 0 {
                    (frameCount, byteCount) = (frames, length > 0 ? length : nil)
                }
                return
            }
        }
        return nil
    }

    /// Returns the number of samples of the audio, without those of the delay and the padding.
    ///
    /// - Parameter samplesPerFrame: The number of samples of each frame.
    /// - Returns: The number of samples; `nil` if the number of frames is not declared, or no sample is left.
    package func sampleCount(samplesPerFrame: Int) -> Int64? {
        guard let frameCount else { return nil }
        let count = Int64(frameCount) *| Int64(samplesPerFrame) -| Int64(delay) -| Int64(padding)
        return count > 0 ? count : nil
    }

    private mutating func readFields(_ start: ByteCursor, _ frame: Span<UInt8>) {
        var cursor = start
        let flags = cursor.readUInt32(frame)
        let frames = flags & 1 != 0 ? cursor.readUInt32(frame) : 0
        let length = flags & 2 != 0 ? cursor.readUInt32(frame) : 0
        if !cursor.isPastEnd, frames > 0 {
            (frameCount, byteCount) = (frames, length > 0 ? length : nil)
            if flags & 4 != 0, cursor.remaining >= 100 {
                seekTable = frame.byteArray(in: cursor.offset..<cursor.offset + 100)
            }
        }
        if flags & 4 != 0 { cursor.skip(100) }
        if flags & 8 != 0 { cursor.skip(4) }
        let encoder = cursor.readFourCharacterCode(frame)
        // Other encoders leave the remaining fields empty or omit them.
        guard (["LAME", "Lavf", "Lavc"] as [FourCharacterCode]).contains(encoder) else { return }
        cursor.skip(17)
        let value = Int(cursor.readUInt24(frame))
        guard !cursor.isPastEnd else { return }
        // Both have 12 bits.
        delay = (value >> 12) + Self.decoderDelay
        padding = max(0, (value & 0xFFF) - Self.decoderDelay)
    }
}
