import MediaTiming
import PlaybackReporting

/// A state machine that determines the playback rate from the requested rate, the buffer state and the last events.
///
/// It has no clock and no access to the pipeline: its inputs contain the time, and it returns the actions to perform.
struct PlaybackStateMachine: Sendable {
    /// An action that the caller has to perform.
    enum Action: Sendable, Equatable {
        /// The pipeline is to be set to this rate.
        case setRate(Double)
        /// An event is to be reported.
        case report(PlaybackEvent.Kind)
    }

    /// The phase of the item, which together with the buffer determines whether playback is possible.
    private enum Phase: Equatable {
        case preparing
        case ready
        case seeking
        case ended
        case failed
    }

    /// The requested rate; 0 for a pause.
    private(set) var desiredRate = 0.0
    /// A Boolean value that indicates whether playback is paused because reverse playback reached the start.
    private(set) var isPausedAtStart = false
    /// The current rate of the playback position.
    private(set) var rate = 0.0
    /// The state of the player: paused, waiting or playing.
    private(set) var timeControl = TimeControl.paused
    /// A Boolean value that indicates whether playback waits until the buffer suffices, instead of beginning with any
    /// media.
    var waitsToMinimizeStalls = true
    /// The variant that is played, for reports.
    var variant: VariantDescription?
    /// The factor on the rate that corrects the distance of a live stream to its live edge.
    private(set) var rateCorrection = 1.0

    private var phase = Phase.preparing
    private var buffer = BufferState()
    private var isWaiting = true
    private var startsImmediately = false
    private var stalledSince: Duration?
    private var isKeepingUp = false
    private var hasKeptUp = false
    private var lastNotKeepingUp: Duration

    init(start: Duration) { lastNotKeepingUp = start }

    /// A Boolean value that indicates whether playback is stalled because the buffer is empty.
    var isStalled: Bool { stalledSince != nil }
    /// A Boolean value that indicates whether the buffer suffices to continue playback without stalls.
    var isLikelyToKeepUp: Bool { isKeepingUp }
    /// A Boolean value that indicates whether the item is ready to play.
    var isReady: Bool { phase != .preparing && phase != .failed }
    /// A Boolean value that indicates whether the playback position is at the end.
    var hasEnded: Bool { phase == .ended }
    /// The state of the buffer.
    var bufferState: BufferState { buffer }

    /// Sets the requested rate.
    ///
    /// - Parameters:
    ///   - desired: The rate; 0 for a pause.
    ///   - reason: The reason for the change.
    ///   - immediately: Whether to play immediately with the available media instead of waiting until the buffer suffices.
    ///   - turnedBuffer: The state of the buffer in the new direction; `nil` if the direction does not change. Playback
    ///     waits for media in the new direction as after a seek, which is not a stall.
    ///   - now: The current time.
    /// - Returns: The actions to perform.
    mutating func setRate(
        _ desired: Double,
        reason: RateChange.Reason = .setRateCalled,
        immediately: Bool = false,
        turnedBuffer: BufferState? = nil,
        at now: Duration
    ) -> [Action] {
        // At the end, forward playback requires a seek first, as in AVPlayer; reverse playback is possible.
        if phase == .ended, desired < 0 { phase = .ready }
        guard phase != .ended, phase != .failed else { return [] }
        desiredRate = desired
        isPausedAtStart = desired == 0 && reason == .reversePlaybackReachedStartOfSeekableRange
        startsImmediately = immediately
        if let turnedBuffer {
            buffer = turnedBuffer
            isWaiting = true
        }
        // The live correction applies only to the normal rate.
        if desired != 1 { rateCorrection = 1 }
        guard desired == 0 else { return update(reason, at: now) }
        // A pause is not a wait: after it, the buffer is evaluated again.
        isWaiting = true
        let actions = update(reason, at: now)
        return actions + endStall(at: now)
    }

    /// Records that the item is ready to play.
    mutating func becomeReady(at now: Duration) -> [Action] {
        guard phase == .preparing else { return [] }
        phase = .ready
        return update(.buffering, at: now)
    }

    /// Records a change of the buffer.
    mutating func bufferChanged(_ state: BufferState, variant: VariantDescription?, at now: Duration) -> [Action] {
        buffer = state
        self.variant = variant
        return update(.buffering, at: now)
    }

    /// Records the beginning of a seek.
    mutating func seekBegan(at now: Duration) -> [Action] {
        guard phase != .failed else { return [] }
        if phase != .preparing { phase = .seeking }
        isPausedAtStart = false
        isWaiting = true
        // After a seek, playback does not wait because of an empty buffer.
        var actions = endStall(at: now)
        // The initial report counts from the start of the session.
        if hasKeptUp { lastNotKeepingUp = now }
        buffer = BufferState()
        actions += update(.buffering, at: now)
        return actions
    }

    /// Records the end of a seek.
    mutating func seekEnded(_ state: BufferState, at now: Duration) -> [Action] {
        guard phase == .seeking else { return [] }
        phase = .ready
        buffer = state
        return update(.buffering, at: now)
    }

    /// Records that the playback position left the end without a seek.
    mutating func resumeFromEnd() {
        if phase == .ended { phase = .ready }
    }

    /// Records that the playback position reached the end.
    mutating func reachedEnd(pausing: Bool, at now: Duration) -> [Action] {
        guard phase == .ready else { return [] }
        phase = .ended
        if pausing { desiredRate = 0 }
        return endStall(at: now) + update(.playedToEnd, at: now) + [.report(.playedToEnd)]
    }

    /// Records that playback failed terminally.
    mutating func fail(at now: Duration) -> [Action] {
        guard phase != .failed else { return [] }
        phase = .failed
        desiredRate = 0
        return endStall(at: now) + update(.ended, at: now)
    }

    /// Sets the factor by which a live stream is played faster or slower than the requested rate; 1 ends the
    /// correction.
    mutating func correctRate(by factor: Double, at now: Duration) -> [Action] {
        guard factor != rateCorrection else { return [] }
        rateCorrection = factor
        return update(.liveOffsetCorrection, at: now)
    }

    private mutating func update(_ reason: RateChange.Reason, at now: Duration) -> [Action] {
        var actions = keepUpChanges(at: now)
        var reason = reason
        if phase == .ready, desiredRate != 0 {
            if isWaiting {
                let atOnce = startsImmediately || !waitsToMinimizeStalls
                // A full buffer cannot grow.
                let isEnough = buffer.isSufficient || buffer.isFull || atOnce
                if buffer.reachesEnd || isEnough && !buffer.isEmpty {
                    isWaiting = false
                    // A requested start counts as such, even if it had to wait for the buffer.
                    reason = reason == .buffering && stalledSince == nil ? .setRateCalled : reason
                }
            } else if buffer.isEmpty {
                isWaiting = true
                startsImmediately = false
                stalledSince = now
                actions.append(.report(.stalled))
            }
        }
        let plays = phase == .ready && desiredRate != 0 && !isWaiting
        actions += updateRate(to: plays ? desiredRate * rateCorrection : 0, reason: reason, at: now)
        actions += updateTimeControl(isPlaying: plays)
        return actions
    }

    private mutating func updateRate(to newRate: Double, reason: RateChange.Reason, at now: Duration) -> [Action] {
        guard newRate != rate else { return [] }
        let change = RateChange(rate: newRate, previousRate: rate, reason: reason, variant: variant)
        rate = newRate
        var actions = [Action.setRate(newRate)]
        if newRate != 0 { actions += endStall(at: now) }
        return actions + [.report(.rateChanged(change))]
    }

    private mutating func updateTimeControl(isPlaying: Bool) -> [Action] {
        let new: TimeControl
        if desiredRate == 0 || phase == .failed || phase == .ended {
            new = .paused
        } else if isPlaying {
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
        let does = phase == .ready && (buffer.isSufficient || buffer.reachesEnd) || isKeepingUp && !buffer.isEmpty
        guard does != isKeepingUp else { return [] }
        isKeepingUp = does
        guard does else {
            lastNotKeepingUp = now
            return []
        }
        defer { hasKeptUp = true }
        let report = LikelyToKeepUpReport(
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
