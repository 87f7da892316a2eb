import CFFmpeg
import MediaTiming

// Safe: the frame is written before it is wrapped and only read from then on; its buffers are counted atomically.
/// Pixels of a decoded picture: shared, counted, never changed.
@safe public final class Picture: @unchecked Sendable {
    /// The width of the visible pixels.
    public let width: Int
    /// The height of the visible pixels.
    public let height: Int
    /// How wide a pixel is to how high; square where the stream does not say.
    public let sampleAspectRatio: PixelAspectRatio
    /// How the pixels lie in memory.
    public let format: PixelFormat
    /// How they become red, green and blue.
    public let colorMatrix: ColorMatrix
    /// Whether values use all of their range, as those of computers do, and not only the one of television.
    public let isFullRange: Bool

    let frame: UnsafeMutablePointer<AVFrame>

    /// About how much memory the pixels take, in bytes.
    var byteCount: Int { unsafe Int(clamping: cffmpeg_frame_size(frame)) }

    /// Takes a frame over, which lies in main memory and has a size.
    init(owning frame: UnsafeMutablePointer<AVFrame>) {
        unsafe self.frame = unsafe frame
        let code = unsafe AVPixelFormat(frame.pointee.format)
        width = unsafe Int(frame.pointee.width)
        height = unsafe Int(frame.pointee.height)
        let ratio = unsafe frame.pointee.sample_aspect_ratio
        sampleAspectRatio = PixelAspectRatio(horizontal: Int(ratio.num), vertical: Int(ratio.den))
        format = PixelFormat(code)
        colorMatrix = unsafe ColorMatrix(frame.pointee.colorspace, height: height)
        isFullRange = unsafe frame.pointee.color_range == AVCOL_RANGE_JPEG || Self.hasFullRange(code)
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe av_frame_free(&frame)
    }

    /// Formats whose values use all of their range whatever a frame says.
    static func hasFullRange(_ code: AVPixelFormat) -> Bool {
        switch code {
        case AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P: return true
        default:
            guard let descriptor = unsafe av_pix_fmt_desc_get(code) else { return false }
            return unsafe descriptor.pointee.flags & UInt64(clamping: AV_PIX_FMT_FLAG_RGB) != 0
        }
    }

    /// Gives the planes, in the order of the format, for as long as `body` runs.
    public func withPlanes<R>(_ body: ([PicturePlane]) throws -> R) rethrows -> R {
        let code = unsafe AVPixelFormat(frame.pointee.format)
        let descriptor = unsafe av_pix_fmt_desc_get(code)
        let shift = unsafe descriptor.map { unsafe Int($0.pointee.log2_chroma_h) } ?? 0
        let count = max(0, Int(av_pix_fmt_count_planes(code)))
        var planes: [PicturePlane] = []
        for index in 0..<min(count, 4) {
            let (base, stride) = unsafe plane(index)
            let visible = Int(av_image_get_linesize(code, Int32(clamping: width), Int32(clamping: index)))
            guard let base = unsafe base, stride > 0, visible > 0 else { continue }
            let rows = index == 1 || index == 2 ? (height + (1 << shift) - 1) >> shift : height
            // The last row may end with its visible bytes.
            let bytes = unsafe UnsafeRawBufferPointer(start: base, count: stride * (rows - 1) + visible)
            unsafe planes.append(
                PicturePlane(bytes: bytes, bytesPerRow: stride, visibleBytesPerRow: visible, rows: rows)
            )
        }
        return try withExtendedLifetime(self) { try body(planes) }
    }

    private func plane(_ index: Int) -> (UnsafeMutablePointer<UInt8>?, Int) {
        let (data, sizes) = unsafe (frame.pointee.data, frame.pointee.linesize)
        switch index {
        case 0: return unsafe (data.0, Int(sizes.0))
        case 1: return unsafe (data.1, Int(sizes.1))
        case 2: return unsafe (data.2, Int(sizes.2))
        default: return unsafe (data.3, Int(sizes.3))
        }
    }
}

/// A plane of a picture, readable as long as the call that gave it runs.
@safe public struct PicturePlane {
    /// The rows, from the top; behind the visible bytes of a row lie bytes that mean nothing.
    public let bytes: UnsafeRawBufferPointer
    /// From the start of a row to the start of the next.
    public let bytesPerRow: Int
    /// How many bytes of a row are seen.
    public let visibleBytesPerRow: Int
    /// How many rows there are.
    public let rows: Int
}
