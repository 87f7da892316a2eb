import CFFmpeg
import MediaTiming

/// Decodes the pictures of one track, in the order in which they are shown.
///
/// It goes on over segments and variants as long as the format allows (``canContinue(with:)``); else it is drained and
/// another one made, and no picture is lost. Pictures that refer to others which are missing, as after a seek to an open
/// group, are not given, until the first that is whole: FFmpeg's own choice. One thread uses it at a time.
final class VideoDecoder {
    struct Options: Sendable, Hashable {
        /// Threads that decode; 1 by default, 0 for as many as there are cores.
        ///
        /// More than one delay pictures.
        var threadCount = 1
        /// Whether VA-API is tried; software decodes where it is not there.
        var prefersHardware = false
    }

    /// Which pictures need not be decoded.
    enum Discard: Sendable, Hashable {
        case nothing
        /// Those to which no other refers.
        case unreferenced
        /// All but those that stand alone.
        case dependent
    }

    private(set) var format: TrackFormat
    /// Why hardware was wanted and is not used; `nil` where it is used, or was not asked for.
    private(set) var hardwareNote: String?
    /// Whether the last picture came from hardware.
    private(set) var isHardware = false
    /// What is left out from now on.
    var discard = Discard.nothing {
        didSet {
            unsafe context.pointer.pointee.skip_frame =
                switch discard {
                case .nothing: AVDISCARD_DEFAULT
                case .unreferenced: AVDISCARD_NONREF
                case .dependent: AVDISCARD_NONKEY
                }
        }
    }
    /// Packets that could not be decoded, or only in part.
    var damagedPacketCount: Int { context.damagedPacketCount }

    private let context: DecoderContext
    private var lastDuration: Int64 = 0

    init(_ format: TrackFormat, options: Options = Options()) throws(DecodingError) {
        self.format = format
        var note: String?
        context = try unsafe DecoderContext(format) { pointer in
            let threads = DecoderContext.threadCount(
                max(0, options.threadCount),
                width: format.width,
                height: format.height
            )
            unsafe pointer.pointee.thread_count = Int32(clamping: threads)
            unsafe pointer.pointee.has_b_frames = unsafe max(
                pointer.pointee.has_b_frames,
                Int32(clamping: format.reorderDepth)
            )
            if options.prefersHardware { note = unsafe Self.addHardware(pointer) }
        }
        hardwareNote = note
    }

    /// Whether packets of another format can follow without draining.
    func canContinue(with other: TrackFormat) -> Bool { format.canContinue(with: other) }

    /// Tells of a format that follows, for which ``canContinue(with:)`` holds.
    func `continue`(with other: TrackFormat) {
        format = other
        let depth = Int32(clamping: other.reorderDepth)
        if unsafe context.pointer.pointee.has_b_frames < depth { unsafe context.pointer.pointee.has_b_frames = depth }
    }

    /// Decodes a packet; the frames are those that are ready, mostly of earlier packets.
    func decode(_ packet: MediaPacket) -> [VideoFrame] { run(packet) }

    /// Gives all frames that wait for others; packets may follow, of which the first stands alone.
    func drain() -> [VideoFrame] {
        let frames = run(nil)
        context.flush()
        return frames
    }

    /// Forgets all: at a seek.
    func flush() { context.flush() }

    private func run(_ packet: MediaPacket?) -> [VideoFrame] {
        var frames: [VideoFrame] = []
        unsafe context.decode(packet) { frame in
            if let frame = unsafe self.wrap(frame) { frames.append(frame) }
        }
        return frames
    }

    /// Takes a frame over.
    private func wrap(_ decoded: UnsafeMutablePointer<AVFrame>) -> VideoFrame? {
        let none = cffmpeg_no_timestamp()
        // FFmpeg's best effort is a guess of its own where timestamps were wrong once; it goes by the order of decoding then.
        var timestamp = unsafe decoded.pointee.pts
        if timestamp == none { timestamp = unsafe decoded.pointee.best_effort_timestamp }
        let duration = unsafe cffmpeg_frame_duration(decoded)
        if duration > 0 { lastDuration = duration }
        let isKeyFrame = unsafe cffmpeg_frame_is_key(decoded) != 0
        var captions: [UInt8] = []
        if let data = unsafe cffmpeg_captions(decoded), let bytes = unsafe data.pointee.data {
            captions = unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(data.pointee.size)))
        }
        guard let frame = unsafe inMainMemory(decoded), unsafe frame.pointee.width > 0, unsafe frame.pointee.height > 0
        else { return nil }
        return unsafe VideoFrame(
            time: format.time(timestamp == none ? 0 : timestamp),
            duration: format.time(lastDuration),
            isKeyFrame: isKeyFrame,
            picture: Picture(owning: frame),
            captionData: captions
        )
    }

    /// The frame itself, or a copy of one that lies in a device.
    private func inMainMemory(_ frame: UnsafeMutablePointer<AVFrame>) -> UnsafeMutablePointer<AVFrame>? {
        isHardware = unsafe frame.pointee.hw_frames_ctx != nil
        guard isHardware else { return unsafe frame }
        var source: UnsafeMutablePointer<AVFrame>? = unsafe frame
        defer { unsafe av_frame_free(&source) }
        var copy = unsafe av_frame_alloc()
        guard let made = unsafe copy, unsafe av_hwframe_transfer_data(made, frame, 0) >= 0,
            unsafe av_frame_copy_props(made, frame) >= 0
        else {
            unsafe av_frame_free(&copy)
            return nil
        }
        return unsafe made
    }

    /// Gives the decoder a device; what stands against it, else.
    private static func addHardware(_ pointer: UnsafeMutablePointer<AVCodecContext>) -> String? {
        var device: UnsafeMutablePointer<AVBufferRef>?
        let status = unsafe av_hwdevice_ctx_create(&device, AV_HWDEVICE_TYPE_VAAPI, nil, nil, 0)
        guard status >= 0, let device = unsafe device else {
            return "VA-API is not there, so software decodes (\(DecodingError(status, "opening the device").message))"
        }
        // FFmpeg chooses the device's format where the codec has one, and software where not.
        unsafe pointer.pointee.hw_device_ctx = unsafe device
        return nil
    }
}
