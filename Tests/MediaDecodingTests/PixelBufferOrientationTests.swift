import SegmentFormat
import Testing

@testable import MediaDecoding

/// Tests pictures in the orientation in which they are shown.
@Suite struct PixelBufferOrientationTests {
    private func rows(_ picture: PixelBuffer) -> [[UInt8]] {
        picture.withPlanes { planes in
            planes.flatMap { plane in
                (0..<plane.height).map { row in
                    let start = row * plane.bytesPerRow
                    return Array(plane.bytes[start..<start + plane.unpaddedBytesPerRow])
                }
            }
        }
    }

    @Test(
        arguments: [
            (90, false, [[4, 1], [5, 2], [6, 3]]), (180, false, [[6, 5, 4], [3, 2, 1]]),
            (270, false, [[3, 6], [2, 5], [1, 4]]), (0, true, [[3, 2, 1], [6, 5, 4]]),
            (90, true, [[1, 4], [2, 5], [3, 6]]), (180, true, [[4, 5, 6], [1, 2, 3]]),
            (270, true, [[6, 3], [5, 2], [4, 1]]), (0, false, [[1, 2, 3], [4, 5, 6]]),
        ] as [(Int, Bool, [[UInt8]])]
    )
    func pixelsAreMoved(rotation: Int, isMirrored: Bool, expected: [[UInt8]]) throws {
        let orientation = try #require(
            VideoOrientation.all.first { $0.rotation == rotation && $0.isMirrored == isMirrored }
        )
        let picture = try PixelBuffer(
            format: .other("gray"),
            width: 3,
            height: 2,
            planes: [[1, 2, 3, 4, 5, 6]],
            sampleAspectRatio: PixelAspectRatio(horizontal: 4, vertical: 3)
        )
        let shown = try #require(picture.oriented(orientation))
        #expect(rows(shown) == expected)
        #expect(shown.width == expected[0].count && shown.height == expected.count)
        let ratio = orientation.isTransposed ? (3, 4) : (4, 3)
        #expect(shown.sampleAspectRatio == PixelAspectRatio(horizontal: ratio.0, vertical: ratio.1))
    }

    @Test func planesOfColorAreMovedWithTheLuma() throws {
        let rotated = try #require(VideoOrientation.all.first { $0.rotation == 90 && !$0.isMirrored })
        let picture = try PixelBuffer(
            format: .nv12,
            width: 4,
            height: 2,
            planes: [[1, 2, 3, 4, 5, 6, 7, 8], [10, 11, 20, 21]]
        )
        let shown = try #require(picture.oriented(rotated))
        #expect(shown.format == .nv12)
        #expect(rows(shown) == [[5, 1], [6, 2], [7, 3], [8, 4], [10, 11], [20, 21]])
    }

    /// Color with half the resolution across has half the resolution down after a rotation, which is no common format.
    @Test func colorOfHalfTheWidthIsConverted() throws {
        let picture = try PixelBuffer(
            format: .yuv422p,
            width: 4,
            height: 2,
            planes: [[16, 16, 235, 235, 16, 16, 235, 235], [128, 128, 128, 128], [128, 128, 128, 128]]
        )
        let rotated = try #require(VideoOrientation.all.first { $0.rotation == 90 && !$0.isMirrored })
        let quarter = try #require(picture.oriented(rotated))
        #expect(quarter.format == .yuv444p && quarter.width == 2 && quarter.height == 4)
        #expect(rows(quarter).prefix(4) == [[16, 16], [16, 16], [235, 235], [235, 235]])
        let half = try #require(VideoOrientation.all.first { $0.rotation == 180 && !$0.isMirrored })
        #expect(picture.oriented(half)?.format == .yuv422p)
    }
}
