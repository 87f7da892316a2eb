import CFFmpeg
import MediaTiming

/// A decoder for the video of one track that outputs frames in presentation order.
///
/// The decoder continues across segments and variants as long as the format permits it (``canContinue(with:)``).
/// Otherwise it is drained and replaced, and no frame is lost. Frames whose reference frames are missing, as after a
/// seek to an open group of pictures, are not output until the first complete frame; FFmpeg decides this. The frames
/// have the orientation in which they are shown, like the frames of the `ffmpeg` command. Use it from one thread at a
/// time.
final class VideoDecoder {
    struct Options: Sendable, Hashable {
        /// The number of decoding threads; values below 1 count as 1, the default.
        ///
        /// More than one thread delays the output.
        var threadCount = 1
        /// A Boolean value that indicates whether to try VA-API; software decoding is the fallback.
        var prefersHardware = false
        /// The maximum number of pixels in a frame; by default, that of all decoders.
        var maximumPixelCount = DecoderContext.maximumPixelCount
    }

    /// The frames that the decoder skips.
    enum SkippedFrames: Sendable, Hashable {
        case none
        /// Frames that no other frame refers to.
        case nonReference
        /// All frames except key frames.
        case nonKey
    }

    private(set) var format: TrackFormat
    /// The reason why the requested hardware device could not be opened; `nil` if it was opened or not requested.
    private(set) var hardwareFailureReason: String?
    /// A Boolean value that indicates whether the last frame was decoded by hardware.
    private(set) var usesHardware = false
    /// The frames that the decoder skips from now on.
    var skippedFrames = SkippedFrames.none {
        didSet {
            unsafe context.pointer.pointee.skip_frame =
                switch skippedFrames {
                case .none: AVDISCARD_DEFAULT
                case .nonReference: AVDISCARD_NONREF
                case .nonKey: AVDISCARD_NONKEY
                }
        }
    }
    /// The number of packets that could not be decoded completely.
    var damagedPacketCount: Int { context.damagedPacketCount }

    private let context: DecoderContext
    private var lastDuration: Int64 = 0

    init(_ format: TrackFormat, options: Options = Options()) throws(DecodingError) {
        self.format = format
        var note: String?
        context = try unsafe DecoderContext(format) { pointer in
            let threads = DecoderContext.threadCount(
                requested: max(0, options.threadCount),
                width: format.width,
                height: format.height
            )
            unsafe pointer.pointee.thread_count = Int32(clamping: threads)
            unsafe pointer.pointee.max_pixels = options.maximumPixelCount
            unsafe pointer.pointee.has_b_frames = unsafe max(
                pointer.pointee.has_b_frames,
                Int32(clamping: format.reorderDepth)
            )
            if options.prefersHardware { note = unsafe Self.attachHardwareDevice(to: pointer) }
        }
        hardwareFailureReason = note
    }

    /// Returns whether packets of another format can follow without draining the decoder.
    func canContinue(with other: TrackFormat) -> Bool { format.canContinue(with: other) }

    /// Sets the format of the packets that follow.
    ///
    /// Call it only if ``canContinue(with:)`` returns true for the format.
    func switchFormat(to other: TrackFormat) {
        format = other
        let depth = Int32(clamping: other.reorderDepth)
        if unsafe context.pointer.pointee.has_b_frames < depth { unsafe context.pointer.pointee.has_b_frames = depth }
    }

    /// Decodes a packet and returns the frames that are ready, which usually belong to earlier packets.
    func decode(_ packet: MediaPacket) -> [VideoFrame] { decodePacket(packet) }

    /// Returns all buffered frames; more packets may follow, starting with a key frame.
    func drain() -> [VideoFrame] {
        let frames = decodePacket(nil)
        context.flush()
        return frames
    }

    /// Discards all buffered frames, as required after a seek.
    func flush() { context.flush() }

    private func decodePacket(_ packet: MediaPacket?) -> [VideoFrame] {
        var frames: [VideoFrame] = []
        unsafe context.decode(packet) { frame in
            if let frame = unsafe self.makeVideoFrame(from: frame) { frames.append(frame) }
        }
        return frames
    }

    /// Creates a video frame from an FFmpeg frame and takes ownership of it.
    private func makeVideoFrame(from decoded: UnsafeMutablePointer<AVFrame>) -> VideoFrame? {
        let none = cffmpeg_no_timestamp()
        // The presentation timestamp takes precedence: after an invalid timestamp, FFmpeg's best-effort timestamp
        // follows the decoding order.
        var timestamp = unsafe decoded.pointee.pts
        if timestamp == none { timestamp = unsafe decoded.pointee.best_effort_timestamp }
        let duration = unsafe cffmpeg_frame_duration(decoded)
        if duration > 0 { lastDuration = duration }
        let isKeyFrame = unsafe cffmpeg_frame_is_key(decoded) != 0
        var captions: [UInt8] = []
        if let data = unsafe cffmpeg_captions(decoded), let bytes = unsafe data.pointee.data {
            captions = unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(data.pointee.size)))
        }
        guard let frame = unsafe copyToMainMemory(decoded) else { return nil }
        let stored = unsafe PixelBuffer(owning: frame)
        guard stored.width > 0, stored.height > 0, let shown = stored.oriented(format.orientation) else { return nil }
        return VideoFrame(
            time: format.mediaTime(ofTimestamp: timestamp == none ? 0 : timestamp),
            duration: format.mediaTime(ofTimestamp: lastDuration),
            isKeyFrame: isKeyFrame,
            pixelBuffer: shown,
            captionData: captions
        )
    }

    /// Returns the frame itself, or a copy in main memory if the frame is in device memory; takes ownership of the
    /// frame.
    private func copyToMainMemory(_ frame: UnsafeMutablePointer<AVFrame>) -> UnsafeMutablePointer<AVFrame>? {
        usesHardware = unsafe frame.pointee.hw_frames_ctx != nil
        guard usesHardware else { return unsafe frame }
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

    /// Assigns a VA-API device to the decoder.
    ///
    /// - Returns: The reason why no device could be opened; `nil` on success.
    private static func attachHardwareDevice(to pointer: UnsafeMutablePointer<AVCodecContext>) -> String? {
        var device: UnsafeMutablePointer<AVBufferRef>?
        let status = unsafe av_hwdevice_ctx_create(&device, AV_HWDEVICE_TYPE_VAAPI, nil, nil, 0)
        guard status >= 0, let device = unsafe device else {
            return
                "VA-API is not available, so software decoding is used (\(DecodingError(status: status, operation: "opening the device").message))"
        }
        // FFmpeg selects the pixel format of the device if the codec supports it, and software decoding otherwise.
        unsafe pointer.pointee.hw_device_ctx = unsafe device
        return nil
    }
}
