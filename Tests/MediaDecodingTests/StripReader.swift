@testable import MediaDecoding

/// Reads the strip that `Scripts/make-samples` draws into each frame: 20 cells, of which the first is white and the
/// second black, followed by the frame number in 14 bits, the index of the variant in 3 bits, and the parity of these
/// 17 bits.
enum StripReader {
    struct Reading: Hashable {
        let frame: Int
        let variant: Int
    }

    /// Returns the values in the strip of a frame, or `nil` if it has no readable strip.
    static func read(_ pixelBuffer: PixelBuffer) -> Reading? {
        guard pixelBuffer.width >= 20, pixelBuffer.height >= 12 else { return nil }
        let cells = pixelBuffer.withPlanes { planes -> [Bool]? in
            guard let plane = planes.first, plane.unpaddedBytesPerRow >= pixelBuffer.width else { return nil }
            let row = (pixelBuffer.height + 6) / 12 / 2
            let width = plane.unpaddedBytesPerRow / pixelBuffer.width
            return (0..<20).map { cell in
                let column = (cell * 2 + 1) * pixelBuffer.width / 40
                // Of two bytes, the second is the most significant one.
                return plane.bytes[row * plane.bytesPerRow + column * width + width - 1] > (width == 1 ? 126 : 1)
            }
        }
        guard let cells, cells[0], !cells[1] else { return nil }
        func number(_ range: Range<Int>) -> Int { range.reduce(0) { $0 << 1 | (cells[$1] ? 1 : 0) } }
        let ones = cells[2..<19].count { $0 }
        guard (ones % 2 == 1) == cells[19] else { return nil }
        return Reading(frame: number(2..<16), variant: number(16..<19))
    }
}
