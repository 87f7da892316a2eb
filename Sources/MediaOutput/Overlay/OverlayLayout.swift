import MediaTiming

/// The contents of the overlay as scripts, one for each part that changes independently.
enum OverlayLayout {
    private typealias Color = OverlayScript.Color

    /// Returns the gradient that darkens the lower part of the window behind the position bar.
    static func gradient(_ bar: ControlBar) -> TextRenderer.Bitmap {
        let top = Int(saturating: bar.gradientTop)
        let size = PixelSize(bar.window.width, bar.window.height - top)
        var bytes = [UInt8](repeating: 0, count: size.width * size.height * 4)
        for row in 0..<size.height {
            let depth = (Double(row) + 0.5) / Double(size.height)
            // Steep at the top and flat at the bottom, where the texts are.
            let opacity = UInt8(saturating: (195 * depth * (2 - depth)).rounded())
            for column in 0..<size.width { bytes[(row * size.width + column) * 4 + 3] = opacity }
        }
        return TextRenderer.Bitmap(
            rect: PixelRect(x: 0, y: top, width: size.width, height: size.height),
            bytes: bytes
        )
    }

    /// Returns the position bar with the loaded and played ranges, the button and the texts.
    ///
    /// - Parameters:
    ///   - state: The state of playback.
    ///   - bar: The layout of the bar.
    ///   - pointer: The horizontal position of the mouse over the bar, in pixels; `nil` if it is elsewhere.
    /// - Returns: The script to draw.
    static func controls(_ state: OverlayState, _ bar: ControlBar, pointer: Int? = nil) -> OverlayScript {
        var script = OverlayScript(bar.window)
        if let span = state.barRange { addTrack(state, span: span, bar: bar, pointer: pointer, to: &script) }
        addButton(state, bar, to: &script)
        let size = bar.length(21)
        let text = bar.left + bar.length(34)
        if state.extent == .live {
            addLiveIndicator(state, bar: bar, textX: text, fontSize: size, to: &script)
        } else {
            script.add(
                TimeFormatter.positionString(of: state),
                x: text,
                y: bar.textCenterY,
                fontSize: size,
                anchor: .left
            )
        }
        addVolumeAndRate(state, bar: bar, fontSize: size, to: &script)
        return script
    }

    private static func addTrack(
        _ state: OverlayState,
        span: MediaTimeRange,
        bar: ControlBar,
        pointer: Int?,
        to script: inout OverlayScript
    ) {
        let track = bar.track
        let swell = pointer == nil ? 0 : bar.length(2)
        let (y, height) = (track.y - swell / 2, track.height + swell)
        func add(from start: Double, to end: Double, _ color: Color) {
            guard end - start >= 1 else { return }
            let shape = Shape.rectangle(width: end - start, height: height, radius: height / 2)
            script.add(shape, x: start, y: y, color: color)
        }
        add(from: track.x, to: track.x + track.width, .white.withOpacity(64))
        // A playlist may have as many gaps as segments; no more ranges are drawn than a screen can show.
        for range in state.loadedRanges.ranges.prefix(200) where range.end > span.start && range.start < span.end {
            add(from: bar.x(of: range.start, in: span), to: bar.x(of: range.end, in: span), .white.withOpacity(120))
        }
        let head = bar.x(of: state.position, in: span)
        add(from: track.x, to: head, .accent)
        let radius = bar.length(pointer == nil ? 7 : 9)
        let knob = Shape.rectangle(width: 2 * radius, height: 2 * radius, radius: radius)
        script.add(knob, x: head - radius, y: track.y + track.height / 2 - radius, color: .white)
        guard let pointer else { return }
        let time = bar.time(atX: pointer, in: span)
        let text =
            state.extent == .live
            ? "-" + TimeFormatter.string(max(.zero, span.end - time)) : TimeFormatter.string(time)
        let reach = bar.length(34)
        script.add(
            text,
            x: max(track.x + reach, min(track.x + track.width - reach, Double(pointer))),
            y: track.y - bar.length(14),
            fontSize: bar.length(20),
            anchor: .bottom,
            outline: bar.length(1.5)
        )
    }

    private static func addButton(_ state: OverlayState, _ bar: ControlBar, to script: inout OverlayScript) {
        let size = bar.length(18)
        let top = bar.textCenterY - size / 2
        switch state.timeControlStatus {
        case .playing, .waiting:
            let stroke = Shape.rectangle(width: size * 0.3, height: size, radius: size * 0.06)
            script.add(stroke, x: bar.left + size * 0.05, y: top, color: .white)
            script.add(stroke, x: bar.left + size * 0.6, y: top, color: .white)
        case .paused, .ended:
            script.add(
                .polygon([(0, 0), (size * 0.9, size / 2), (0, size)]),
                x: bar.left + size * 0.1,
                y: top,
                color: .white
            )
        }
    }

    private static func addLiveIndicator(
        _ state: OverlayState,
        bar: ControlBar,
        textX: Double,
        fontSize size: Double,
        to script: inout OverlayScript
    ) {
        let dot = bar.length(10)
        script.add(
            .rectangle(width: dot, height: dot, radius: dot / 2),
            x: textX,
            y: bar.textCenterY - dot / 2,
            color: state.isAtLiveEdge ? .live : .white.withOpacity(140)
        )
        let label = state.seekableRange == nil ? "LIVE" : "LIVE  \(TimeFormatter.positionString(of: state))"
        script.add(label, x: textX + dot * 1.7, y: bar.textCenterY, fontSize: size, anchor: .left)
    }

    /// Adds the volume, and the rate if it is not 1.
    private static func addVolumeAndRate(
        _ state: OverlayState,
        bar: ControlBar,
        fontSize size: Double,
        to script: inout OverlayScript
    ) {
        let isSilent = state.isMuted || state.volume <= 0
        let percent = Int(saturating: (max(0, min(1, state.volume.isNaN ? 0 : state.volume)) * 100).rounded())
        let volume = isSilent ? "muted" : "\(percent)%"
        script.add(volume, x: bar.right, y: bar.textCenterY, fontSize: size, anchor: .right)
        let iconRight = bar.right - bar.length(66)
        addSpeaker(iconRight, bar, isSilent: isSilent, to: &script)
        guard state.rate != 1 else { return }
        script.add(
            TimeFormatter.rateString(state.rate),
            x: iconRight - bar.length(44),
            y: bar.textCenterY,
            fontSize: size,
            anchor: .right,
            color: .accent
        )
    }

    private static func addSpeaker(_ right: Double, _ bar: ControlBar, isSilent: Bool, to script: inout OverlayScript) {
        let unit = bar.length(19) / 16
        let body: [(Double, Double)] = [(0, 5), (4, 5), (9, 0), (9, 16), (4, 11), (0, 11)]
        let color: Color = isSilent ? .white.withOpacity(120) : .white
        let left = right - 18 * unit
        let top = bar.textCenterY - 8 * unit
        script.add(.polygon(body.map { ($0.0 * unit, $0.1 * unit) }), x: left, y: top, color: color)
        guard !isSilent else { return }
        let wave: [(Double, Double)] = [
            (0, 0), (2.2, 2.6), (2.2, 5.4), (0, 8), (0, 6.2), (0.9, 4.9), (0.9, 3.1), (0, 1.8),
        ]
        script.add(
            .polygon(wave.map { ($0.0 * unit, $0.1 * unit) }),
            x: left + 11 * unit,
            y: top + 4 * unit,
            color: color
        )
    }

    /// Returns the progress indicator with its text while playback waits for media, or the message.
    ///
    /// - Parameters:
    ///   - state: The state of playback.
    ///   - bar: The layout of the bar, for its scale.
    ///   - phase: The index of the brightest dot, which increases with time.
    /// - Returns: The script to draw; empty if there is neither a message nor a reason to wait.
    static func center(_ state: OverlayState, bar: ControlBar, phase: Int) -> OverlayScript {
        var script = OverlayScript(bar.window)
        let (x, y) = (Double(bar.window.width) / 2, Double(bar.window.height) / 2)
        if let message = state.message, !message.isEmpty {
            script.add(message, x: x, y: y, fontSize: bar.length(30), anchor: .center, outline: bar.length(3))
            return script
        }
        guard case .waiting(let reason) = state.timeControlStatus else { return script }
        let dot = bar.length(9)
        for index in 0..<8 {
            let (dx, dy) = directions[index]
            let age = ((phase - index) % 8 + 8) % 8
            // A dark edge keeps the dots visible on bright video.
            let edge = dot + bar.length(3)
            let (cx, cy) = (x + dx * bar.length(26), y + dy * bar.length(26))
            let dark = Color(red: 0, green: 0, blue: 0, opacity: 90 - age * 9)
            script.add(
                .rectangle(width: edge, height: edge, radius: edge),
                x: cx - edge / 2,
                y: cy - edge / 2,
                color: dark
            )
            script.add(
                .rectangle(width: dot, height: dot, radius: dot),
                x: cx - dot / 2,
                y: cy - dot / 2,
                color: .white.withOpacity(255 - age * 28)
            )
        }
        script.add(
            reason.isEmpty ? "buffering" : reason,
            x: x,
            y: y + bar.length(58),
            fontSize: bar.length(23),
            anchor: .center,
            outline: bar.length(2)
        )
        return script
    }

    /// The unit vectors of eight directions, clockwise from the top.
    private static let directions: [(Double, Double)] = {
        let half = 0.5.squareRoot()
        return [(0, -1), (half, -half), (1, 0), (half, half), (0, 1), (-half, half), (-1, 0), (-half, -half)]
    }()

    /// Returns the statistics on a dark background in the upper left corner, above the controls.
    ///
    /// In a small window, the text is smaller, and lines at the end are left out if it would not be readable.
    static func statistics(_ lines: [String], _ bar: ControlBar) -> OverlayScript {
        var script = OverlayScript(bar.window)
        guard !lines.isEmpty else { return script }
        let corner = bar.length(20)
        let padding = bar.length(14)
        let columns = lines.lazy.map { min(200, $0.count) }.max() ?? 0
        // DejaVu Sans Mono is 0.602 em wide, and font sizes in a script include ascent and descent, 1.164 em.
        let advance = 0.602 / 1.164
        let room = Double(bar.window.width) - 2 * (corner + padding)
        let spacing = 1.2
        let height = Double(bar.trackArea.y) - bar.length(6) - corner - 2 * padding
        let fittingHeight = max(bar.length(12), height / (spacing * Double(lines.count -| 1) + 1))
        let fittingWidth = room / (Double(max(1, columns)) * advance)
        let size = max(bar.length(9), min(bar.length(19), fittingWidth, fittingHeight))
        let lineHeight = size * spacing
        // The tolerance is for the rounding of a size that fits exactly.
        let rows = (height - size) / lineHeight + 1.001
        let shown = lines.prefix(max(0, Int(saturating: rows))).map { String($0.prefix(200)) }
        guard !shown.isEmpty else { return script }
        let plate = Shape.rectangle(
            width: Double(columns) * size * advance + 2 * padding,
            height: lineHeight * Double(shown.count - 1) + size + 2 * padding,
            radius: bar.length(8)
        )
        script.add(plate, x: corner, y: corner, color: Color(red: 0, green: 0, blue: 0, opacity: 165))
        for (index, line) in shown.enumerated() {
            // Each line has its own position, so that none is wrapped.
            script.add(
                line,
                x: corner + padding,
                y: corner + padding + lineHeight * Double(index),
                fontSize: size,
                anchor: .topLeft,
                style: "Mono"
            )
        }
        return script
    }

    /// Returns a short text that is shown for a moment in the upper right corner.
    static func announcement(_ text: String, _ bar: ControlBar) -> OverlayScript {
        var script = OverlayScript(bar.window)
        guard !text.isEmpty else { return script }
        script.add(
            String(text.prefix(120)),
            x: Double(bar.window.width) - bar.length(28),
            y: bar.length(22),
            fontSize: bar.length(34),
            anchor: .topRight,
            outline: bar.length(2.5)
        )
        return script
    }
}
