public import MediaDecoding

/// Creates computed video frames for tests that know their expected contents.
public enum PaintedPicture {
    /// Creates a frame with halved chroma resolution and 8 bits per value.
    ///
    /// - Parameters:
    ///   - width: The width in pixels.
    ///   - height: The height in pixels.
    ///   - matrix: The matrix that converts colors to luma and chroma.
    ///   - isFullRange: A Boolean value that indicates whether values use their full range.
    ///   - aspect: The aspect ratio of a pixel.
    ///   - color: A function that returns the red, green and blue of the pixel at a column and row, from 0 to 1.
    /// - Returns: The frame.
    /// - Throws: The error of a frame that cannot be created.
    public static func make(
        width: Int,
        height: Int,
        matrix: ColorMatrix = .bt709,
        isFullRange: Bool = false,
        aspect: PixelAspectRatio = .square,
        _ color: (Int, Int) -> (Double, Double, Double)
    ) throws -> PixelBuffer {
        let (red, blue) = coefficients(matrix)
        let (lumaScale, chromaScale, base) = isFullRange ? (255.0, 255.0, 0.0) : (219, 224, 16)
        let chromaWidth = (width + 1) / 2
        let chromaHeight = (height + 1) / 2
        var luma = [UInt8](repeating: 0, count: width * height)
        var blueness = [UInt8](repeating: 0, count: chromaWidth * chromaHeight)
        var redness = blueness
        for y in 0..<height {
            for x in 0..<width {
                let (r, g, b) = color(x, y)
                let light = red * r + (1 - red - blue) * g + blue * b
                luma[y * width + x] = byte(base + lumaScale * light)
                guard x % 2 == 0, y % 2 == 0 else { continue }
                let at = y / 2 * chromaWidth + x / 2
                blueness[at] = byte(128 + chromaScale * (b - light) / (2 * (1 - blue)))
                redness[at] = byte(128 + chromaScale * (r - light) / (2 * (1 - red)))
            }
        }
        return try PixelBuffer(
            format: .yuv420p,
            width: width,
            height: height,
            planes: [luma, blueness, redness],
            sampleAspectRatio: aspect,
            colorMatrix: matrix,
            isFullRange: isFullRange
        )
    }

    private static func byte(_ value: Double) -> UInt8 { UInt8(max(0, min(255, value.rounded()))) }

    /// Returns the coefficients of red and blue in luma (ITU-R BT.601, BT.709, BT.2020).
    private static func coefficients(_ matrix: ColorMatrix) -> (Double, Double) {
        switch matrix {
        case .bt601: (0.299, 0.114)
        case .bt709: (0.2126, 0.0722)
        case .bt2020: (0.2627, 0.0593)
        }
    }
}
