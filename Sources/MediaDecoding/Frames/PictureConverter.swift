import CFFmpeg
import MediaTiming

/// A converter that changes the size and pixel format of a series of pictures.
///
/// It reuses the scaler as long as formats and sizes stay the same, because setting one up costs more than converting
/// many pictures. Use it from one thread at a time.
@safe public final class PictureConverter {
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
    ///   - picture: The picture to copy.
    ///   - format: The pixel format of the copy.
    ///   - width: The width of the copy in pixels, from 1 to 16,384. The default is the width of the picture.
    ///   - height: The height of the copy in pixels, from 1 to 16,384. The default is the height of the picture.
    /// - Returns: The copy. RGB output uses the full range. Output in YUV from a format that always uses the full
    ///   range, such as RGB, uses the limited range of video. Any other conversion preserves the range.
    /// - Throws: ``DecodingError`` if the scaler does not support a format, or if a size is out of range.
    public func convert(
        _ picture: Picture,
        to format: PixelFormat,
        width: Int? = nil,
        height: Int? = nil
    ) throws(DecodingError) -> Picture {
        let (width, height) = (width ?? picture.width, height ?? picture.height)
        let code = format.code
        let source = unsafe AVPixelFormat(picture.frame.pointee.format)
        guard (1...16_384).contains(width), (1...16_384).contains(height) else {
            throw DecodingError(.unsupported, "a picture of \(width)x\(height) cannot be made")
        }
        guard code != AV_PIX_FMT_NONE, sws_isSupportedOutput(code) > 0, sws_isSupportedInput(source) > 0 else {
            throw DecodingError(.unsupported, "a picture of \(picture.format) cannot become \(format)")
        }
        unsafe context = unsafe sws_getCachedContext(
            context,
            picture.frame.pointee.width,
            picture.frame.pointee.height,
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
            throw DecodingError(.unsupported, "the scaler refused \(picture.format)")
        }
        let isFullRange = Picture.hasFullRange(code) || picture.isFullRange && !Picture.hasFullRange(source)
        if let table = unsafe picture.colorMatrix.coefficients {
            unsafe sws_setColorspaceDetails(
                context,
                table,
                picture.isFullRange ? 1 : 0,
                table,
                isFullRange ? 1 : 0,
                0,
                1 << 16,
                1 << 16
            )
        }
        return try unsafe Self.scale(
            picture,
            with: context,
            to: code,
            width: width,
            height: height,
            isFullRange: isFullRange
        )
    }

    private static func scale(
        _ picture: Picture,
        with context: OpaquePointer,
        to code: AVPixelFormat,
        width: Int,
        height: Int,
        isFullRange: Bool
    ) throws(DecodingError) -> Picture {
        guard let frame = unsafe av_frame_alloc() else { throw .outOfMemory }
        var owned: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe frame.pointee.format = code.rawValue
        unsafe frame.pointee.width = Int32(clamping: width)
        unsafe frame.pointee.height = Int32(clamping: height)
        unsafe frame.pointee.colorspace = unsafe picture.frame.pointee.colorspace
        if unsafe frame.pointee.colorspace == AVCOL_SPC_UNSPECIFIED {
            unsafe frame.pointee.colorspace = picture.colorMatrix == .bt601 ? AVCOL_SPC_SMPTE170M : AVCOL_SPC_BT709
        }
        unsafe frame.pointee.color_range = isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        unsafe frame.pointee.sample_aspect_ratio = unsafe picture.frame.pointee.sample_aspect_ratio
        var status = unsafe av_frame_get_buffer(frame, 0)
        if status >= 0 { status = unsafe sws_scale_frame(context, frame, picture.frame) }
        guard status >= 0 else {
            unsafe av_frame_free(&owned)
            throw DecodingError(status, "scaling a picture")
        }
        return unsafe Picture(owning: frame)
    }
}

extension Picture {
    /// Returns a copy in another pixel format or size; a ``PictureConverter`` is faster for a series of pictures.
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
    ) throws(DecodingError) -> Picture {
        try PictureConverter().convert(self, to: format, width: width, height: height)
    }
}
