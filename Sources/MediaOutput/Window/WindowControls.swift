import MediaTiming

/// What is over the picture at a moment: the overlay, and what the mouse and the clock make of it.
struct WindowControls: Sendable {
    private(set) var overlay = OverlayState()
    private(set) var announcement = ""
    /// Where the mouse is over the position bar, or was when it was pressed there and is still held.
    private(set) var pointer: Int?
    private(set) var isDragging = false
    private var bar = Fading(hold: .seconds(3))
    private var words = Fading(hold: .milliseconds(1200))
    private var waitingSince: Duration?
    private var hasMouse = false

    /// What is over the picture only for a moment is not shown as waiting.
    static let waitingGrace = Duration.milliseconds(300)
    private static let spinnerStep = Duration.milliseconds(100)

    /// Takes a new overlay.
    ///
    /// - Returns: Whether something else is to be seen.
    mutating func setOverlay(_ new: OverlayState, at now: Duration) -> Bool {
        let old = overlay
        overlay = new
        if case .waiting = new.progress {
            waitingSince = waitingSince ?? now
        } else {
            waitingSince = nil
        }
        if barOpacity(at: now) > 0 { return true }
        return old.withoutBar != new.withoutBar
    }

    mutating func announce(_ text: String, at now: Duration) {
        announcement = text
        words.show(at: now)
    }

    func barOpacity(at now: Duration) -> Double { isDragging ? 1 : bar.opacity(at: now) }

    func announcementOpacity(at now: Duration) -> Double { words.opacity(at: now) }

    /// Whether the mouse is to be seen.
    func showsPointer(at now: Duration) -> Bool { barOpacity(at: now) > 0 }

    /// How far the circle has turned; `nil` where none is to be seen.
    func spinnerPhase(at now: Duration) -> Int? {
        guard let waitingSince, now - waitingSince >= Self.waitingGrace else { return nil }
        return Int(saturating: (now - waitingSince) / Self.spinnerStep)
    }

    /// When something changes that nobody tells of.
    func nextChange(after now: Duration) -> Duration? {
        var times = [bar.nextChange(after: now), words.nextChange(after: now)].compactMap(\.self)
        if isDragging { times = times.filter { $0 > now } }
        if let waitingSince {
            let grace = waitingSince + Self.waitingGrace
            times.append(now < grace ? grace : now + Self.spinnerStep)
        }
        return times.min()
    }

    /// The mouse moved.
    mutating func move(x: Int, y: Int, over layout: ControlBar, at now: Duration) {
        // A window that opens under a mouse that rests is told of it, too: nobody asked for the bar.
        guard hasMouse else {
            hasMouse = true
            return
        }
        bar.show(at: now)
        pointer = isDragging || overlay.span != nil && layout.trackArea.contains(x: x, y: y) ? x : nil
    }

    /// The mouse left the window.
    mutating func leave() {
        guard !isDragging else { return }
        pointer = nil
        bar.hide()
    }

    /// The left button was pressed.
    ///
    /// - Returns: What that means.
    mutating func press(x: Int, y: Int, over layout: ControlBar, at now: Duration) -> PlayerCommand? {
        let wasVisible = barOpacity(at: now) > 0
        hasMouse = true
        move(x: x, y: y, over: layout, at: now)
        if wasVisible, layout.button.contains(x: x, y: y) { return .togglePause }
        isDragging = pointer != nil
        return nil
    }

    /// The left button was let go: where the bar was held, that is the place to go to.
    mutating func release(x: Int, y: Int, over layout: ControlBar, at now: Duration) -> PlayerCommand? {
        guard isDragging else { return nil }
        isDragging = false
        move(x: x, y: y, over: layout, at: now)
        guard let span = overlay.span else { return nil }
        return .seekTo(overlay.seekable(layout.time(atX: x, in: span)))
    }
}

extension OverlayState {
    /// What is seen of it while the bar is not.
    fileprivate var withoutBar: OverlayState {
        var result = OverlayState()
        if case .waiting = progress { result.progress = progress }
        result.message = message
        result.subtitles = subtitles
        result.statistics = statistics
        return result
    }
}
