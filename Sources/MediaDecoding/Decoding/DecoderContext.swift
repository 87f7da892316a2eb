import CFFmpeg
import MediaTiming

/// An open FFmpeg decoder with limits on frame size and memory.
@safe final class DecoderContext {
    let pointer: UnsafeMutablePointer<AVCodecContext>
    /// The number of packets that could not be decoded completely.
    private(set) var damagedPacketCount = 0

    /// The maximum number of pixels in a frame: 8192×4320, as in level 6.2 of H.264 and HEVC.
    ///
    /// A header that declares a larger frame is treated as damaged.
    static let maximumPixelCount: Int64 = 8_192 * 4_320
    /// The maximum memory of all frames that a decoder holds, in bytes: 19 frames of 8192×4320 with 8 bits per sample,
    /// or 9 with 10 bits.
    static let maximumFrameSize: Int64 = 1 << 30
    /// The maximum number of samples per channel in an audio frame.
    ///
    /// FLAC has up to 65,536; the other supported codecs have fewer.
    static let maximumSampleCount: Int64 = 1 << 20
    /// Returns the number of threads that may decode a frame size, from 1 to `asked`.
    ///
    /// The number is limited because each thread holds a frame.
    static func threadCount(requested asked: Int, width: Int, height: Int) -> Int {
        let pixels = Int64(max(1, width)).multipliedReportingOverflow(by: Int64(max(1, height)))
        guard !pixels.overflow else { return 1 }
        // Three bytes per pixel, as for 4:2:0 with 10 bits. Half of the budget remains for reference frames.
        let fitting = (maximumFrameSize / 2).dividedSaturated(by: min(pixels.partialValue, maximumPixelCount) *| 3)
        return max(1, min(asked, Int(clamping: fitting)))
    }

    private let budget: UnsafeMutablePointer<cffmpeg_frame_budget>

    init(
        _ format: TrackFormat,
        configure: (UnsafeMutablePointer<AVCodecContext>) -> Void
    ) throws(DecodingError) {
        _ = FFmpegLibrary.isLoggingDisabled
        guard let codec = unsafe avcodec_find_decoder(format.parameters.codec) else {
            throw DecodingError(status: .unsupported, operation: "FFmpeg has no decoder for \(format.codec)")
        }
        guard let pointer = unsafe avcodec_alloc_context3(codec) else { throw .outOfMemory }
        guard let budget = unsafe cffmpeg_limit_frames(pointer, Self.maximumFrameSize) else {
            var unused: UnsafeMutablePointer<AVCodecContext>? = unsafe pointer
            unsafe avcodec_free_context(&unused)
            throw .outOfMemory
        }
        unsafe self.pointer = unsafe pointer
        unsafe self.budget = unsafe budget
        var status = unsafe avcodec_parameters_to_context(pointer, format.parameters.pointer)
        unsafe pointer.pointee.pkt_timebase = format.timeBase
        unsafe pointer.pointee.max_pixels = Self.maximumPixelCount
        unsafe pointer.pointee.max_samples = Self.maximumSampleCount
        unsafe configure(pointer)
        if status >= 0 { status = unsafe avcodec_open2(pointer, codec, nil) }
        guard status >= 0 else {
            throw DecodingError(status: status, operation: "opening the decoder for \(format.codec)")
        }
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVCodecContext>? = unsafe pointer
        unsafe avcodec_free_context(&pointer)
        unsafe cffmpeg_frame_budget_release(budget)
    }

    /// The memory of the frames that the decoder holds, in bytes.
    var frameBytes: Int64 { unsafe cffmpeg_frame_budget_used(budget) }

    /// Sends a packet to the decoder, or the end of the stream if it is `nil`, and calls `take` with each frame that is
    /// ready.
    ///
    /// `take` receives ownership of the frame.
    func decode(_ packet: MediaPacket?, onFrame take: (UnsafeMutablePointer<AVFrame>) -> Void) {
        // A decoder that rejects a packet accepts it after all of its frames have been received.
        for _ in 0..<2 {
            let status = unsafe avcodec_send_packet(pointer, packet?.pointer)
            unsafe receiveFrames(take)
            if status == cffmpeg_error_again() { continue }
            if status < 0, packet != nil { damagedPacketCount += 1 }
            return
        }
    }

    private func receiveFrames(_ take: (UnsafeMutablePointer<AVFrame>) -> Void) {
        var failures = 0
        while failures < 64 {
            guard let frame = unsafe av_frame_alloc() else { return }
            let status = unsafe avcodec_receive_frame(pointer, frame)
            if status >= 0 {
                // Frames that the application holds do not count toward the memory limit of the decoder.
                unsafe av_buffer_unref(&frame.pointee.opaque_ref)
                unsafe take(frame)
                continue
            }
            var unused: UnsafeMutablePointer<AVFrame>? = unsafe frame
            unsafe av_frame_free(&unused)
            if status == cffmpeg_error_again() || status == cffmpeg_error_end() { return }
            damagedPacketCount += 1
            failures += 1
        }
    }

    func flush() { unsafe avcodec_flush_buffers(pointer) }
}
