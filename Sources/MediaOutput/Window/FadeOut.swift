import MediaTiming

/// The opacity of an element that is shown for a while and then fades out.
struct FadeOut: Sendable, Hashable {
    let visibleDuration: Duration
    let fadeDuration: Duration
    private var shownTime: Duration?

    /// Creates the opacity of a hidden element.
    init(visibleDuration: Duration, fadeDuration: Duration = .milliseconds(300)) {
        self.visibleDuration = visibleDuration
        self.fadeDuration = fadeDuration
    }

    /// Shows the element from the given time on.
    mutating func show(at now: Duration) { shownTime = now }

    /// Hides the element immediately.
    mutating func hide() { shownTime = nil }

    /// Returns the opacity at a time, from 0 to 1.
    func opacity(at now: Duration) -> Double {
        guard let shownTime else { return 0 }
        let over = now - shownTime - visibleDuration
        if over <= .zero { return 1 }
        return max(0, 1 - over / fadeDuration)
    }

    /// Returns the time at which the element must be drawn again; `nil` if its opacity no longer changes.
    func nextChange(after now: Duration) -> Duration? {
        guard let shownTime else { return nil }
        let end = shownTime + visibleDuration
        if now < end { return end }
        // The last step, at the end of the fade-out, hides the element.
        return now < end + fadeDuration ? min(now + .milliseconds(33), end + fadeDuration) : nil
    }
}
