import MediaDecoding
import MediaTiming

/// A size in pixels.
public struct PixelSize: Sendable, Hashable {
    /// The horizontal size.
    public let width: Int
    /// The vertical size.
    public let height: Int

    /// Creates a size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    init(_ width: Int, _ height: Int) { self.init(width: width, height: height) }
}

/// A rectangle in a window, in pixels from the upper left corner.
struct PixelRect: Sendable, Hashable {
    var x: Int
    var y: Int
    var width: Int
    var height: Int

    func contains(x: Int, y: Int) -> Bool {
        x >= self.x && y >= self.y && x < self.x + width && y < self.y + height
    }
}

/// Calculates the placement of video in a window.
enum VideoGeometry {
    /// Returns the size of a picture with square pixels: its width is scaled, its height is kept.
    static func displaySize(of pixelBuffer: PixelBuffer) -> PixelSize {
        displaySize(width: pixelBuffer.width, height: pixelBuffer.height, pixelBuffer.sampleAspectRatio)
    }

    /// Returns a size with square pixels.
    static func displaySize(width: Int, height: Int, _ aspect: PixelAspectRatio) -> PixelSize {
        PixelSize(aspect.displayWidth(ofPixelWidth: width), height)
    }

    /// Returns the largest rectangle with the aspect ratio of a picture, centered in an area.
    static func fit(_ videoSize: PixelSize, in area: PixelSize) -> PixelRect {
        guard videoSize.width > 0, videoSize.height > 0, area.width > 0, area.height > 0 else {
            return PixelRect(x: 0, y: 0, width: max(0, area.width), height: max(0, area.height))
        }
        let scale = min(
            Double(area.width) / Double(videoSize.width),
            Double(area.height) / Double(videoSize.height)
        )
        let width = min(area.width, max(1, Int(saturating: (Double(videoSize.width) * scale).rounded())))
        let height = min(area.height, max(1, Int(saturating: (Double(videoSize.height) * scale).rounded())))
        return PixelRect(x: (area.width - width) / 2, y: (area.height - height) / 2, width: width, height: height)
    }
}
