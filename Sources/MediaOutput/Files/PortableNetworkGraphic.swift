import CZlib
public import MediaDecoding
import MediaTiming

/// A picture as a PNG file (ISO/IEC 15948): eight bits a channel, without transparency.
public enum PortableNetworkGraphic {
    /// Encodes a picture.
    ///
    /// - Parameters:
    ///   - picture: In any format; it is converted to RGB first.
    ///   - hasSquarePixels: Whether the width is changed so that the picture looks right where its pixels are not square;
    ///     by default it is, as in a window.
    /// - Returns: The bytes of the file.
    /// - Throws: ``OutputError`` with ``OutputError/Code/notConvertible``.
    public static func encode(_ picture: Picture, hasSquarePixels: Bool = true) throws -> [UInt8] {
        let size = hasSquarePixels ? PictureGeometry.displaySize(of: picture) : PixelSize(picture.width, picture.height)
        let converted: Picture
        do {
            converted = try picture.converted(to: .rgb24, width: size.width, height: size.height)
        } catch {
            throw OutputError(.notConvertible, "A picture could not be converted to RGB: \(error)")
        }
        return try converted.withPlanes { planes in
            guard let plane = planes.first, plane.rows >= size.height, plane.bytesPerRow >= 3 * size.width else {
                throw OutputError(.notConvertible, "A picture was converted to RGB without its pixels")
            }
            return try encode(rgb: plane.bytes, bytesPerRow: plane.bytesPerRow, size)
        }
    }

    /// Encodes rows of red, green and blue.
    static func encode(rgb: UnsafeRawBufferPointer, bytesPerRow: Int, _ size: PixelSize) throws(OutputError) -> [UInt8]
    {
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        // Eight bits, colour type 2 (red, green, blue), the only compression and filter methods, not interlaced.
        append("IHDR", bigEndian(size.width) + bigEndian(size.height) + [8, 2, 0, 0, 0], to: &file)
        append("IDAT", try compressed(filtered(rgb, bytesPerRow, size)), to: &file)
        append("IEND", [], to: &file)
        return file
    }

    /// Each row as its difference to the row above (filter type 2): cheap, and most of the gain on pictures.
    private static func filtered(_ rgb: UnsafeRawBufferPointer, _ bytesPerRow: Int, _ size: PixelSize) -> [UInt8] {
        let width = 3 * size.width
        return [UInt8](unsafeUninitializedCapacity: (width + 1) * size.height) { bytes, count in
            for row in 0..<size.height {
                let out = row * (width + 1)
                let line = row * bytesPerRow
                bytes[out] = row == 0 ? 0 : 2
                if row == 0 {
                    for x in 0..<width { bytes[out + 1 + x] = rgb[x] }
                } else {
                    for x in 0..<width { bytes[out + 1 + x] = rgb[line + x] &- rgb[line - bytesPerRow + x] }
                }
            }
            count = (width + 1) * size.height
        }
    }

    private static func compressed(_ bytes: [UInt8]) throws(OutputError) -> [UInt8] {
        let bound = Int(clamping: compressBound(uLong(clamping: bytes.count)))
        var status = Z_OK
        let result = [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
            var length = uLong(clamping: bound)
            // Level 3: a quarter larger than the best and three times as fast; a player writes many of them.
            status = compress2(buffer.baseAddress, &length, bytes, uLong(clamping: bytes.count), 3)
            count = status == Z_OK ? Int(clamping: length) : 0
        }
        guard status == Z_OK else {
            throw OutputError(.notConvertible, "A picture could not be compressed (\(status))")
        }
        return result
    }

    private static func append(_ type: String, _ data: [UInt8], to file: inout [UInt8]) {
        let body = Array(type.utf8) + data
        file += bigEndian(data.count)
        file += body
        file += bigEndian(Int(clamping: crc32(0, body, uInt(clamping: body.count))))
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
