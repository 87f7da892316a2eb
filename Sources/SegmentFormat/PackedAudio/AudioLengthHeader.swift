import MediaTiming

/// The length information in the first frame of an MPEG audio file, as written by Xing, LAME and Fraunhofer encoders.
struct AudioLengthHeader {
    /// The number of frames that follow.
    let frameCount: UInt32
    /// The total size of the frames in bytes; `nil` if it is missing.
    let byteCount: UInt32?
    /// The seek table: element *p* is the position at *p* % of the duration, in 256ths of the bytes; empty if it is
    /// missing.
    let seekTable: [UInt8]

    /// Creates length information from the frame at `offset`, or `nil` if the frame contains none.
    init?(_ header: AudioFrameHeader, _ bytes: Span<UInt8>, at offset: Int) {
        guard header.container == .mpegAudio else { return nil }
        let isFirstVersion = header.sampleRate >= 32_000
        let isMono = header.channelCount == 1
        // The information is located after the side information of the frame.
        let position = offset + 4 + (isFirstVersion ? (isMono ? 17 : 32) : (isMono ? 9 : 17))
        if bytes.hasBytes("Xing", at: position) || bytes.hasBytes("Info", at: position) {
            var cursor = ByteCursor(position + 4..<bytes.count, in: bytes)
            let flags = cursor.readUInt32(bytes)
            let frames = flags & 1 != 0 ? cursor.readUInt32(bytes) : 0
            let length = flags & 2 != 0 ? cursor.readUInt32(bytes) : 0
            let hasTable = flags & 4 != 0 && cursor.remaining >= 100
            seekTable = hasTable ? bytes.byteArray(in: cursor.offset..<cursor.offset + 100) : []
            guard !cursor.isPastEnd, frames > 0 else { return nil }
            frameCount = frames
            byteCount = length > 0 ? length : nil
        } else if bytes.hasBytes("VBRI", at: offset + 36) {
            var cursor = ByteCursor(offset + 46..<max(offset + 46, bytes.count), in: bytes)
            let length = cursor.readUInt32(bytes)
            let frames = cursor.readUInt32(bytes)
            guard !cursor.isPastEnd, frames > 0 else { return nil }
            frameCount = frames
            byteCount = length > 0 ? length : nil
            seekTable = []
        } else {
            return nil
        }
    }
}
