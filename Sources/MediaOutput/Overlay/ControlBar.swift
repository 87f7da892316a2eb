import MediaTiming

/// Where the parts of the position bar lie in a window.
struct ControlBar: Sendable, Hashable {
    let window: PixelSize
    /// How much larger everything is than in a window 720 pixels high.
    let scale: Double

    /// Lays out the bar.
    ///
    /// - Parameters:
    ///   - window: In pixels.
    ///   - density: Pixels for each point, above 1 on screens of high density.
    init(_ window: PixelSize, density: Double = 1) {
        self.window = window
        let density = density.isFinite ? max(1, min(4, density)) : 1
        scale = max(0.7 * density, min(2.2 * density, Double(window.height) / 720))
    }

    /// A length that is meant for a window 720 pixels high.
    func length(_ points: Double) -> Double { points * scale }

    private var margin: Double { min(length(28), Double(window.width) / 12) }
    private var bottom: Double { Double(window.height) }

    /// The line that stands for the whole time.
    var track: (x: Double, y: Double, width: Double, height: Double) {
        let height = max(3, length(5))
        return (margin, bottom - length(58) - height / 2, max(1, Double(window.width) - 2 * margin), height)
    }

    /// Where a click means a position: the line, and as much around it as a hand misses by.
    var trackArea: PixelRect {
        let reach = length(14)
        return PixelRect(
            x: Int(saturating: track.x - reach / 2),
            y: Int(saturating: track.y - reach),
            width: Int(saturating: track.width + reach),
            height: Int(saturating: track.height + 2 * reach)
        )
    }

    /// Where the texts below the line have their middle.
    var textLine: Double { bottom - length(27) }

    /// The left end of what stands below the line.
    var left: Double { margin }
    /// The right end of what stands below the line.
    var right: Double { Double(window.width) - margin }

    /// The button that plays and pauses.
    var button: PixelRect {
        let size = length(36)
        return PixelRect(
            x: Int(saturating: left - length(9)),
            y: Int(saturating: textLine - size / 2),
            width: Int(saturating: size),
            height: Int(saturating: size)
        )
    }

    /// From where on the window is darker, so that the bar can be read.
    var shadeTop: Double { max(0, bottom - length(150)) }

    /// Where a time lies on the line; outside of the span, at its ends.
    func x(of time: MediaTime, in span: MediaTimeRange) -> Double {
        let length = span.duration.seconds
        let fraction = length > 0 ? (time - span.start).seconds / length : 0
        return track.x + track.width * max(0, min(1, fraction))
    }

    /// The time that a point on the line stands for; beyond its ends, the ends.
    func time(atX x: Int, in span: MediaTimeRange) -> MediaTime {
        let fraction = max(0, min(1, (Double(x) + 0.5 - track.x) / track.width))
        // To the millisecond: finer than any pixel.
        let offset = MediaTime(approximating: (span.duration.seconds * fraction * 1000).rounded() / 1000) ?? .zero
        return min(span.end, span.start + offset)
    }
}
