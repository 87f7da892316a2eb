public import MediaTiming

/// Measures a session.
///
/// Either from the events of playback, by ``add(_:)``; or, where a player reports to nobody but its access log, by the four
/// calls of `PerfMeasurements` in the sample code of AVFoundation and ``metrics(with:at:)``. Nobody does both.
public struct PlaybackMetricsRecorder: Sendable {
    private var clock: StallClock
    private var progress = PlaybackProgress()
    private var sieve = ErrorSieve()
    private var oscillations = OscillationCounter()
    private var peak = TimeWeightedBitRate()
    private var average = TimeWeightedBitRate()
    private var figures = PlaybackMetrics()
    private var recoverableErrors = 0
    private var fatalError: PlaybackErrorRecord?
    private var requests = 0
    private var hasEnded = false

    /// Begins to measure.
    ///
    /// - Parameter creation: When the session began, on the clock that all other times are of.
    public init(creation: Duration) {
        clock = StallClock(creation: creation)
    }

    /// Takes an event; after ``PlaybackEvent/Kind/ended`` there are none.
    ///
    /// - Returns: What a viewer noticed, to be printed where somebody watches; `nil` for most events.
    @discardableResult
    public mutating func add(_ event: PlaybackEvent) -> PlaybackNotice? {
        guard !hasEnded else { return nil }
        let before = progress.variant
        let step = progress.add(event)
        add(played: step.played, of: step.variant)
        if step.didSwitch, let old = before, let new = progress.variant {
            figures.variantSwitches = figures.variantSwitches.addingClamped(1)
            oscillations.add(from: old, to: new, played: figures.watchedDuration)
        }
        if let record = sieve.record(of: event.kind) { take(record, event.kind) }
        switch event.kind {
        case .rateChanged(let change): return rateChanged(rate: change.rate, at: event.time)
        case .stalled: return step.didStall ? playbackStalled(at: event.time) : nil
        case .stallEnded: return playbackStallEnded(at: event.time)
        // Whoever pauses waits no longer, even where the stall would have gone on; nothing resumes by that.
        case .timeControlChanged(.paused): _ = clock.endStall(at: event.time)
        case .playedToEnd, .failedToPlayToEnd: _ = clock.endStall(at: event.time)
        case .resourceRequest(let request): take(request)
        case .frames(let counts):
            figures.decodedFrames = (figures.decodedFrames ?? 0).addingClamped(counts.decoded)
            figures.droppedFrames = (figures.droppedFrames ?? 0).addingClamped(counts.dropped)
            figures.discardedFrames = (figures.discardedFrames ?? 0).addingClamped(counts.discarded)
        case .ended: return playbackEnded(at: event.time)
        default: break
        }
        return nil
    }

    /// Counts what was played up to now, while nothing happens but play.
    ///
    /// - Parameters:
    ///   - time: Now, on the clock of the session.
    ///   - mediaTime: Where the play head is.
    public mutating func advance(to time: Duration, mediaTime: MediaTime?) {
        guard !hasEnded else { return }
        add(played: progress.advance(to: time, mediaTime: mediaTime), of: progress.variant)
    }

    /// The play head moves at another rate; one above 0 ends the start, or a stall.
    @discardableResult
    public mutating func rateChanged(rate: Double, at time: Duration) -> PlaybackNotice? {
        rate > 0 && !hasEnded ? clock.moves(at: time) : nil
    }

    /// Nothing is left to play.
    ///
    /// A second call before the end of the stall changes nothing.
    @discardableResult
    public mutating func playbackStalled(at time: Duration) -> PlaybackNotice? {
        hasEnded ? nil : clock.stalls(at: time)
    }

    /// The stall is over; without one, nothing happens.
    @discardableResult
    public mutating func playbackStallEnded(at time: Duration) -> PlaybackNotice? {
        hasEnded ? nil : clock.endStall(at: time).map { .resumed(after: $0) }
    }

    /// The session is over: a stall that goes on ends with it, and nothing counts from now on.
    @discardableResult
    public mutating func playbackEnded(at time: Duration) -> PlaybackNotice? {
        guard !hasEnded else { return nil }
        _ = clock.endStall(at: time)
        hasEnded = true
        return .ended
    }

    /// The indicators up to the last event.
    ///
    /// A stall counts when it ends; see ``metrics(at:)`` for one that goes on.
    public var metrics: PlaybackMetrics { metrics(stalledFor: clock.stallDuration) }

    /// The indicators up to a moment, with the stall that goes on then.
    public func metrics(at time: Duration) -> PlaybackMetrics { metrics(stalledFor: clock.stallDuration(at: time)) }

    /// The indicators by an access log, with the start and the stalls that were measured here.
    ///
    /// - Parameters:
    ///   - log: The log of the same session; how often it stalled is taken from there too.
    ///   - time: Now, where a stall that goes on is to count.
    /// - Returns: Indicators without frames decoded, switches, oscillations and errors, of which an access log says nothing.
    public func metrics(with log: AccessLog, at time: Duration? = nil) -> PlaybackMetrics {
        let totals = log.totals
        var result = PlaybackMetrics()
        result.startupTime = clock.startupTime
        result.stallDuration = time.map { clock.stallDuration(at: $0) } ?? clock.stallDuration
        result.stallCount = totals.numberOfStalls
        result.watchedDuration = totals.durationWatched
        result.timeWeightedBitrate = totals.timeWeightedIndicatedBitrate
        result.timeWeightedBitrateOfAll = totals.timeWeightedIndicatedBitrateOfAll
        result.droppedFrames = totals.numberOfDroppedVideoFrames
        result.bytes = totals.numberOfBytesTransferred
        result.mediaRequests = totals.numberOfMediaRequests
        return result
    }

    /// The session in a few figures, as `AVMetricPlayerItemPlaybackSummaryEvent` has it; a stall counts when it ends.
    public var summary: PlaybackSummary { summary(stalledFor: clock.stallDuration) }

    /// The same up to a moment, with the stall that goes on then.
    public func summary(at time: Duration) -> PlaybackSummary { summary(stalledFor: clock.stallDuration(at: time)) }

    private func summary(stalledFor stallDuration: Duration) -> PlaybackSummary {
        PlaybackSummary(
            errorEvent: fatalError,
            recoverableErrorCount: recoverableErrors,
            stallCount: clock.stallCount,
            variantSwitchCount: figures.variantSwitches,
            playbackDuration: figures.watchedDuration,
            mediaResourceRequestCount: requests,
            timeSpentRecoveringFromStall: stallDuration,
            timeSpentInInitialStartup: clock.startupTime,
            timeWeightedAverageBitrate: average.value,
            timeWeightedPeakBitrate: peak.value
        )
    }

    private func metrics(stalledFor stallDuration: Duration) -> PlaybackMetrics {
        var result = figures
        result.startupTime = clock.startupTime
        result.stallCount = clock.stallCount
        result.stallDuration = stallDuration
        result.timeWeightedBitrate = peak.value
        result.timeWeightedBitrateOfAll = peak.value(over: figures.watchedDuration)
        result.oscillations = oscillations.count
        return result
    }

    private mutating func add(played: Duration, of variant: VariantDescription?) {
        figures.watchedDuration = figures.watchedDuration.addingClamped(played)
        peak.add(variant?.peakBitRate, for: played)
        average.add(variant?.averageBitRate, for: played)
    }

    private mutating func take(_ record: PlaybackErrorRecord, _ kind: PlaybackEvent.Kind) {
        figures.errors = figures.errors.addingClamped(1)
        var isFatal = !record.didRecover
        if case .failedToPlayToEnd = kind { isFatal = true }
        if isFatal {
            fatalError = record
        } else {
            recoverableErrors = recoverableErrors.addingClamped(1)
        }
    }

    private mutating func take(_ request: ResourceRequest) {
        requests = requests.addingClamped(1)
        guard !request.wasReadFromCache else { return }
        figures.bytes += request.bytes
        if request.kind == .mediaSegment, request.failure == nil, !request.wasAbandoned {
            figures.mediaRequests = figures.mediaRequests.addingClamped(1)
        }
    }
}
