public import MediaDecoding

/// Pictures that are computed, for tests that know what they must look like.
public enum PaintedPicture {
    /// Paints a picture with halved chroma, 8 bits a value.
    ///
    /// - Parameters:
    ///   - width: In pixels.
    ///   - height: In pixels.
    ///   - matrix: How colours become brightness and differences.
    ///   - isFullRange: Whether values use all of their range.
    ///   - aspect: How wide a pixel is to how high.
    ///   - color: Red, green and blue of a pixel, from 0 to 1.
    /// - Returns: The picture.
    /// - Throws: What making a picture throws.
    public static func make(
        width: Int,
        height: Int,
        matrix: ColorMatrix = .bt709,
        isFullRange: Bool = false,
        aspect: PixelAspectRatio = .square,
        _ color: (Int, Int) -> (Double, Double, Double)
    ) throws -> Picture {
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
        return try Picture(
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

    /// The shares of red and blue in brightness (ITU-R BT.601, BT.709, BT.2020).
    private static func coefficients(_ matrix: ColorMatrix) -> (Double, Double) {
        switch matrix {
        case .bt601: (0.299, 0.114)
        case .bt709: (0.2126, 0.0722)
        case .bt2020: (0.2627, 0.0593)
        }
    }
}
