import MediaTiming

/// The played media time, the variant that is played, and whether playback is stalled.
///
/// Logs and metrics both use it, so that their sums agree.
struct PlaybackProgress: Sendable, Hashable {
    /// The media time that the playback position passed.
    struct Passed: Sendable, Hashable {
        /// The media time that was played.
        ///
        /// Time in which no track had media is not played.
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
            (position, lastTime) = (to, event.time)
        } else {
            step.passed = advance(to: event.time, mediaTime: event.mediaTime)
        }
        switch event.kind {
        case .rateChanged(let change):
            rate = change.rate.isFinite ? change.rate : 0
            if rate != 0 { isStalled = false }
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
            // Without a landing position the seek was canceled, and the playback position is unchanged.
            if let landed = outcome.landed { position = landed }
        case .variantSwitchStarted(let change):
            if variant == nil { variant = change.to }
        case .variantSwitched(let change, succeeded: true):
            step.didSwitch = variant != nil && variant != change.to
            variant = change.to
        case .segmentSkipped(let segment): skippedTime.add(segment)
        case .segmentLoaded(let segment): skippedTime.add(segment)
        case .failedToPlayToEnd, .ended:
            rate = 0
        case .statusChanged, .playbackTypeKnown, .timeControlChanged, .resourceRequest, .likelyToKeepUp, .timeJumped,
            .variantSwitched, .pathwayChanged, .selectionChanged, .tracksChanged, .seekableRangeChanged, .timedMetadata,
            .frames, .error, .playedToEnd:
            break
        }
        return step
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
        let missing = skippedTime.amount(in: MediaTimeRange(start: start, end: end))
        return Passed(
            played: distance.subtractingClampedToZero(missing.ofAllTracks),
            skipped: min(distance, missing.ofAnyTrack)
        )
    }

    /// Returns the media time that corresponds to the elapsed time at the current rate.
    private func timePlayed(until time: Duration) -> Duration {
        guard isPlaying, let lastTime else { return .zero }
        return time.subtractingClampedToZero(lastTime).scaled(by: rate.magnitude)
    }
}
