import CFFmpeg
import MediaTiming

// Safe: the frame is written before it is wrapped and only read from then on; its buffers are counted atomically.
/// The pixels of a decoded video frame: immutable and reference-counted.
@safe public final class PixelBuffer: @unchecked Sendable {
    /// The width of the visible area, in pixels.
    public let width: Int
    /// The height of the visible area, in pixels.
    public let height: Int
    /// The pixel aspect ratio; square if the stream does not declare one.
    public let sampleAspectRatio: PixelAspectRatio
    /// The layout of the pixels in memory.
    public let format: PixelFormat
    /// The matrix that converts the values to red, green and blue.
    public let colorMatrix: ColorMatrix
    /// A Boolean value that indicates whether the values use the full range instead of the limited range of video (16
    /// to 235 for 8-bit luma).
    public let isFullRange: Bool

    let frame: UnsafeMutablePointer<AVFrame>

    /// The approximate memory of the pixels, in bytes.
    var byteCount: Int { unsafe Int(clamping: cffmpeg_frame_size(frame)) }

    /// Creates a picture and takes ownership of an FFmpeg frame, which must be in main memory and have a size.
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

    /// Returns whether a pixel format always uses the full range, regardless of what a frame declares.
    static func hasFullRange(_ code: AVPixelFormat) -> Bool {
        switch code {
        case AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P: return true
        default:
            guard let descriptor = unsafe av_pix_fmt_desc_get(code) else { return false }
            return unsafe descriptor.pointee.flags & UInt64(clamping: AV_PIX_FMT_FLAG_RGB) != 0
        }
    }

    /// Calls `body` with the planes in the order of the format; their bytes are valid only until it returns.
    public func withPlanes<R>(_ body: ([PixelBufferPlane]) throws -> R) rethrows -> R {
        let code = unsafe AVPixelFormat(frame.pointee.format)
        let descriptor = unsafe av_pix_fmt_desc_get(code)
        let shift = unsafe descriptor.map { unsafe Int($0.pointee.log2_chroma_h) } ?? 0
        let count = max(0, Int(av_pix_fmt_count_planes(code)))
        var planes: [PixelBufferPlane] = []
        for index in 0..<min(count, 4) {
            let (base, stride) = unsafe plane(index)
            let visible = Int(av_image_get_linesize(code, Int32(clamping: width), Int32(clamping: index)))
            guard let base = unsafe base, stride > 0, visible > 0 else { continue }
            let rows = index == 1 || index == 2 ? (height + (1 << shift) - 1) >> shift : height
            // The last row may lack padding after its visible bytes.
            let bytes = unsafe UnsafeRawBufferPointer(start: base, count: stride * (rows - 1) + visible)
            unsafe planes.append(
                PixelBufferPlane(bytes: bytes, bytesPerRow: stride, unpaddedBytesPerRow: visible, height: rows)
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

/// A plane of a picture, valid only during the call of ``PixelBuffer/withPlanes(_:)`` that provides it.
@safe public struct PixelBufferPlane {
    /// The rows from top to bottom; bytes after the visible bytes of a row are padding.
    public let bytes: UnsafeRawBufferPointer
    /// The number of bytes from the start of one row to the start of the next.
    public let bytesPerRow: Int
    /// The number of bytes in a row without padding.
    public let unpaddedBytesPerRow: Int
    /// The number of rows.
    public let height: Int
}
