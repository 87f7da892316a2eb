import CFFmpeg
import MediaTiming

extension Picture {
    /// Makes a picture of pixels: for applications that draw their own, and for tests.
    ///
    /// - Parameters:
    ///   - format: How the pixels lie.
    ///   - width: 1 to 16,384.
    ///   - height: 1 to 16,384.
    ///   - planes: The bytes of each plane in the order of the format, row after row from the top without padding.
    ///   - sampleAspectRatio: How wide a pixel is to how high; square by default.
    ///   - colorMatrix: How brightness and colour differences become colours; of no meaning for red, green and blue.
    ///   - isFullRange: Whether values use all of their range; by default only that of television.
    /// - Throws: ``DecodingError`` where the format is not known, or the bytes are fewer or more than it needs.
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
                // Nobody else has the frame yet.
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
