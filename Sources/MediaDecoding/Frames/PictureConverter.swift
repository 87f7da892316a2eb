import CFFmpeg
import MediaTiming

/// Scales pictures and changes their format, one after the other.
///
/// It keeps what the scaler computes for a pair of formats and sizes, which costs more than many pictures do. One thread
/// uses it at a time.
@safe public final class PictureConverter {
    private var context: OpaquePointer?

    /// How well it scales, and how fast.
    public enum Quality: Sendable, Hashable {
        /// Every value rounded right: for files and comparisons.
        case exact
        /// As good as an eye can tell in motion, and several times as fast: for a window.
        case fast
    }

    private let quality: Quality

    /// Makes a converter.
    ///
    /// - Parameter quality: How well it scales; exactly by default.
    public init(quality: Quality = .exact) {
        self.quality = quality
    }

    deinit { unsafe sws_freeContext(context) }

    /// Makes a copy of a picture in another format or size.
    ///
    /// - Parameters:
    ///   - picture: What to copy.
    ///   - format: The format of the copy.
    ///   - width: Its width, 1 to 16,384; that of the picture by default.
    ///   - height: Its height, 1 to 16,384; that of the picture by default.
    /// - Returns: The copy; red, green and blue come out in full range, brightness and colour made of them in that of
    ///   television, and everything else in the range it had.
    /// - Throws: ``DecodingError`` where the scaler does not know a format, or a size is out of range.
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
    /// Makes a copy in another format or size; for more than a few pictures a ``PictureConverter`` is faster.
    ///
    /// - Parameters:
    ///   - format: The format of the copy.
    ///   - width: Its width, 1 to 16,384; the same by default.
    ///   - height: Its height, 1 to 16,384; the same by default.
    /// - Returns: The copy.
    /// - Throws: ``DecodingError`` where the scaler does not know a format, or a size is out of range.
    public func converted(
        to format: PixelFormat,
        width: Int? = nil,
        height: Int? = nil
    ) throws(DecodingError) -> Picture {
        try PictureConverter().convert(self, to: format, width: width, height: height)
    }
}
