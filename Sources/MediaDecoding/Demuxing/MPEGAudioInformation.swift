import MediaTiming

/// The first frame of many MP3 files, which says how many follow, and sounds like nothing.
struct MPEGAudioInformation {
    /// Samples in front of the sound: what the encoder says, and what any decoder adds; 0 where the frame does not say it.
    let delay: Int

    /// A decoder gives each sample so many later (as FFmpeg and LAME count).
    private static let decoderDelay = 529

    /// Reads a frame; `nil` where it is one of sound.
    init?(_ frame: UnsafeRawBufferPointer) {
        // The name stands behind the side information, whose length depends on the version and the channels.
        for offset in [36, 21, 13] where frame.count > offset + 8 {
            let name = frame[offset..<offset + 4]
            if name.elementsEqual("Xing".utf8) || name.elementsEqual("Info".utf8) {
                delay = Self.delay(frame, behind: offset + 4)
                return
            }
            if offset == 36, name.elementsEqual("VBRI".utf8) {
                delay = 0
                return
            }
        }
        return nil
    }

    private static func delay(_ frame: UnsafeRawBufferPointer, behind start: Int) -> Int {
        var reader = FieldReader(frame, start..<frame.count)
        let flags = reader.uint32()
        if flags & 1 != 0 { reader.skip(4) }
        if flags & 2 != 0 { reader.skip(4) }
        if flags & 4 != 0 { reader.skip(100) }
        if flags & 8 != 0 { reader.skip(4) }
        let encoder = reader.array(4)
        // Other encoders leave the rest empty, or do not write it.
        guard ["LAME", "Lavf", "Lavc"].contains(where: { encoder.elementsEqual($0.utf8) }) else { return 0 }
        reader.skip(17)
        let value = Int(clamping: reader.unsigned(3))
        return reader.isPastEnd ? 0 : (value >> 12) + decoderDelay
    }
}
