import Foundation
import Testing

@testable import AssetStorage

/// Tests the dimensions of images with more than a byte for each.
@Suite struct ImageDimensionsEdgeTests {
    private func size(_ bytes: [UInt8], _ format: AssetArtwork.Format) -> [Int]? {
        ImageDimensions(of: Data(bytes), format: format).map { [$0.width, $0.height] }
    }

    private static func image(_ start: String, _ rest: [UInt8]) -> [UInt8] { Array(start.utf8) + rest }

    @Test(
        arguments: [
            (.png, Self.image("........0000IHDR", [0, 1, 0, 2, 0, 0, 1, 3]), [65_538, 259]),
            (.jpeg, [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 2, 1, 4, 3], [1_027, 513]),
            (.gif, Self.image("GIF89a", [1, 2, 3, 4]), [513, 1_027]),
            (.webP, Self.image("RIFF0000WEBPVP8X0000", [0, 0, 0, 0, 1, 2, 0, 3, 0, 1]), [514, 65_540]),
            (.webP, Self.image("RIFF0000WEBPVP8L0000", [0x2F, 0xFF, 0xFF, 0xFF, 0xFF]), [16_384, 16_384]),
            (
                .webP, Self.image("RIFF0000WEBPVP8 0000", [0, 0, 0, 0x9D, 0x01, 0x2A, 0xFF, 0xFF, 0xFE, 0xFF]),
                [16_383, 16_382]
            ),
        ] as [(AssetArtwork.Format, [UInt8], [Int])]
    )
    func dimensionsHaveAllTheirBits(format: AssetArtwork.Format, bytes: [UInt8], dimensions: [Int]) {
        #expect(size(bytes, format) == dimensions)
    }
}
