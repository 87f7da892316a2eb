import MediaTiming

/// The opacity of an element that is shown for a while and then fades out.
struct Fading: Sendable, Hashable {
    let hold: Duration
    let fade: Duration
    private var since: Duration?

    /// Creates the opacity of a hidden element.
    init(hold: Duration, fade: Duration = .milliseconds(300)) {
        self.hold = hold
        self.fade = fade
    }

    /// Shows the element from the given time on.
    mutating func show(at now: Duration) { since = now }

    /// Hides the element immediately.
    mutating func hide() { since = nil }

    /// Returns the opacity at a time, from 0 to 1.
    func opacity(at now: Duration) -> Double {
        guard let since else { return 0 }
        let over = now - since - hold
        if over <= .zero { return 1 }
        return max(0, 1 - over / fade)
    }

    /// Returns the time at which the element must be drawn again; `nil` if its opacity no longer changes.
    func nextChange(after now: Duration) -> Duration? {
        guard let since else { return nil }
        let end = since + hold
        if now < end { return end }
        // The last step, at the end of the fade-out, hides the element.
        return now < end + fade ? min(now + .milliseconds(33), end + fade) : nil
    }
}
