import MediaTiming
import PlaybackReporting

/// Decides when the play head moves: what was asked for, what is there, and what happened last.
///
/// It knows no clock and no pipeline: what it is told carries the time, and what it wants done it returns.
struct PlaybackStateMachine: Sendable {
    /// What is to be done.
    enum Action: Sendable, Equatable {
        /// The play head moves like this from now on.
        case setRate(Double)
        /// This is to be told.
        case report(PlaybackEvent.Kind)
    }

    /// What stands in the way of playing besides an empty buffer.
    private enum Phase: Equatable {
        case preparing
        case ready
        case seeking
        case ended
        case failed
    }

    /// The rate that was asked for; 0 is a pause.
    private(set) var desiredRate = 0.0
    /// The rate of the play head.
    private(set) var rate = 0.0
    /// Whether it plays, waits or stands.
    private(set) var timeControl = TimeControl.paused
    /// Whether playing waits until the buffer suffices, instead of beginning with the first media.
    var waitsToMinimizeStalls = true
    /// The variant that plays, for reports.
    var variant: VariantDescription?
    /// A small change of the rate that brings a live stream back to its distance from the edge.
    private(set) var correction = 1.0

    private var phase = Phase.preparing
    private var buffer = BufferState()
    private var isWaiting = true
    private var mayStartAtOnce = false
    private var stalledSince: Duration?
    private var keepsUp = false
    private var hasKeptUp = false
    private var lastNotKeepingUp: Duration

    init(start: Duration) { lastNotKeepingUp = start }

    /// Whether the play head came to a halt for want of media.
    var isStalled: Bool { stalledSince != nil }
    /// Whether what lies ahead suffices to play on.
    var isLikelyToKeepUp: Bool { keepsUp }
    /// Whether the item can be played, or could.
    var isReady: Bool { phase != .preparing && phase != .failed }
    /// Whether the play head stands at the end.
    var hasEnded: Bool { phase == .ended }
    /// What lies ahead.
    var bufferState: BufferState { buffer }

    /// Somebody asks for another rate.
    ///
    /// - Parameters:
    ///   - desired: The rate; 0 is a pause.
    ///   - reason: Why.
    ///   - atOnce: Whether to play whatever is there instead of waiting for enough.
    ///   - now: The time.
    /// - Returns: What is to be done.
    mutating func setRate(
        _ desired: Double,
        reason: RateChange.Reason = .setRateCalled,
        atOnce: Bool = false,
        at now: Duration
    ) -> [Action] {
        // At the end there is nothing to play: it takes a seek first, as with AVPlayer.
        // Backwards there is everything.
        if phase == .ended, desired < 0 { phase = .ready }
        guard phase != .ended, phase != .failed else { return [] }
        desiredRate = desired
        mayStartAtOnce = atOnce
        // A correction belongs to normal speed: neither a pause nor another rate takes it along.
        if desired != 1 { correction = 1 }
        guard desired == 0 else { return update(reason, at: now) }
        // A pause is no waiting: whoever resumes is asked anew whether there is enough.
        isWaiting = true
        let actions = update(reason, at: now)
        return actions + endStall(at: now)
    }

    /// The item can be played now.
    mutating func becomeReady(at now: Duration) -> [Action] {
        guard phase == .preparing else { return [] }
        phase = .ready
        return update(.buffering, at: now)
    }

    /// Something was loaded, played or thrown away.
    mutating func bufferChanged(_ state: BufferState, variant: VariantDescription?, at now: Duration) -> [Action] {
        buffer = state
        self.variant = variant
        return update(.buffering, at: now)
    }

    /// The play head is to be elsewhere.
    mutating func seekBegan(at now: Duration) -> [Action] {
        guard phase != .failed else { return [] }
        if phase != .preparing { phase = .seeking }
        isWaiting = true
        // What follows is not waiting for media that ran out.
        var actions = endStall(at: now)
        keepsUp = false
        // The first time counts from the start of the session.
        if hasKeptUp { lastNotKeepingUp = now }
        buffer = BufferState()
        actions += update(.buffering, at: now)
        return actions
    }

    /// The play head is there.
    mutating func seekEnded(_ state: BufferState, at now: Duration) -> [Action] {
        guard phase == .seeking else { return [] }
        phase = .ready
        buffer = state
        return update(.buffering, at: now)
    }

    /// The play head left the end without a seek.
    mutating func leaveEnd() {
        if phase == .ended { phase = .ready }
    }

    /// The play head reached the end.
    mutating func reachedEnd(pausing: Bool, at now: Duration) -> [Action] {
        guard phase == .ready else { return [] }
        phase = .ended
        if pausing { desiredRate = 0 }
        return endStall(at: now) + update(.playedToEnd, at: now) + [.report(.playedToEnd)]
    }

    /// It will not be played on.
    mutating func fail(at now: Duration) -> [Action] {
        guard phase != .failed else { return [] }
        phase = .failed
        desiredRate = 0
        return endStall(at: now) + update(.ended, at: now)
    }

    /// Sets the factor by which a live stream plays faster or slower than the rate that was asked for; 1 ends the
    /// correction.
    mutating func correctRate(by factor: Double, at now: Duration) -> [Action] {
        guard factor != correction else { return [] }
        correction = factor
        return update(.liveOffsetCorrection, at: now)
    }

    private mutating func update(_ reason: RateChange.Reason, at now: Duration) -> [Action] {
        var actions = keepUpChanges(at: now)
        var reason = reason
        if phase == .ready, desiredRate != 0 {
            if isWaiting {
                let atOnce = mayStartAtOnce || !waitsToMinimizeStalls
                // What is full cannot become more.
                let isEnough = buffer.suffices || buffer.isFull || atOnce
                if buffer.reachesEnd || isEnough && !buffer.isEmpty {
                    isWaiting = false
                    // A start that was asked for is one, also where there was something to wait for.
                    reason = reason == .buffering && stalledSince == nil ? .setRateCalled : reason
                }
            } else if buffer.isEmpty {
                isWaiting = true
                mayStartAtOnce = false
                stalledSince = now
                actions.append(.report(.stalled))
            }
        }
        let plays = phase == .ready && desiredRate != 0 && !isWaiting
        actions += move(at: plays ? desiredRate * correction : 0, reason, at: now)
        actions += control(plays: plays)
        return actions
    }

    private mutating func move(at newRate: Double, _ reason: RateChange.Reason, at now: Duration) -> [Action] {
        guard newRate != rate else { return [] }
        let change = RateChange(rate: newRate, previousRate: rate, reason: reason, variant: variant)
        rate = newRate
        var actions = [Action.setRate(newRate)]
        if newRate != 0 { actions += endStall(at: now) }
        return actions + [.report(.rateChanged(change))]
    }

    private mutating func control(plays: Bool) -> [Action] {
        let new: TimeControl
        if desiredRate == 0 || phase == .failed || phase == .ended {
            new = .paused
        } else if plays {
            new = .playing
        } else {
            let isKnown = phase == .ready && hasKeptUp
            new = .waiting(isKnown ? .toMinimizeStalls : .evaluatingBufferingRate)
        }
        guard new != timeControl else { return [] }
        timeControl = new
        return [.report(.timeControlChanged(new))]
    }

    private mutating func keepUpChanges(at now: Duration) -> [Action] {
        let does = phase == .ready && (buffer.suffices || buffer.reachesEnd) || keepsUp && !buffer.isEmpty
        guard does != keepsUp else { return [] }
        keepsUp = does
        guard does else {
            lastNotKeepingUp = now
            return []
        }
        defer { hasKeptUp = true }
        let report = KeepUp(
            isInitial: !hasKeptUp,
            variant: variant,
            timeTaken: now - lastNotKeepingUp,
            loadedTimeRanges: []
        )
        return [.report(.likelyToKeepUp(report))]
    }

    private mutating func endStall(at now: Duration) -> [Action] {
        guard let since = stalledSince else { return [] }
        stalledSince = nil
        return [.report(.stallEnded(after: now - since))]
    }
}
