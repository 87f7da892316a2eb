import MediaTiming

/// Something that is seen for a while and then fades away.
struct Fading: Sendable, Hashable {
    let hold: Duration
    let fade: Duration
    private var since: Duration?

    /// Makes one that is not seen.
    init(hold: Duration, fade: Duration = .milliseconds(300)) {
        self.hold = hold
        self.fade = fade
    }

    /// Shows it from a moment on.
    mutating func show(at now: Duration) { since = now }

    /// Takes it away at once.
    mutating func hide() { since = nil }

    /// How much of it is to be seen, from 0 to 1.
    func opacity(at now: Duration) -> Double {
        guard let since else { return 0 }
        let over = now - since - hold
        if over <= .zero { return 1 }
        return max(0, 1 - over / fade)
    }

    /// When it must be drawn again; `nil` while nothing changes.
    func nextChange(after now: Duration) -> Duration? {
        guard let since else { return nil }
        let end = since + hold
        if now < end { return end }
        // The last step, at the end of the fading, takes it away.
        return now < end + fade ? min(now + .milliseconds(33), end + fade) : nil
    }
}
