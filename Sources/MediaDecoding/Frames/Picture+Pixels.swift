import CFFmpeg
import MediaTiming

extension Picture {
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
        guard (1...16_384).contains(width), (1...16_384).contains(height), format.code != AV_PIX_FMT_NONE else {
            throw DecodingError(.unsupported, "a picture of \(width)x\(height) in \(format) cannot be made")
        }
        guard let frame = unsafe av_frame_alloc() else { throw .outOfMemory }
        unsafe frame.pointee.format = format.code.rawValue
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
        guard status >= 0 else { throw DecodingError(status, "making a picture") }
        let isComplete = withPlanes { targets in
            guard targets.count == planes.count else { return false }
            for (target, bytes) in zip(targets, planes) {
                guard bytes.count == target.visibleBytesPerRow * target.rows else { return false }
                // The frame is not shared yet, so its bytes may be written.
                let out = unsafe UnsafeMutableRawBufferPointer(mutating: target.bytes)
                for row in 0..<target.rows {
                    let line = bytes[row * target.visibleBytesPerRow..<(row + 1) * target.visibleBytesPerRow]
                    unsafe UnsafeMutableRawBufferPointer(rebasing: out[(row * target.bytesPerRow)...]).copyBytes(
                        from: line
                    )
                }
            }
            return true
        }
        guard isComplete else {
            throw DecodingError(.notReadable, "the bytes do not make a picture of \(width)x\(height) in \(format)")
        }
    }
}
