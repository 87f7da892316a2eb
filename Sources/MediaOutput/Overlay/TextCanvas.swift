import CASS
import MediaTiming

/// A pixel buffer into which colored alpha masks are blended.
struct TextCanvas {
    private let width: Int
    private let height: Int
    /// Blue, green, red and alpha values; colors are premultiplied with alpha.
    private var bytes: [UInt8]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        bytes = [UInt8](repeating: 0, count: width * height * 4)
    }

    // Bounded: products of two bytes, and sums of two of them, fit in 32 bits; divided by 255, they fit in a byte.
    /// Blends an alpha mask of libass over the existing pixels.
    mutating func blend(_ image: ASS_Image, atX x: Int, y: Int) {
        let (columns, rows, stride) = (Int(image.w), Int(image.h), Int(image.stride))
        guard let stencil = image.bitmap, columns > 0, rows > 0, x >= 0, y >= 0, x + columns <= width,
            y + rows <= height
        else { return }
        // The order is red, green, blue and transparency.
        let opacity = 255 - (image.color & 0xFF)
        let (red, green, blue) = ((image.color >> 24) & 0xFF, (image.color >> 16) & 0xFF, (image.color >> 8) & 0xFF)
        bytes.withUnsafeMutableBufferPointer { pixels in
            for row in 0..<rows {
                var at = ((y + row) * width + x) * 4
                for column in 0..<columns {
                    let mask = UInt32(stencil[row * stride + column])
                    if mask != 0 {
                        let cover = Self.dividedBy255(mask * opacity)
                        let rest = 255 - cover
                        pixels[at] = UInt8(Self.dividedBy255(blue * cover + UInt32(pixels[at]) * rest))
                        pixels[at + 1] = UInt8(Self.dividedBy255(green * cover + UInt32(pixels[at + 1]) * rest))
                        pixels[at + 2] = UInt8(Self.dividedBy255(red * cover + UInt32(pixels[at + 2]) * rest))
                        pixels[at + 3] = UInt8(Self.dividedBy255(255 * cover + UInt32(pixels[at + 3]) * rest))
                    }
                    at += 4
                }
            }
        }
    }

    /// The rows from the first to the last one with visible pixels; `nil` if there are none.
    var visibleRows: Range<Int>? {
        func isInked(_ row: Int) -> Bool {
            stride(from: row * width * 4 + 3, to: (row + 1) * width * 4, by: 4).contains { bytes[$0] != 0 }
        }
        guard let first = (0..<height).first(where: isInked), let last = (0..<height).last(where: isInked) else {
            return nil
        }
        return first..<last + 1
    }

    /// Returns some rows with straight instead of premultiplied alpha, which all SDL renderers support.
    consuming func straightAlphaRows(_ rows: Range<Int>) -> [UInt8] {
        var result = Array(bytes[rows.lowerBound * width * 4..<rows.upperBound * width * 4])
        result.withUnsafeMutableBufferPointer { pixels in
            for at in stride(from: 0, to: pixels.count, by: 4) {
                let opacity = UInt32(pixels[at + 3])
                guard opacity != 0, opacity != 255 else { continue }
                // Bounded: a byte times 255 fits in 32 bits, and the divisor is not zero.
                for channel in at..<at + 3 {
                    pixels[channel] = UInt8(min(255, (UInt32(pixels[channel]) * 255 + opacity / 2) / opacity))
                }
            }
        }
        return result
    }

    // Bounded: the product of two bytes fits in 32 bits.
    /// Returns a product of two bytes divided by 255, rounded.
    private static func dividedBy255(_ product: UInt32) -> UInt32 { (product + 127) / 255 }
}
