import CZlib
public import MediaDecoding
import MediaTiming

/// An encoder for PNG images (ISO/IEC 15948) with 8 bits per channel and without alpha.
public enum PNGEncoder {
    /// Encodes an image.
    ///
    /// - Parameters:
    ///   - pixelBuffer: The image in any pixel format; it is converted to RGB.
    ///   - hasSquarePixels: A Boolean value that indicates whether to scale the width of an image with non-square
    ///     pixels, so that it has the correct aspect ratio. The default is `true`.
    /// - Returns: The bytes of the file.
    /// - Throws: ``OutputError`` with ``OutputError/Code/notConvertible``.
    public static func encode(_ pixelBuffer: PixelBuffer, hasSquarePixels: Bool = true) throws -> [UInt8] {
        let size =
            hasSquarePixels
            ? VideoGeometry.displaySize(of: pixelBuffer) : PixelSize(pixelBuffer.width, pixelBuffer.height)
        let converted: PixelBuffer
        do {
            converted = try pixelBuffer.converted(to: .rgb24, width: size.width, height: size.height)
        } catch {
            throw OutputError(.notConvertible, "A frame could not be converted to RGB: \(error)")
        }
        return try converted.withPlanes { planes in
            guard let plane = planes.first, plane.height >= size.height, plane.bytesPerRow >= 3 * size.width else {
                throw OutputError(.notConvertible, "The conversion of a frame to RGB returned no pixels")
            }
            return try encode(rgb: plane.bytes, bytesPerRow: plane.bytesPerRow, size)
        }
    }

    /// Encodes rows of packed red, green and blue values.
    static func encode(rgb: UnsafeRawBufferPointer, bytesPerRow: Int, _ size: PixelSize) throws(OutputError) -> [UInt8]
    {
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        // 8 bits per channel, color type 2 (RGB), the only compression and filter methods, not interlaced.
        append("IHDR", bigEndian(size.width) + bigEndian(size.height) + [8, 2, 0, 0, 0], to: &file)
        append("IDAT", try compressed(filtered(rgb, bytesPerRow, size)), to: &file)
        append("IEND", [], to: &file)
        return file
    }

    /// Returns each row as the difference from the row above (filter type 2), which is cheap and yields most of the
    /// possible compression for video frames.
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
            // Level 3 is a quarter larger than the best level and three times as fast; a player may write many frames.
            status = compress2(buffer.baseAddress, &length, bytes, uLong(clamping: bytes.count), 3)
            count = status == Z_OK ? Int(clamping: length) : 0
        }
        guard status == Z_OK else {
            throw OutputError(.notConvertible, "A frame could not be compressed (\(status))")
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
