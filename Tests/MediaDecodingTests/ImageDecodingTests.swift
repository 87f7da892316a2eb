import Testing

@testable import MediaDecoding

/// Tests the decoding of image files, such as the artwork of media files.
@Suite struct ImageDecodingTests {
    @Test(arguments: ["png", "jpg", "gif"]) func imageFilesAreDecoded(format: String) throws {
        let fixtures = try Fixtures()
        try fixtures.make("-f lavfi -i color=red:s=48x32:d=1 -frames:v 1 a.\(format)")
        let image = try PixelBuffer.decodeImage(try fixtures.bytes("a.\(format)"))
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
}
