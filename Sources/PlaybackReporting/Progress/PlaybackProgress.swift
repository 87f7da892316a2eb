import MediaTiming

/// What was played, of which variant, and whether the play head stands for want of media.
///
/// Logs and indicators both stand on it, so that their sums agree.
struct PlaybackProgress: Sendable, Hashable {
    /// What an event brought with it.
    struct Step: Sendable, Hashable {
        /// The media time played since the event before.
        var played = Duration.zero
        /// The variant that this was of.
        var variant: VariantDescription?
        /// Whether another variant is played from now on; not for the first of a session.
        var didSwitch = false
        /// Whether a stall began.
        var didStall = false
    }

    /// The variant that is played, or the first one chosen where none is played yet.
    private(set) var variant: VariantDescription?
    /// Where the play head is.
    private(set) var position: MediaTime?

    private var rate = 0.0
    private var isStalled = false
    /// How many seeks are under way: one that takes the place of another may begin before that ends.
    private var seeks = 0
    private var lastTime: Duration?

    /// Whether the play head moves.
    var isPlaying: Bool { rate != 0 && !isStalled && seeks == 0 }

    /// Takes an event.
    mutating func add(_ event: PlaybackEvent) -> Step {
        var step = Step(variant: variant)
        if case .timeJumped(let from, let to) = event.kind {
            // A seek is a jump too, and some report it after the seek has ended: no more was played than time passed.
            let passed = timePlayed(until: event.time)
            step.played = from.map { min(passed, advance(to: event.time, mediaTime: $0)) } ?? passed
            (position, lastTime) = (to, event.time)
        } else {
            step.played = advance(to: event.time, mediaTime: event.mediaTime)
        }
        switch event.kind {
        case .rateChanged(let change):
            rate = change.rate.isFinite ? change.rate : 0
            if rate > 0 { isStalled = false }
            if variant == nil { variant = change.variant }
        case .stalled:
            step.didStall = !isStalled
            isStalled = true
        case .stallEnded:
            isStalled = false
        case .seekStarted:
            seeks += 1
        case .seekEnded(let outcome):
            seeks = max(0, seeks - 1)
            // Without a landing it was given up, and the play head is where it was.
            if let landed = outcome.landed { position = landed }
        case .variantSwitchStarted(let change):
            if variant == nil { variant = change.to }
        case .variantSwitched(let change, succeeded: true):
            step.didSwitch = variant != nil && variant != change.to
            variant = change.to
        case .failedToPlayToEnd, .ended:
            rate = 0
        default: break
        }
        return step
    }

    /// Moves the play head to where it is now.
    ///
    /// - Parameters:
    ///   - time: Now, on the clock of the session.
    ///   - mediaTime: Where the play head is. Where it is `nil` but was known before, nothing counts until it is known again.
    /// - Returns: The media time played since the play head was last known, at any speed and in either direction; as long as
    ///   it never was, the time that passed, times the rate.
    mutating func advance(to time: Duration, mediaTime: MediaTime?) -> Duration {
        guard position == nil || mediaTime != nil else { return .zero }
        defer { (position, lastTime) = (mediaTime, max(time, lastTime ?? time)) }
        guard let position, let mediaTime else { return timePlayed(until: time) }
        guard isPlaying else { return .zero }
        let (from, to) = (position.duration.clamped, mediaTime.duration.clamped)
        return rate > 0 ? to.subtractingToZero(from) : from.subtractingToZero(to)
    }

    /// The media time that passing time explains.
    private func timePlayed(until time: Duration) -> Duration {
        guard isPlaying, let lastTime else { return .zero }
        return time.subtractingToZero(lastTime).scaled(by: rate.magnitude)
    }
}
