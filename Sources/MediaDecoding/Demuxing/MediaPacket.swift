import CFFmpeg
import MediaTiming

// Safe: the packet is written before it is wrapped and only read from then on; its buffer is counted atomically.
/// A packet with the encoded data of one video frame or audio frame.
@safe final class MediaPacket: @unchecked Sendable {
    /// The identifier of the track, as in ``TrackFormat/id``.
    let trackID: Int
    /// The presentation time, in container time.
    let presentationTime: MediaTime
    /// The decode time, in container time.
    let decodeTime: MediaTime
    /// The duration; zero if unknown.
    let duration: MediaTime
    /// A Boolean value that indicates whether the packet is decodable without other packets.
    let isKeyFrame: Bool

    let pointer: UnsafeMutablePointer<AVPacket>

    /// The offset of the packet in the input from which it was read; `nil` if it is unknown.
    var inputOffset: Int64? {
        let position = unsafe pointer.pointee.pos
        return position >= 0 ? position : nil
    }

    var byteCount: Int { unsafe Int(pointer.pointee.size) }
    /// The approximate memory of a packet besides its data, in bytes: FFmpeg's structures and padding.
    static let overheadSize = 448
    var endTime: MediaTime { presentationTime + duration }

    /// Creates a packet and takes ownership of an FFmpeg packet, whose timestamps are in units of the given time base.
    init(owning pointer: UnsafeMutablePointer<AVPacket>, trackID: Int, timeBase: AVRational) {
        unsafe self.pointer = unsafe pointer
        self.trackID = trackID
        let none = cffmpeg_no_timestamp()
        let (presentation, decode) = unsafe (pointer.pointee.pts, pointer.pointee.dts)
        let first = presentation != none ? presentation : decode != none ? decode : 0
        presentationTime = MediaTime(first, in: timeBase)
        decodeTime = decode != none && decode != first ? MediaTime(decode, in: timeBase) : presentationTime
        duration = unsafe MediaTime(max(0, pointer.pointee.duration), in: timeBase)
        isKeyFrame = unsafe pointer.pointee.flags & AV_PKT_FLAG_KEY != 0
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVPacket>? = unsafe pointer
        unsafe av_packet_free(&pointer)
    }

    /// Calls `body` with the encoded bytes, which are valid until it returns.
    func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let bytes = unsafe UnsafeRawBufferPointer(start: pointer.pointee.data, count: max(0, Int(pointer.pointee.size)))
        return try withExtendedLifetime(self) { try unsafe body(bytes) }
    }
}
