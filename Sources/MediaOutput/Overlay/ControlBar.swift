import MediaTiming

/// The layout of the position bar in a window.
struct ControlBar: Sendable, Hashable {
    let window: PixelSize
    /// The scale of all lengths relative to a window with a height of 720 pixels.
    let scale: Double

    /// Creates the layout of the bar.
    ///
    /// - Parameters:
    ///   - window: The size of the window in pixels.
    ///   - density: The number of pixels per point, which is above 1 on high-density displays; clamped to 1 to 4.
    init(_ window: PixelSize, density: Double = 1) {
        self.window = window
        let density = density.isFinite ? max(1, min(4, density)) : 1
        scale = max(0.7 * density, min(2.2 * density, Double(window.height) / 720))
    }

    /// Returns a length, given for a window height of 720 pixels, in pixels of this window.
    func length(_ points: Double) -> Double { points * scale }

    private var margin: Double { min(length(28), Double(window.width) / 12) }
    private var bottom: Double { Double(window.height) }

    /// The line that represents the whole time range.
    var track: (x: Double, y: Double, width: Double, height: Double) {
        let height = max(3, length(5))
        return (margin, bottom - length(58) - height / 2, max(1, Double(window.width) - 2 * margin), height)
    }

    /// The area in which a click selects a position: the line and a margin around it.
    var trackArea: PixelRect {
        let reach = length(14)
        return PixelRect(
            x: Int(saturating: track.x - reach / 2),
            y: Int(saturating: track.y - reach),
            width: Int(saturating: track.width + reach),
            height: Int(saturating: track.height + 2 * reach)
        )
    }

    /// The vertical center of the texts below the line.
    var textCenterY: Double { bottom - length(27) }

    /// The left edge of the elements below the line.
    var left: Double { margin }
    /// The right edge of the elements below the line.
    var right: Double { Double(window.width) - margin }

    /// The button that toggles playback.
    var button: PixelRect {
        let size = length(36)
        return PixelRect(
            x: Int(saturating: left - length(9)),
            y: Int(saturating: textCenterY - size / 2),
            width: Int(saturating: size),
            height: Int(saturating: size)
        )
    }

    /// The upper edge of the gradient that darkens the window behind the bar.
    var gradientTop: Double { max(0, bottom - length(150)) }

    /// Returns the horizontal position of a time on the line, limited to the ends of the line.
    func x(of time: MediaTime, in span: MediaTimeRange) -> Double {
        let length = span.duration.seconds
        let fraction = length > 0 ? (time - span.start).seconds / length : 0
        return track.x + track.width * max(0, min(1, fraction))
    }

    /// Returns the time at a horizontal position, limited to the ends of the line.
    func time(atX x: Int, in span: MediaTimeRange) -> MediaTime {
        let fraction = max(0, min(1, (Double(x) + 0.5 - track.x) / track.width))
        // A millisecond is less than any pixel represents.
        let offset = MediaTime(approximating: (span.duration.seconds * fraction * 1000).rounded() / 1000) ?? .zero
        return min(span.end, span.start + offset)
    }
}
