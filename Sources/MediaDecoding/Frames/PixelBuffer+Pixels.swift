import CFFmpeg
import MediaTiming

extension PixelBuffer {
    /// Creates a picture from pixels, for applications that draw frames of their own, and for tests.
    ///
    /// - Parameters:
    ///   - format: The pixel format.
    ///   - width: The width in pixels, from 1 to 16,384.
    ///   - height: The height in pixels, from 1 to 16,384.
    ///   - planes: The bytes of each plane in the order of the format, with rows from top to bottom and no padding.
    ///   - sampleAspectRatio: The pixel aspect ratio. The default is square.
    ///   - colorMatrix: The matrix that converts the values to RGB; ignored for RGB formats.
    ///   - isFullRange: A Boolean value that indicates whether the values use the full range. The default is the
    ///     limited range of video.
    /// - Throws: ``DecodingError`` if the format is unknown, or if the number of bytes does not match the format and
    ///   size.
    public convenience init(
        format: PixelFormat,
        width: Int,
        height: Int,
        planes: [[UInt8]],
        sampleAspectRatio: PixelAspectRatio = .square,
        colorMatrix: ColorMatrix = .bt709,
        isFullRange: Bool = false
    ) throws(DecodingError) {
        guard (1...16_384).contains(width), (1...16_384).contains(height), format.ffmpegFormat != AV_PIX_FMT_NONE else {
            throw DecodingError(
                status: .unsupported,
                operation: "a pixel buffer of \(width)x\(height) in \(format) cannot be created"
            )
        }
        guard let frame = unsafe av_frame_alloc() else { throw .outOfMemory }
        unsafe frame.pointee.format = format.ffmpegFormat.rawValue
        unsafe frame.pointee.width = Int32(clamping: width)
        unsafe frame.pointee.height = Int32(clamping: height)
        unsafe frame.pointee.sample_aspect_ratio = AVRational(
            num: Int32(clamping: sampleAspectRatio.horizontal),
            den: Int32(clamping: sampleAspectRatio.vertical)
        )
        unsafe frame.pointee.colorspace =
            switch colorMatrix {
            case .bt601: AVCOL_SPC_SMPTE170M
            case .bt709: AVCOL_SPC_BT709
            case .bt2020: AVCOL_SPC_BT2020_NCL
            }
        unsafe frame.pointee.color_range = isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        let status = unsafe av_frame_get_buffer(frame, 0)
        unsafe self.init(owning: frame)
        guard status >= 0 else { throw DecodingError(status: status, operation: "creating a pixel buffer") }
        let isComplete = withPlanes { targets in
            guard targets.count == planes.count else { return false }
            for (target, bytes) in zip(targets, planes) {
                guard bytes.count == target.unpaddedBytesPerRow * target.height else { return false }
                // The frame is not shared yet, so its bytes may be written.
                let out = unsafe UnsafeMutableRawBufferPointer(mutating: target.bytes)
                for row in 0..<target.height {
                    let line = bytes[row * target.unpaddedBytesPerRow..<(row + 1) * target.unpaddedBytesPerRow]
                    unsafe UnsafeMutableRawBufferPointer(rebasing: out[(row * target.bytesPerRow)...]).copyBytes(
                        from: line
                    )
                }
            }
            return true
        }
        guard isComplete else {
            throw DecodingError(
                status: .notReadable,
                operation: "the number of bytes does not match \(width)x\(height) pixels in \(format)"
            )
        }
    }
}
