import CZlib
import MediaDecoding
import PaintedPictures
import Testing

@testable import MediaOutput

@Suite struct PNGEncoderTests {
    @Test func imageRoundTripsPixelForPixel() throws {
        let picture = try PaintedPicture.make(width: 37, height: 21) { x, y in (Double(x) / 36, Double(y) / 20, 0.3) }
        let expected = try picture.converted(to: .rgb24)
        let image = try PNGReader(PNGEncoder.encode(picture))
        #expect(image.width == 37 && image.height == 21)
        let pixels = expected.withPlanes { planes in
            (0..<21).flatMap { row in
                Array(planes[0].bytes[row * planes[0].bytesPerRow..<row * planes[0].bytesPerRow + 111])
            }
        }
        #expect(image.pixels == pixels)
    }

    @Test func nonSquarePixelsAreScaledUnlessDisabled() throws {
        let picture = try PaintedPicture.make(
            width: 72,
            height: 8,
            aspect: PixelAspectRatio(horizontal: 4, vertical: 3)
        ) { _, _ in (1, 0, 0) }
        #expect(try PNGReader(PNGEncoder.encode(picture)).width == 96)
        #expect(try PNGReader(PNGEncoder.encode(picture, hasSquarePixels: false)).width == 72)
    }
}

/// A reader of the PNG files that the encoder writes, which verifies all checksums.
struct PNGReader {
    struct Damaged: Error {}
    var width = 0
    var height = 0
    var pixels: [UInt8] = []

    init(_ file: [UInt8]) throws {
        guard file.prefix(8) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] else { throw Damaged() }
        var at = 8
        var types: [String] = []
        var data: [UInt8] = []
        while at < file.count {
            let length = Self.number(file[at..<at + 4])
            let body = Array(file[at + 4..<at + 8 + length])
            let sum = Self.number(file[at + 8 + length..<at + 12 + length])
            guard Int(crc32(0, body, uInt(body.count))) == sum else { throw Damaged() }
            let type = String(decoding: body.prefix(4), as: UTF8.self)
            types.append(type)
            if type == "IHDR" {
                width = Self.number(body[4..<8])
                height = Self.number(body[8..<12])
                guard body[12...] == [8, 2, 0, 0, 0] else { throw Damaged() }
            }
            if type == "IDAT" { data += body.dropFirst(4) }
            at += 12 + length
        }
        guard types == ["IHDR", "IDAT", "IEND"] else { throw Damaged() }
        try unpack(data)
    }

    private mutating func unpack(_ data: [UInt8]) throws {
        var length = uLong((3 * width + 1) * height)
        var rows = [UInt8](repeating: 0, count: Int(length))
        guard uncompress(&rows, &length, data, uLong(data.count)) == Z_OK, Int(length) == rows.count else {
            throw Damaged()
        }
        for row in 0..<height {
            let line = rows[row * (3 * width + 1)..<(row + 1) * (3 * width + 1)]
            for (x, value) in line.dropFirst().enumerated() {
                let above = line.first == 2 ? pixels[(row - 1) * 3 * width + x] : 0
                pixels.append(value &+ above)
            }
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}
