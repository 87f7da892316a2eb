import CFFmpeg
import MediaTiming

// Safe: the packet is written before it is wrapped and only read from then on; its buffer is counted atomically.
/// Coded media of one track: a picture, or a frame of sound.
@safe final class MediaPacket: @unchecked Sendable {
    /// The track, as ``TrackFormat/id`` names it.
    let trackID: Int
    /// When it is shown or heard, in the container's time.
    let presentationTime: MediaTime
    /// When it is decoded, in the container's time.
    let decodeTime: MediaTime
    /// How long it lasts; zero where that is not known.
    let duration: MediaTime
    /// Whether it can be decoded without others.
    let isKeyFrame: Bool

    let pointer: UnsafeMutablePointer<AVPacket>

    var byteCount: Int { unsafe Int(pointer.pointee.size) }
    /// About how much memory a packet takes beside its data, in bytes: the structures of FFmpeg and its padding.
    static let overhead = 448
    var endTime: MediaTime { presentationTime + duration }

    /// Takes a packet over, whose timestamps are in units of a base.
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

    /// Calls with the coded bytes.
    func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let bytes = unsafe UnsafeRawBufferPointer(start: pointer.pointee.data, count: max(0, Int(pointer.pointee.size)))
        return try withExtendedLifetime(self) { try unsafe body(bytes) }
    }
}
