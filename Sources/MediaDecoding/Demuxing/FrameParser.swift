import CFFmpeg
import MediaTiming

/// A parser that finds the frames of a codec in a byte stream that is split at arbitrary positions, through FFmpeg.
@safe final class FrameParser {
    @safe struct Frame {
        /// The bytes of the frame, valid until the parser continues.
        let bytes: UnsafeRawBufferPointer
        let sampleCount: Int
        let sampleRate: Int
        /// The position of the frame in samples; `nil` if the frame does not declare it.
        let position: Int64?
    }

    private var parser: UnsafeMutablePointer<AVCodecParserContext>
    private var context: UnsafeMutablePointer<AVCodecContext>

    init(_ codec: AVCodecID) throws(DecodingError) {
        _ = FFmpegLibrary.isLoggingDisabled
        guard let parser = unsafe av_parser_init(Int32(clamping: codec.rawValue)) else {
            throw DecodingError(status: .unsupported, operation: "FFmpeg has no parser for the codec")
        }
        guard let context = unsafe avcodec_alloc_context3(avcodec_find_decoder(codec)) else {
            unsafe av_parser_close(parser)
            throw .outOfMemory
        }
        unsafe self.parser = unsafe parser
        unsafe self.context = unsafe context
    }

    deinit {
        unsafe av_parser_close(parser)
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe context
        unsafe avcodec_free_context(&context)
    }

    /// Calls `body` with each complete frame until it returns `false`; `nil` instead of bytes marks the end of the
    /// stream.
    func forEachFrame(in bytes: UnsafeRawBufferPointer?, _ body: (Frame) -> Bool) {
        // Parsers read a few bytes beyond the end of their input.
        let padding = Int(AV_INPUT_BUFFER_PADDING_SIZE)
        let segment = 65_536
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: segment + padding, alignment: 16)
        defer { unsafe buffer.deallocate() }
        guard let bytes = unsafe bytes else {
            unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
            // Buffered frames are returned one per call.
            for _ in 0..<64 {
                let (_, frame) = unsafe parseNext(buffer, count: 0)
                guard let frame, body(frame) else { return }
            }
            return
        }
        var offset = 0
        while offset < bytes.count {
            let count = min(segment, bytes.count - offset)
            unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
            for index in count..<count + padding { unsafe buffer[index] = 0 }
            var used = 0
            var idle = 0
            while used < count {
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[used...])
                let (taken, frame) = unsafe parseNext(rest, count: count - used)
                used += taken
                if let frame, !body(frame) { return }
                idle = taken == 0 ? idle + 1 : 0
                // A parser may return a buffered frame without consuming input, but not indefinitely.
                if idle > 64 { return }
            }
            offset += count
        }
    }

    private func parseNext(_ buffer: UnsafeMutableRawBufferPointer, count: Int) -> (taken: Int, frame: Frame?) {
        var data: UnsafeMutablePointer<UInt8>?
        var length: Int32 = 0
        let none = cffmpeg_no_timestamp()
        let taken = unsafe av_parser_parse2(
            parser,
            context,
            &data,
            &length,
            buffer.bindMemory(to: UInt8.self).baseAddress,
            Int32(clamping: count),
            none,
            none,
            0
        )
        guard taken >= 0 else { return (count, nil) }
        guard let data = unsafe data, length > 0 else { return (Int(taken), nil) }
        let frame = unsafe Frame(
            bytes: UnsafeRawBufferPointer(start: data, count: Int(length)),
            sampleCount: Int(max(0, parser.pointee.duration)),
            sampleRate: Int(context.pointee.sample_rate),
            position: parser.pointee.pts == none ? nil : parser.pointee.pts
        )
        return (Int(taken), frame)
    }
}
