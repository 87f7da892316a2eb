import MediaTiming

/// The played media time, the variant that is played, and whether playback is stalled.
///
/// Logs and metrics both use it, so that their sums agree.
struct PlaybackProgress: Sendable, Hashable {
    /// The media time that the playback position passed.
    struct Passed: Sendable, Hashable {
        /// The media time that was played with all its tracks.
        var played = Duration.zero
        /// The media time in which at least one track had no media, because segments were skipped.
        var skipped = Duration.zero

        /// Returns the result of which the played and the skipped time are at most `limit`.
        func limited(to limit: Duration) -> Passed { Passed(played: min(played, limit), skipped: min(skipped, limit)) }
    }

    /// The result of one event.
    struct Step: Sendable, Hashable {
        /// The media time that was passed since the previous event.
        var passed = Passed()
        /// The media time that counted as played in earlier steps, and of which the event reports that it was skipped.
        var skippedLate = Duration.zero
        /// The variant that was played in that time.
        var variant: VariantDescription?
        /// A Boolean value that indicates whether another variant is played from now on; false for the first one of a
        /// session.
        var didSwitch = false
        /// A Boolean value that indicates whether a stall began.
        var didStall = false
    }

    /// The variant that is played, or the first one selected if none has been played.
    private(set) var variant: VariantDescription?
    /// The playback position.
    private(set) var position: MediaTime?

    private var rate = 0.0
    private var isStalled = false
    /// The number of current seeks: a new seek may begin before the one that it replaces ends.
    private var seeks = 0
    private var lastTime: Duration?
    private var skippedTime = SkippedTime()
    /// The contiguous media that was passed last with the same variant; `nil` if none was passed since the last stall,
    /// seek or change of the variant.
    private var lastRun: PassedRun?

    /// Contiguous media that was passed in one direction.
    private struct PassedRun: Sendable, Hashable {
        var range: MediaTimeRange
        let isForward: Bool
        /// The part of the time that counted as played.
        var played: Duration
    }

    /// A Boolean value that indicates whether the playback position is moving.
    var isPlaying: Bool { rate != 0 && !isStalled && seeks == 0 }

    /// Adds an event.
    mutating func add(_ event: PlaybackEvent) -> Step {
        var step = Step(variant: variant)
        if case .timeJumped(let from, let to) = event.kind {
            // A seek is also a time jump and may be reported after its end, so the played time is limited to the
            // elapsed time.
            let limit = timePlayed(until: event.time)
            step.passed =
                from.map { advance(to: event.time, mediaTime: $0).limited(to: limit) } ?? Passed(played: limit)
            (position, lastTime, lastRun) = (to, event.time, nil)
        } else {
            step.passed = advance(to: event.time, mediaTime: event.mediaTime)
        }
        let variantBefore = variant
        switch event.kind {
        case .rateChanged(let change):
            rate = change.rate.isFinite ? change.rate : 0
            if rate != 0 { isStalled = false }
            if variant == nil { variant = change.variant }
        case .stalled:
            step.didStall = !isStalled
            isStalled = true
            lastRun = nil
        case .stallEnded:
            isStalled = false
        case .seekStarted:
            seeks += 1
            lastRun = nil
        case .seekEnded(let outcome):
            seeks = max(0, seeks - 1)
            // Without a landing position the seek was canceled, and the playback position is unchanged.
            if let landed = outcome.landed { position = landed }
        case .variantSwitchStarted(let change):
            if variant == nil { variant = change.to }
        case .variantSwitched(let change, succeeded: true):
            step.didSwitch = variant != nil && variant != change.to
            variant = change.to
        case .segmentSkipped(let segment): step.skippedLate = addSkipped(segment)
        case .segmentLoaded(let segment): skippedTime.add(segment)
        case .failedToPlayToEnd, .ended:
            rate = 0
        case .statusChanged, .playbackTypeKnown, .timeControlChanged, .resourceRequest, .likelyToKeepUp, .timeJumped,
            .variantSwitched, .pathwayChanged, .selectionChanged, .tracksChanged, .seekableRangeChanged, .timedMetadata,
            .frames, .error, .playedToEnd:
            break
        }
        // Time that was played belongs to the variant, and to the event of the access log, in which it was played.
        if variant != variantBefore { lastRun = nil }
        return step
    }

    /// Adds a segment that was skipped.
    ///
    /// Damage is found when media is decoded, a part of which may have been passed already.
    ///
    /// - Returns: The media time that counted as played and was skipped.
    private mutating func addSkipped(_ segment: SkippedSegment) -> Duration {
        guard var run = lastRun, let passed = run.range.intersection(segment.range) else {
            skippedTime.add(segment)
            return .zero
        }
        let known = skippedTime.amount(in: passed)
        skippedTime.add(segment)
        let late = min(run.played, skippedTime.amount(in: passed).subtractingClampedToZero(known))
        run.played = run.played.subtractingClampedToZero(late)
        lastRun = run
        return late
    }

    /// Updates the playback position.
    ///
    /// - Parameters:
    ///   - time: The current time on the clock of the session.
    ///   - mediaTime: The current playback position. If it is `nil` although it was known before, nothing counts until
    ///     it is known again.
    /// - Returns: The media time passed since the position was last known, at any rate and in either direction. If it was
    ///   never known, the elapsed time multiplied by the rate.
    mutating func advance(to time: Duration, mediaTime: MediaTime?) -> Passed {
        guard position == nil || mediaTime != nil else { return Passed() }
        defer { (position, lastTime) = (mediaTime, max(time, lastTime ?? time)) }
        guard let position, let mediaTime else { return Passed(played: timePlayed(until: time)) }
        guard isPlaying else { return Passed() }
        let (start, end) = rate > 0 ? (position, mediaTime) : (mediaTime, position)
        let distance = end.duration.clamped.subtractingClampedToZero(start.duration.clamped)
        guard distance > .zero else { return Passed() }
        let range = MediaTimeRange(start: start, end: end)
        let skipped = min(distance, skippedTime.amount(in: range))
        let passed = Passed(played: distance.subtractingClampedToZero(skipped), skipped: skipped)
        extendRun(by: range, played: passed.played)
        return passed
    }

    /// Adds media that was passed at the current rate to the last run, or begins another run with it.
    private mutating func extendRun(by range: MediaTimeRange, played: Duration) {
        let isForward = rate > 0
        if var run = lastRun, run.isForward == isForward,
            isForward ? run.range.end == range.start : run.range.start == range.end
        {
            run.range = MediaTimeRange(start: min(run.range.start, range.start), end: max(run.range.end, range.end))
            run.played = run.played.addingClamped(played)
            lastRun = run
        } else {
            lastRun = PassedRun(range: range, isForward: isForward, played: played)
        }
    }

    /// Returns the media time that corresponds to the elapsed time at the current rate.
    private func timePlayed(until time: Duration) -> Duration {
        guard isPlaying, let lastTime else { return .zero }
        return time.subtractingClampedToZero(lastTime).scaled(by: rate.magnitude)
    }
}
