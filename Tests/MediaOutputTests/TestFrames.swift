import MediaDecoding
import MediaTiming
import PaintedPictures

/// Frames of a single color.
enum TestFrames {
    static func frame(
        at milliseconds: Int64,
        lasting duration: Int64 = 40,
        _ color: (Double, Double, Double) = (0.5, 0.5, 0.5),
        width: Int = 16,
        height: Int = 8,
        aspect: PixelAspectRatio = .square
    ) throws -> VideoFrame {
        VideoFrame(
            time: MediaTime(value: milliseconds, timescale: 1000),
            duration: MediaTime(value: duration, timescale: 1000),
            isKeyFrame: true,
            pixelBuffer: try PaintedPicture.make(width: width, height: height, aspect: aspect) { _, _ in color }
        )
    }
}
