public import MediaTiming

/// A recorder that computes the metrics of a session.
///
/// The input is either the sequence of playback events (``add(_:)``) or, for a player that has only an access log, the
/// four calls of `PerfMeasurements` in the sample code of AVFoundation together with ``metrics(with:at:)``. The two
/// must not be combined.
public struct PlaybackMetricsRecorder: Sendable {
    private var clock: StallClock
    private var progress = PlaybackProgress()
    private var errorDeduplicator = ErrorDeduplicator()
    private var oscillations = OscillationCounter()
    private var peak = TimeWeightedBitRate()
    private var average = TimeWeightedBitRate()
    private var figures = PlaybackMetrics()
    private var recoverableErrors = 0
    private var fatalError: PlaybackErrorRecord?
    private var requests = 0
    private var hasEnded = false
    /// The duration of a stall that has ended before the playhead moved again; `nil` if there is none.
    private var endedStall: Duration?

    /// Creates a recorder.
    ///
    /// - Parameter creation: The start of the session, on the clock of all other times.
    public init(creation: Duration) {
        clock = StallClock(creation: creation)
    }

    /// Adds an event; events after ``PlaybackEvent/Kind/ended`` are ignored.
    ///
    /// - Returns: A notice for the console about a change that the viewer perceives; `nil` for most events.
    @discardableResult
    public mutating func add(_ event: PlaybackEvent) -> PlaybackNotice? {
        guard !hasEnded else { return nil }
        let before = progress.variant
        let step = progress.add(event)
        add(step.passed, of: step.variant)
        if step.skippedLate > .zero { skipLate(step.skippedLate, of: step.variant) }
        if step.didSwitch, let old = before, let new = progress.variant {
            figures.variantSwitches = figures.variantSwitches.addingClamped(1)
            oscillations.add(from: old, to: new, played: figures.watchedDuration)
        }
        if let record = errorDeduplicator.newError(in: event.kind) { apply(record, event.kind) }
        switch event.kind {
        case .rateChanged(let change):
            let notice = rateChanged(rate: change.rate, at: event.time)
            guard change.rate != 0 else { return notice }
            defer { endedStall = nil }
            return notice ?? endedStall.map { .resumed(after: $0) }
        case .stalled: return step.didStall ? playbackStalled(at: event.time) : nil
        // A stall also ends with the session, without a resumption.
        case .stallEnded: endedStall = clock.endStall(at: event.time)
        // A pause ends a stall, but does not count as a resumption.
        case .timeControlChanged(.paused): _ = clock.endStall(at: event.time)
        case .playedToEnd, .failedToPlayToEnd: _ = clock.endStall(at: event.time)
        case .resourceRequest(let request): apply(request)
        case .frames(let counts):
            figures.decodedFrames = (figures.decodedFrames ?? 0).addingClamped(counts.decoded)
            figures.droppedFrames = (figures.droppedFrames ?? 0).addingClamped(counts.dropped)
            figures.discardedFrames = (figures.discardedFrames ?? 0).addingClamped(counts.discarded)
        case .segmentSkipped: figures.skippedSegments = figures.skippedSegments.addingClamped(1)
        case .ended: return playbackEnded(at: event.time)
        case .statusChanged, .playbackTypeKnown, .timeControlChanged, .segmentLoaded, .likelyToKeepUp, .seekStarted,
            .seekEnded, .timeJumped, .variantSwitchStarted, .variantSwitched, .pathwayChanged, .selectionChanged,
            .tracksChanged, .seekableRangeChanged, .timedMetadata, .error:
            break
        }
        return nil
    }

    /// Adds the media time played up to the current time, during playback without other events.
    ///
    /// - Parameters:
    ///   - time: The current time on the clock of the session.
    ///   - mediaTime: The current playback position.
    public mutating func advance(to time: Duration, mediaTime: MediaTime?) {
        guard !hasEnded else { return }
        add(progress.advance(to: time, mediaTime: mediaTime), of: progress.variant)
    }

    /// Records a change of the playback rate; a rate other than 0, forward or in reverse, ends startup or a stall.
    @discardableResult
    public mutating func rateChanged(rate: Double, at time: Duration) -> PlaybackNotice? {
        rate != 0 && rate.isFinite && !hasEnded ? clock.beginPlayback(at: time) : nil
    }

    /// Records the beginning of a stall.
    ///
    /// Further calls before the end of the stall have no effect.
    @discardableResult
    public mutating func playbackStalled(at time: Duration) -> PlaybackNotice? {
        hasEnded ? nil : clock.beginStall(at: time)
    }

    /// Records the end of a stall; without a stall, nothing happens.
    @discardableResult
    public mutating func playbackStallEnded(at time: Duration) -> PlaybackNotice? {
        hasEnded ? nil : clock.endStall(at: time).map { .resumed(after: $0) }
    }

    /// Records the end of the session, which also ends a stall; later calls have no effect.
    ///
    /// - Returns: ``PlaybackNotice/ended``; `nil` if playback has not started, or the session has already ended.
    @discardableResult
    public mutating func playbackEnded(at time: Duration) -> PlaybackNotice? {
        guard !hasEnded else { return nil }
        _ = clock.endStall(at: time)
        hasEnded = true
        return clock.startupTime == nil ? nil : .ended
    }

    /// The metrics up to the last event.
    ///
    /// A stall counts when it has ended; ``metrics(at:)`` includes a current stall.
    public var metrics: PlaybackMetrics { metrics(stalledFor: clock.stallDuration) }

    /// Returns the metrics up to a time, including a current stall.
    public func metrics(at time: Duration) -> PlaybackMetrics { metrics(stalledFor: clock.stallDuration(at: time)) }

    /// Returns metrics computed from an access log, with the measured startup time and stall durations.
    ///
    /// - Parameters:
    ///   - log: The log of the same session, which also supplies the number of stalls.
    ///   - time: The current time, to include a current stall.
    /// - Returns: Metrics without skipped time and segments, decoded frames, switches, oscillations and errors, which an
    ///   access log does not contain.
    public func metrics(with log: AccessLog, at time: Duration? = nil) -> PlaybackMetrics {
        let totals = log.totals
        var result = PlaybackMetrics()
        result.startupTime = clock.startupTime
        result.stallDuration = time.map { clock.stallDuration(at: $0) } ?? clock.stallDuration
        result.stallCount = totals.numberOfStalls
        result.watchedDuration = totals.durationWatched
        result.timeWeightedBitrate = totals.timeWeightedIndicatedBitrate
        result.timeWeightedBitrateIncludingUnknown = totals.timeWeightedIndicatedBitrateIncludingUnknown
        result.droppedFrames = totals.numberOfDroppedVideoFrames
        result.bytes = totals.numberOfBytesTransferred
        result.mediaRequests = totals.numberOfMediaRequests
        return result
    }

    /// The summary of the session, as in `AVMetricPlayerItemPlaybackSummaryEvent`; a stall counts when it has ended.
    public var summary: PlaybackSummary { summary(stalledFor: clock.stallDuration) }

    /// Returns the summary of the session up to a time, including a current stall.
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
        result.timeWeightedBitrateIncludingUnknown = peak.value(over: figures.watchedDuration)
        result.oscillations = oscillations.count
        return result
    }

    private mutating func add(_ passed: PlaybackProgress.Passed, of variant: VariantDescription?) {
        figures.watchedDuration = figures.watchedDuration.addingClamped(passed.played)
        figures.skippedDuration = figures.skippedDuration.addingClamped(passed.skipped)
        peak.add(variant?.peakBitRate, for: passed.played)
        average.add(variant?.averageBitRate, for: passed.played)
    }

    /// Counts time as skipped that counted as played before.
    private mutating func skipLate(_ duration: Duration, of variant: VariantDescription?) {
        figures.watchedDuration = figures.watchedDuration.subtractingClampedToZero(duration)
        figures.skippedDuration = figures.skippedDuration.addingClamped(duration)
        peak.remove(variant?.peakBitRate, for: duration)
        average.remove(variant?.averageBitRate, for: duration)
    }

    private mutating func apply(_ record: PlaybackErrorRecord, _ kind: PlaybackEvent.Kind) {
        figures.errors = figures.errors.addingClamped(1)
        var isFatal = !record.didRecover
        if case .failedToPlayToEnd = kind { isFatal = true }
        if isFatal {
            fatalError = record
        } else {
            recoverableErrors = recoverableErrors.addingClamped(1)
        }
    }

    private mutating func apply(_ request: ResourceRequest) {
        requests = requests.addingClamped(1)
        guard !request.wasReadFromCache else { return }
        figures.bytes += request.bytes
        if request.kind == .mediaSegment, request.failure == nil, !request.wasAbandoned {
            figures.mediaRequests = figures.mediaRequests.addingClamped(1)
        }
    }
}
