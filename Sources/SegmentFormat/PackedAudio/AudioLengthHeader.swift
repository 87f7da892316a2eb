import MediaTiming

/// What the first frame of an MPEG audio file says about all of them: the headers that Xing, LAME and Fraunhofer write.
struct AudioLengthHeader {
    /// How many frames follow.
    let frameCount: UInt32
    /// How many bytes they have; `nil` where it is not said.
    let byteCount: UInt32?
    /// Which hundredth of the time begins at which 256th of the bytes; empty where it is not said.
    let table: [UInt8]

    /// Reads the frame at a place; `nil` where it is an ordinary one.
    init?(_ header: AudioFrameHeader, _ bytes: Span<UInt8>, at offset: Int) {
        guard header.container == .mpegAudio else { return nil }
        let isFirstVersion = header.sampleRate >= 32_000
        let isMono = header.channelCount == 1
        // The header stands where the frame's side information would end.
        let place = offset + 4 + (isFirstVersion ? (isMono ? 17 : 32) : (isMono ? 9 : 17))
        if bytes.hasBytes("Xing", at: place) || bytes.hasBytes("Info", at: place) {
            var cursor = ByteCursor(place + 4..<bytes.count, in: bytes)
            let flags = cursor.uint32(bytes)
            let frames = flags & 1 != 0 ? cursor.uint32(bytes) : 0
            let length = flags & 2 != 0 ? cursor.uint32(bytes) : 0
            let hasTable = flags & 4 != 0 && cursor.remaining >= 100
            table = hasTable ? bytes.array(cursor.offset..<cursor.offset + 100) : []
            guard !cursor.isPastEnd, frames > 0 else { return nil }
            frameCount = frames
            byteCount = length > 0 ? length : nil
        } else if bytes.hasBytes("VBRI", at: offset + 36) {
            var cursor = ByteCursor(offset + 46..<max(offset + 46, bytes.count), in: bytes)
            let length = cursor.uint32(bytes)
            let frames = cursor.uint32(bytes)
            guard !cursor.isPastEnd, frames > 0 else { return nil }
            frameCount = frames
            byteCount = length > 0 ? length : nil
            table = []
        } else {
            return nil
        }
    }
}
