import MediaTiming

/// The state of the controls that are drawn over the video, which depends on the player, the mouse and the time.
struct WindowControls: Sendable {
    private(set) var overlay = OverlayState()
    private(set) var announcement = ""
    /// The horizontal position of the mouse while it is over the position bar or drags from it, in pixels; `nil`
    /// otherwise.
    private(set) var pointer: Int?
    private(set) var isDragging = false
    /// A Boolean value that indicates whether the bar is visible because of a key, during which the mouse pointer is not.
    private var isBarShownByKey = false
    private var barFade = FadeOut(visibleDuration: .seconds(3))
    private var announcementFade = FadeOut(visibleDuration: .milliseconds(1200))
    private var waitingSince: Duration?
    private var hasReceivedMouseEvent = false

    /// The delay after which the progress indicator is shown while playback waits; shorter interruptions are not
    /// indicated.
    static let waitingDelay = Duration.milliseconds(300)
    private static let spinnerStep = Duration.milliseconds(100)

    /// Sets a new overlay.
    ///
    /// - Returns: A Boolean value that indicates whether the visible contents have changed.
    mutating func setOverlay(_ new: OverlayState, at now: Duration) -> Bool {
        let old = overlay
        overlay = new
        if case .waiting = new.timeControlStatus {
            waitingSince = waitingSince ?? now
        } else {
            waitingSince = nil
        }
        if barOpacity(at: now) > 0 { return true }
        return old.contentsWithoutBar != new.contentsWithoutBar
    }

    mutating func announce(_ text: String, at now: Duration) {
        announcement = text
        announcementFade.show(at: now)
    }

    func barOpacity(at now: Duration) -> Double { isDragging ? 1 : barFade.opacity(at: now) }

    func announcementOpacity(at now: Duration) -> Double { announcementFade.opacity(at: now) }

    /// Returns whether the mouse pointer is visible.
    func showsPointer(at now: Duration) -> Bool { !isBarShownByKey && barOpacity(at: now) > 0 }

    /// Shows the position bar after a key that changes the position.
    mutating func showBar(at now: Duration) {
        isBarShownByKey = barOpacity(at: now) == 0 || isBarShownByKey
        barFade.show(at: now)
    }

    /// Returns the phase of the progress indicator; `nil` if it is not visible.
    func spinnerPhase(at now: Duration) -> Int? {
        guard let waitingSince, now - waitingSince >= Self.waitingDelay else { return nil }
        return Int(saturating: (now - waitingSince) / Self.spinnerStep)
    }

    /// Returns the time of the next change that results from the clock alone; `nil` if there is none.
    func nextChange(after now: Duration) -> Duration? {
        var times = [barFade.nextChange(after: now), announcementFade.nextChange(after: now)].compactMap(\.self)
        if isDragging { times = times.filter { $0 > now } }
        if let waitingSince {
            let grace = waitingSince + Self.waitingDelay
            times.append(now < grace ? grace : now + Self.spinnerStep)
        }
        return times.min()
    }

    /// Handles a movement of the mouse.
    mutating func move(x: Int, y: Int, over layout: ControlBar, at now: Duration) {
        // A window that opens under the mouse receives a movement too, but the position bar is shown only for real
        // ones.
        guard hasReceivedMouseEvent else {
            hasReceivedMouseEvent = true
            return
        }
        isBarShownByKey = false
        barFade.show(at: now)
        pointer = isDragging || overlay.barRange != nil && layout.trackArea.contains(x: x, y: y) ? x : nil
    }

    /// Handles the mouse leaving the window.
    mutating func leave() {
        guard !isDragging else { return }
        pointer = nil
        barFade.hide()
    }

    /// Handles the left mouse button being pressed.
    ///
    /// - Returns: The resulting command; `nil` if there is none.
    mutating func press(x: Int, y: Int, over layout: ControlBar, at now: Duration) -> PlayerCommand? {
        let wasVisible = barOpacity(at: now) > 0
        hasReceivedMouseEvent = true
        move(x: x, y: y, over: layout, at: now)
        if wasVisible, layout.button.contains(x: x, y: y) { return .togglePause }
        isDragging = pointer != nil
        return nil
    }

    /// Handles the left mouse button being released; after dragging on the position bar, returns a seek to the
    /// position.
    mutating func release(x: Int, y: Int, over layout: ControlBar, at now: Duration) -> PlayerCommand? {
        guard isDragging else { return nil }
        isDragging = false
        move(x: x, y: y, over: layout, at: now)
        guard let span = overlay.barRange else { return nil }
        return .seekTo(overlay.nearestSeekableTime(to: layout.time(atX: x, in: span)))
    }
}

extension OverlayState {
    /// The contents that are visible without the position bar.
    fileprivate var contentsWithoutBar: OverlayState {
        var result = OverlayState()
        if case .waiting = timeControlStatus { result.timeControlStatus = timeControlStatus }
        result.message = message
        if audioLevel != nil {
            // Only what is written in the window.
            result.audioLevel = audioLevel
            result.mediaTitle = mediaTitle
            result.mediaDetails = mediaDetails
            result.artwork = artwork
            result.extent = extent
            result.seekableRange = seekableRange
            result.position = MediaTime(seconds: Int64(saturating: position.seconds.rounded(.down)))
        }
        result.subtitles = subtitles
        result.statistics = statistics
        return result
    }
}
