import MediaTiming

// The ladder of actions after a failure: retry, another location, another variant, a gap, the end of the track, the end
// of playback. All decisions are in this file.

extension RecoveryPolicy {
    // MARK: Requests

    /// Records the failure of a request, and returns the delay before its next attempt.
    ///
    /// - Parameters:
    ///   - failure: The failure of the last attempt.
    ///   - kind: The kind of the request.
    ///   - history: The failures of the request.
    ///   - jitter: A random number from 0 to 1 that spreads the retries of many clients.
    /// - Returns: The delay; `nil` if the request fails.
    package func retryDelay(
        after failure: Failure,
        of kind: TransportRequest.Kind,
        _ history: inout History,
        jitter: Double
    ) -> Duration? {
        history.attempts += 1
        let rule = rules[kind] ?? rule
        guard history.attempts <= rule.maximumRetries, failure.category.isTransient, !failure.exceedsSizeLimit,
            failure.serverDelay <= maximumServerDelay
        else { return nil }
        let schedule = RetrySchedule(initialDelay: rule.initialDelay, maximumDelay: rule.maximumDelay)
        let spread = schedule.delay(before: history.attempts) * (0.5 + 0.5 * min(max(jitter, 0), 1))
        return max(spread, failure.serverDelay)
    }

    // MARK: Files of a download

    /// Records that a file of a download failed, after its retries.
    ///
    /// - Returns: Whether the other files are still fetched.
    package func continues(afterFileFailure history: inout History) -> Bool {
        history.skips += 1
        return history.skips <= limits.skippedResources
    }

    // MARK: Reloads

    /// Returns the delay before a live playlist that could not be loaded is requested again.
    ///
    /// - Parameters:
    ///   - failure: The number of consecutive failures, 1 or more.
    ///   - targetDuration: The target duration of the playlist.
    ///   - minimum: The minimum delay.
    ///   - serverDelay: The delay that the server requested.
    /// - Returns: The delay.
    package func reloadDelay(
        afterFailure failure: Int,
        targetDuration: Duration,
        minimum: Duration,
        serverDelay: Duration
    ) -> Duration {
        // The delays are short, because the live edge advances.
        let first = targetDuration / 2
        let schedule = RetrySchedule(initialDelay: first, maximumDelay: first * 4)
        return max(max(schedule.delay(before: failure), minimum), min(serverDelay, limits.reloadServerDelay))
    }

    // MARK: Tracks

    /// Decides how to continue after the failure of a resource of a track, and excludes its source if necessary.
    ///
    /// - Parameters:
    ///   - failure: The failure.
    ///   - resource: The resource that failed.
    ///   - source: The source of the resource.
    ///   - circumstances: The circumstances of the failure.
    ///   - history: The failures of the track.
    ///   - exclusions: The excluded sources of the item.
    ///   - now: The current time.
    /// - Returns: The action.
    package func action<Source>(
        after failure: Failure,
        of resource: Resource,
        from source: Source,
        _ circumstances: Circumstances,
        _ history: inout History,
        _ exclusions: inout SourceExclusions<Source>,
        at now: Duration
    ) -> Action {
        let end = now + limits.exclusionDuration
        switch resource {
        case .segment(let position):
            let action = segmentAction(failure, at: position, source, circumstances, &history, &exclusions, now)
            // During trick play, no segments are skipped.
            if let action, action != .skip || !circumstances.isTrickPlay { return action }
            return finalSegmentAction(failure.category, source, circumstances, &history, &exclusions, end)
        case .playlist:
            exclusions.exclude(source, until: end)
            return playlistAction(failure, circumstances, &history, now)
        case .reload(let isOverdue):
            // A playlist that is too large would be received up to its limit at each reload.
            let isLast = isOverdue || failure.exceedsSizeLimit
            // A variant is excluded only if it is replaced or must not be reloaded any more.
            if isLast || circumstances.track != .main || circumstances.hasOtherSource || circumstances.isTrickPlay {
                exclusions.exclude(source, until: end)
            }
            return reloadAction(circumstances, isOverdue: isLast)
        }
    }

    /// Returns the action after the failure of a segment; `nil` if the track cannot continue from its source.
    private func segmentAction<Source>(
        _ failure: Failure,
        at position: MediaTime,
        _ source: Source,
        _ circumstances: Circumstances,
        _ history: inout History,
        _ exclusions: inout SourceExclusions<Source>,
        _ now: Duration
    ) -> Action? {
        var category = failure.category
        if category == .inconsistent || category == .busy && circumstances.track == .subtitles { category = .missing }
        let isOfSegment = category == .missing || category == .damaged
        // If the server does not respond, another quality of the same audio is not expected to work either.
        let usesOtherSource = circumstances.hasOtherSource && (circumstances.track == .main || isOfSegment)
        // A rendition is replaced at its first missing segment, a variant after several.
        if usesOtherSource, isOfSegment,
            circumstances.track != .main
                || exclusions.noteMissingSegment(of: source, limit: limits.missingSegments)
        {
            exclusions.exclude(source, until: now + limits.exclusionDuration)
        }
        if history.position != position {
            history.position = position
            history.attempts = 0
        }
        if category != .unreachable { history.unreachableSince = nil }
        switch category {
        case .denied, .deviceLost: return nil
        case .unreachable where limits.isBoundByRetries, .busy where limits.isBoundByRetries:
            if usesOtherSource { return .useOtherSource(otherwise: .skip) }
            history.skips += 1
            return history.skips > limits.skippedResources ? nil : .skip
        case .unreachable:
            guard let delay = unreachableDelay(failure, circumstances, &history, now) else { return nil }
            return usesOtherSource && history.attempts == 1 ? .useOtherSource(otherwise: .skip) : .retry(after: delay)
        case .busy:
            let since = history.busySince ?? now
            history.busySince = since
            history.attempts += 1
            if usesOtherSource, history.attempts == 1 { return .useOtherSource(otherwise: .skip) }
            let isOver = now - since >= circumstances.timeout
            let limit = min(limits.busyDuration, circumstances.timeout / 2)
            if !history.hasSkippedBusySegment, isOver || circumstances.isUrgent && now - since >= limit {
                history.hasSkippedBusySegment = true
                // It is not known yet whether only this segment fails.
                if isOver { history.busySince = now - circumstances.timeout / 2 }
                return .skip
            }
            return isOver ? nil : .retry(after: segmentDelay(history.attempts, failure))
        case .missing, .damaged, .inconsistent, .stale:
            if usesOtherSource { return .useOtherSource(otherwise: .skip) }
            // The playlist of a live stream may be updated before all servers have the media.
            if circumstances.isLive, category == .missing, !failure.exceedsSizeLimit,
                history.attempts < limits.liveRetries
            {
                history.attempts += 1
                return .retry(after: segmentDelay(1, failure))
            }
            history.skips += 1
            return history.skips > limits.skippedResources ? nil : .skip
        }
    }

    /// Returns the delay before the next request to a server that cannot be reached; `nil` after the time limit.
    private func unreachableDelay(
        _ failure: Failure,
        _ circumstances: Circumstances,
        _ history: inout History,
        _ now: Duration
    ) -> Duration? {
        let since = history.unreachableSince ?? now
        history.unreachableSince = since
        guard now - since < circumstances.timeout else { return nil }
        history.attempts += 1
        return segmentDelay(history.attempts, failure)
    }

    private func segmentDelay(_ retry: Int, _ failure: Failure) -> Duration {
        let delay = RetrySchedule(initialDelay: .seconds(1), maximumDelay: .seconds(8)).delay(before: retry)
        return min(max(delay, failure.serverDelay), limits.segmentDelay)
    }

    /// Returns the action after a track could not continue from a source.
    private func finalSegmentAction<Source>(
        _ category: FailureCategory,
        _ source: Source,
        _ circumstances: Circumstances,
        _ history: inout History,
        _ exclusions: inout SourceExclusions<Source>,
        _ end: Duration
    ) -> Action {
        if circumstances.isTrickPlay {
            exclusions.exclude(source, until: end)
            return .useNormalPlayback
        }
        let isDenied = category == .denied || category == .deviceLost
        if circumstances.track != .main, !isDenied {
            exclusions.exclude(source, until: end)
            guard circumstances.hasOtherSource else { return .dropTrack }
            history = History()
            return .useOtherSource(otherwise: .dropTrack)
        }
        // Video can be played without audio, unless access to the audio is denied or its format is not supported.
        guard circumstances.track.isRequired else { return .dropTrack }
        return circumstances.hasMedia && category != .deviceLost ? .endAfterBuffer : .fail
    }

    private func playlistAction(
        _ failure: Failure,
        _ circumstances: Circumstances,
        _ history: inout History,
        _ now: Duration
    ) -> Action {
        if circumstances.isTrickPlay { return .useNormalPlayback }
        let isMain = circumstances.track == .main
        if circumstances.hasOtherSource { return .useOtherSource(otherwise: isMain ? .fail : .dropTrack) }
        guard isMain else { return .dropTrack }
        if circumstances.hasFormerSource { return .useFormerSource }
        guard failure.category == .unreachable, !limits.isBoundByRetries else { return .fail }
        if history.position != .zero {
            history.position = .zero
            history.attempts = 0
        }
        return unreachableDelay(failure, circumstances, &history, now).map { .retry(after: $0) } ?? .fail
    }

    private func reloadAction(_ circumstances: Circumstances, isOverdue: Bool) -> Action {
        if circumstances.isTrickPlay { return .useNormalPlayback }
        let alternative: Alternative =
            if isOverdue {
                circumstances.track == .main ? .fail : .dropTrack
            } else {
                // Video would stall if it waited for audio whose playlist is not updated.
                circumstances.isDelayingOtherTracks && circumstances.isUrgent ? .dropTrack : .reload
            }
        if circumstances.hasOtherSource { return .useOtherSource(otherwise: alternative) }
        return Action(alternative)
    }
}

extension RecoveryPolicy.Action {
    /// Creates the action of an alternative.
    package init(_ alternative: RecoveryPolicy.Alternative) {
        self =
            switch alternative {
            case .reload: .reload
            case .skip: .skip
            case .dropTrack: .dropTrack
            case .fail: .fail
            }
    }
}
