import CFFmpeg

/// An opened decoder of FFmpeg.
final class DecoderContext {
    let pointer: UnsafeMutablePointer<AVCodecContext>
    /// Packets that could not be decoded, or only in part.
    private(set) var damagedPacketCount = 0

    /// Pictures larger than this are damaged headers.
    private static let mostPixels: Int64 = 1 << 27

    init(
        _ format: TrackFormat,
        configure: (UnsafeMutablePointer<AVCodecContext>) -> Void
    ) throws(DecodingError) {
        _ = FFmpegLibrary.isQuiet
        guard let codec = avcodec_find_decoder(format.parameters.codec) else {
            throw DecodingError(.unsupported, "FFmpeg has no decoder for \(format.codec)")
        }
        guard let pointer = avcodec_alloc_context3(codec) else { throw .outOfMemory }
        self.pointer = pointer
        var status = avcodec_parameters_to_context(pointer, format.parameters.pointer)
        pointer.pointee.pkt_timebase = format.timeBase
        pointer.pointee.max_pixels = Self.mostPixels
        configure(pointer)
        if status >= 0 { status = avcodec_open2(pointer, codec, nil) }
        guard status >= 0 else { throw DecodingError(status, "opening the decoder of \(format.codec)") }
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVCodecContext>? = pointer
        avcodec_free_context(&pointer)
    }

    /// Gives a packet, or the end where there is none, and takes all frames that are ready.
    func decode(_ packet: MediaPacket?, _ take: (UnsafeMutablePointer<AVFrame>) -> Void) {
        // A decoder takes a packet at the latest after all of its frames are taken.
        for _ in 0..<2 {
            let status = avcodec_send_packet(pointer, packet?.pointer)
            receive(take)
            if status == cffmpeg_error_again() { continue }
            if status < 0, packet != nil { damagedPacketCount += 1 }
            return
        }
    }

    private func receive(_ take: (UnsafeMutablePointer<AVFrame>) -> Void) {
        var failures = 0
        while failures < 64 {
            guard let frame = av_frame_alloc() else { return }
            let status = avcodec_receive_frame(pointer, frame)
            if status >= 0 {
                take(frame)
                continue
            }
            var unused: UnsafeMutablePointer<AVFrame>? = frame
            av_frame_free(&unused)
            if status == cffmpeg_error_again() || status == cffmpeg_error_end() { return }
            damagedPacketCount += 1
            failures += 1
        }
    }

    func flush() { avcodec_flush_buffers(pointer) }
}
