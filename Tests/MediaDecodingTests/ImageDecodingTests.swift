import Foundation
import Testing

@testable import MediaDecoding

/// Tests the decoding of image files, such as the artwork of media files.
@Suite struct ImageDecodingTests {
    @Test(arguments: ["png", "jpg", "gif"]) func imageFilesAreDecoded(format: String) throws {
        let fixtures = try Fixtures()
        try fixtures.make("-f lavfi -i color=red:s=48x32:d=1 -frames:v 1 a.\(format)")
        try expectRed(PixelBuffer.decodeImage(fixtures.bytes("a.\(format)")))
    }

    /// Expects that an image has 48×32 red pixels.
    private func expectRed(_ image: PixelBuffer) throws {
        #expect(image.width == 48 && image.height == 32)
        let pixel = try image.converted(to: .rgb24).withPlanes { planes in
            planes.first.map { [UInt8]($0.bytes.prefix(3)) } ?? []
        }
        try #require(pixel.count == 3)
        #expect(pixel[0] > 240 && pixel[1] < 16 && pixel[2] < 16, "\(pixel)")
    }

    @Test func otherFilesAndDamagedImagesAreRejected() throws {
        let fixtures = try Fixtures()
        try fixtures.make("-f lavfi -i color=red:s=48x32:d=1 -frames:v 1 a.png")
        let image = try fixtures.bytes("a.png")
        for bytes in [[], Array("no image".utf8), Array(image.prefix(40))] {
            #expect(throws: DecodingError.self) { try PixelBuffer.decodeImage(bytes) }
        }
    }

    /// Lossy WebP of 48×32 red pixels.
    private static let webP = """
        UklGRk4AAABXRUJQVlA4IEIAAABQAwCdASowACAAPpFGnkslo6KhpWgAsBIJZwDO3oAAK/fDcAD+7tPf/2LOWwLx//7nA/7nA/7nA/jbB+29aoAAAAA=
        """

    /// WebP of a red and a blue frame of 16×16 pixels.
    private static let animatedWebP = """
        UklGRsAAAABXRUJQVlA4WAoAAAACAAAADwAADwAAQU5JTQYAAAD/////AABBTk1GSAAAAAAAAAAAAA8AAA8AAOgDAAJWUDggMAAAANABAJ0BKhAAEAACADQl\
        oAJ0ugH4AAOwAP7w6Pf/ILlhdcjX/yA/5Af8gP/48gAAAEFOTUZEAAAAAAAAAAAADwAADwAA6AMAAFZQOCAsAAAAlAEAnQEqEAAQAAAANCWgAnS6AAOYAP75\
        k2//kB//kB//kB//ID/iF3sgMAA=
        """

    @Test func webPImagesAreDecoded() throws {
        try expectRed(PixelBuffer.decodeImage([UInt8](#require(Data(base64Encoded: Self.webP)))))
    }

    @Test(arguments: ["gif", "apng"]) func firstImageOfAnAnimationIsDecoded(format: String) throws {
        let fixtures = try Fixtures()
        let colors = ["red", "blue"].map { "-f lavfi -i color=\($0):s=48x32:r=2:d=1" }.joined(separator: " ")
        try fixtures.make("\(colors) -filter_complex [0][1]concat=n=2:v=1 -f \(format) a")
        try expectRed(PixelBuffer.decodeImage(fixtures.bytes("a")))
    }

    @Test func animatedWebPIsRejected() throws {
        let image = try [UInt8](#require(Data(base64Encoded: Self.animatedWebP)))
        #expect(throws: DecodingError.self) { try PixelBuffer.decodeImage(image) }
    }

    /// Images of 17 million pixels, which decoders of video accept.
    @Test(arguments: ["png", "jpg", "gif"]) func imagesWithTooManyPixelsAreRejected(format: String) throws {
        let fixtures = try Fixtures()
        try fixtures.make("-f lavfi -i color=red:s=4160x4096:d=1 -frames:v 1 a.\(format)")
        let image = try fixtures.bytes("a.\(format)")
        #expect(throws: DecodingError.self) { try PixelBuffer.decodeImage(image) }
    }

    /// A file of few bytes can declare many pixels.
    @Test func webPImagesThatDeclareTooManyPixelsAreRejected() throws {
        var image = try [UInt8](#require(Data(base64Encoded: Self.webP)))
        // The width and the height in the frame header: 5000×4000.
        image.replaceSubrange(26..<30, with: [0x88, 0x13, 0xA0, 0x0F])
        #expect(throws: DecodingError.self) { try PixelBuffer.decodeImage(image) }
    }

    /// Each scan of a JPEG takes as long as the image.
    @Test func imagesWithTooManyScansAreRejected() throws {
        let fixtures = try Fixtures()
        try fixtures.make("-f lavfi -i color=red:s=48x32:d=1 -frames:v 1 a.jpg")
        let image = try fixtures.bytes("a.jpg")
        let start = try #require(image.indices.dropLast().first { image[$0] == 0xFF && image[$0 + 1] == 0xDA })
        func repeated(_ count: Int) -> [UInt8] {
            var result = Array(image[..<start])
            for _ in 0..<count { result += image[start..<(image.count - 2)] }
            return result + image.suffix(2)
        }
        try expectRed(PixelBuffer.decodeImage(repeated(100)))
        #expect(throws: DecodingError.self) { try PixelBuffer.decodeImage(repeated(101)) }
    }

    @Test func compressedMetadataOfAPNGIsRemoved() throws {
        let fixtures = try Fixtures()
        try fixtures.make("-f lavfi -i color=red:s=48x32:d=1 -frames:v 1 a.png")
        let image = try fixtures.bytes("a.png")
        var other = image
        for type in ["zTXt", "iTXt", "iCCP"] {
            // After the signature and the header; the checksum is not verified.
            other.insert(contentsOf: [0, 0, 0, 4] + Array(type.utf8) + [UInt8](repeating: 7, count: 8), at: 33)
        }
        #expect(PixelBuffer.removingCompressedMetadata(other) == image)
        #expect(PixelBuffer.removingCompressedMetadata(image) == image)
        // A chunk that is not complete.
        let damaged = Array(image.prefix(50))
        #expect(PixelBuffer.removingCompressedMetadata(damaged) == damaged)
        try expectRed(PixelBuffer.decodeImage(other))
    }
}
