package import Foundation
import MediaTiming

/// The width and the height that the header of an image declares, in pixels.
package struct ImageDimensions: Sendable, Hashable {
    /// The width; at least 1.
    package let width: Int
    /// The height; at least 1.
    package let height: Int

    /// Creates the dimensions of an image; `nil` if its header is not complete, or declares a width or a height of zero.
    ///
    /// - Parameters:
    ///   - image: The bytes of the image. Only its header is read.
    ///   - format: The format of the image, which its first bytes determine.
    package init?(of image: Data, format: AssetArtwork.Format) {
        let bytes = [UInt8](image)
        let size: (width: Int, height: Int)? =
            switch format {
            case .png: Self.png(bytes)
            case .jpeg: Self.jpeg(bytes)
            case .gif: Self.gif(bytes)
            case .webP: Self.webP(bytes)
            }
        guard let size, size.width > 0, size.height > 0 else { return nil }
        width = size.width
        height = size.height
    }

    /// Reads the chunk `IHDR`, which is the first one (RFC 2083 §4.1.1).
    private static func png(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
        guard bytes.dropFirst(12).starts(with: "IHDR".utf8), let width = integer(bytes, at: 16, count: 4),
            let height = integer(bytes, at: 20, count: 4)
        else { return nil }
        return (width, height)
    }

    /// Reads the logical screen descriptor.
    private static func gif(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
        guard let width = littleInteger(bytes, at: 6, count: 2), let height = littleInteger(bytes, at: 8, count: 2)
        else { return nil }
        return (width, height)
    }

    /// Reads the first chunk: a lossy or lossless image, or the extended header (RFC 9649 §2.5 to §2.7).
    private static func webP(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
        let chunk = bytes.dropFirst(12)
        if chunk.starts(with: "VP8X".utf8) {
            guard let width = littleInteger(bytes, at: 24, count: 3),
                let height = littleInteger(bytes, at: 27, count: 3)
            else { return nil }
            return (width +| 1, height +| 1)
        }
        if chunk.starts(with: "VP8L".utf8) {
            guard bytes.dropFirst(20).first == 0x2F, let bits = littleInteger(bytes, at: 21, count: 4) else {
                return nil
            }
            return ((bits & 0x3FFF) +| 1, ((bits >> 14) & 0x3FFF) +| 1)
        }
        guard chunk.starts(with: "VP8 ".utf8), bytes.dropFirst(23).starts(with: [0x9D, 0x01, 0x2A]),
            let width = littleInteger(bytes, at: 26, count: 2), let height = littleInteger(bytes, at: 28, count: 2)
        else { return nil }
        return (width & 0x3FFF, height & 0x3FFF)
    }

    /// Reads the segments up to the first frame header (ISO/IEC 10918-1 §B.2.2).
    private static func jpeg(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
        var offset = 2
        while let marker = integer(bytes, at: offset, count: 2), marker >= 0xFF00 {
            switch marker & 0xFF {
            case 0xFF:
                // A fill byte before a marker.
                offset +|= 1
            case 0x01, 0xD0...0xD7:
                // Markers without parameters.
                offset +|= 2
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                guard let height = integer(bytes, at: offset +| 5, count: 2),
                    let width = integer(bytes, at: offset +| 7, count: 2)
                else { return nil }
                return (width, height)
            case 0xD9, 0xDA:
                // The image ends, or its data begins, without a frame header.
                return nil
            default:
                guard let length = integer(bytes, at: offset +| 2, count: 2), length >= 2 else { return nil }
                offset +|= length +| 2
            }
        }
        return nil
    }

    /// Returns the number in consecutive bytes, of which the first is the most significant; `nil` beyond the end.
    private static func integer(_ bytes: [UInt8], at offset: Int, count: Int) -> Int? {
        let part = bytes.dropFirst(offset).prefix(count)
        guard part.count == count else { return nil }
        let number: Int = part.reduce(0) { $0 << 8 | Int(clamping: $1) }
        return number
    }

    /// Returns the number in consecutive bytes, of which the first is the least significant; `nil` beyond the end.
    private static func littleInteger(_ bytes: [UInt8], at offset: Int, count: Int) -> Int? {
        let part = bytes.dropFirst(offset).prefix(count)
        guard part.count == count else { return nil }
        let number: Int = part.reversed().reduce(0) { $0 << 8 | Int(clamping: $1) }
        return number
    }
}
