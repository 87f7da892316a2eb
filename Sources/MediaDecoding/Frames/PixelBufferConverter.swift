import CFFmpeg
import MediaTiming

/// A converter that changes the size and pixel format of a series of pictures.
///
/// It reuses the scaler as long as formats and sizes stay the same, because setting one up costs more than converting
/// many pictures. Use it from one thread at a time.
@safe public final class PixelBufferConverter {
    private var context: OpaquePointer?

    /// The tradeoff between accuracy and speed.
    public enum Quality: Sendable, Hashable {
        /// Accurate rounding of every value, for files and comparisons.
        case exact
        /// Bilinear scaling without visible differences in motion, several times as fast, for display in a window.
        case fast
    }

    private let quality: Quality

    /// Creates a converter.
    ///
    /// - Parameter quality: The tradeoff between accuracy and speed. The default is ``Quality/exact``.
    public init(quality: Quality = .exact) {
        self.quality = quality
    }

    deinit { unsafe sws_freeContext(context) }

    /// Returns a copy of a picture in another pixel format or size.
    ///
    /// - Parameters:
    ///   - pixelBuffer: The picture to copy.
    ///   - format: The pixel format of the copy.
    ///   - width: The width of the copy in pixels, from 1 to 16,384. The default is the width of the picture.
    ///   - height: The height of the copy in pixels, from 1 to 16,384. The default is the height of the picture.
    /// - Returns: The copy. RGB output uses the full range. Output in YUV from a format that always uses the full
    ///   range, such as RGB, uses the limited range of video. Any other conversion preserves the range.
    /// - Throws: ``DecodingError`` if the scaler does not support a format, or if a size is out of range.
    public func convert(
        _ pixelBuffer: PixelBuffer,
        to format: PixelFormat,
        width: Int? = nil,
        height: Int? = nil
    ) throws(DecodingError) -> PixelBuffer {
        let (width, height) = (width ?? pixelBuffer.width, height ?? pixelBuffer.height)
        let code = format.ffmpegFormat
        let source = unsafe AVPixelFormat(pixelBuffer.frame.pointee.format)
        guard (1...16_384).contains(width), (1...16_384).contains(height) else {
            throw DecodingError(
                status: .unsupported,
                operation: "a pixel buffer of \(width)x\(height) cannot be created"
            )
        }
        guard code != AV_PIX_FMT_NONE, sws_isSupportedOutput(code) > 0, sws_isSupportedInput(source) > 0 else {
            throw DecodingError(
                status: .unsupported,
                operation: "the pixel format \(pixelBuffer.format) cannot be converted to \(format)"
            )
        }
        unsafe context = unsafe sws_getCachedContext(
            context,
            pixelBuffer.frame.pointee.width,
            pixelBuffer.frame.pointee.height,
            source,
            Int32(clamping: width),
            Int32(clamping: height),
            code,
            quality == .exact ? cffmpeg_scaler_flags() : Int32(SWS_BILINEAR),
            nil,
            nil,
            nil
        )
        guard let context = unsafe context else {
            throw DecodingError(
                status: .unsupported,
                operation: "the scaler does not accept the pixel format \(pixelBuffer.format)"
            )
        }
        let isFullRange = PixelBuffer.hasFullRange(code) || pixelBuffer.isFullRange && !PixelBuffer.hasFullRange(source)
        if let table = unsafe pixelBuffer.colorMatrix.coefficients {
            unsafe sws_setColorspaceDetails(
                context,
                table,
                pixelBuffer.isFullRange ? 1 : 0,
                table,
                isFullRange ? 1 : 0,
                0,
                1 << 16,
                1 << 16
            )
        }
        return try unsafe Self.scale(
            pixelBuffer,
            with: context,
            to: code,
            width: width,
            height: height,
            isFullRange: isFullRange
        )
    }

    private static func scale(
        _ pixelBuffer: PixelBuffer,
        with context: OpaquePointer,
        to code: AVPixelFormat,
        width: Int,
        height: Int,
        isFullRange: Bool
    ) throws(DecodingError) -> PixelBuffer {
        guard let frame = unsafe av_frame_alloc() else { throw .outOfMemory }
        var owned: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe frame.pointee.format = code.rawValue
        unsafe frame.pointee.width = Int32(clamping: width)
        unsafe frame.pointee.height = Int32(clamping: height)
        unsafe frame.pointee.colorspace = unsafe pixelBuffer.frame.pointee.colorspace
        if unsafe frame.pointee.colorspace == AVCOL_SPC_UNSPECIFIED {
            unsafe frame.pointee.colorspace = pixelBuffer.colorMatrix == .bt601 ? AVCOL_SPC_SMPTE170M : AVCOL_SPC_BT709
        }
        unsafe frame.pointee.color_range = isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        unsafe frame.pointee.sample_aspect_ratio = unsafe pixelBuffer.frame.pointee.sample_aspect_ratio
        var status = unsafe av_frame_get_buffer(frame, 0)
        if status >= 0 { status = unsafe sws_scale_frame(context, frame, pixelBuffer.frame) }
        guard status >= 0 else {
            unsafe av_frame_free(&owned)
            throw DecodingError(status: status, operation: "scaling a pixel buffer")
        }
        return unsafe PixelBuffer(owning: frame)
    }
}

extension PixelBuffer {
    /// Returns a copy in another pixel format or size; a ``PixelBufferConverter`` is faster for a series of pictures.
    ///
    /// - Parameters:
    ///   - format: The pixel format of the copy.
    ///   - width: The width of the copy in pixels, from 1 to 16,384. The default is the same width.
    ///   - height: The height of the copy in pixels, from 1 to 16,384. The default is the same height.
    /// - Returns: The copy.
    /// - Throws: ``DecodingError`` if the scaler does not support a format, or if a size is out of range.
    public func converted(
        to format: PixelFormat,
        width: Int? = nil,
        height: Int? = nil
    ) throws(DecodingError) -> PixelBuffer {
        try PixelBufferConverter().convert(self, to: format, width: width, height: height)
    }
}
