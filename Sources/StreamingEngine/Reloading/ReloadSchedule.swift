package import HLSPlaylist
import MediaTiming
import MediaTransport

/// A schedule that determines when and with which directives a live media playlist is reloaded (RFC 8216bis §6.3.4,
/// §6.2.5).
///
/// It has no clock and loads nothing: the caller reports the result of each load and performs the returned action. All
/// times are those of one `TimeSource`.
package struct ReloadSchedule: Sendable {
    /// A scheduled reload.
    package struct Reload: Sendable, Hashable {
        /// The time of the request, never before the time of the preceding call.
        package let time: Duration
        /// The delivery directives of the request.
        package let directives: DeliveryDirectives

        /// Creates a reload.
        package init(time: Duration, directives: DeliveryDirectives) {
            self.time = time
            self.directives = directives
        }
    }

    /// The next action of the caller.
    package enum Action: Sendable, Hashable {
        /// The playlist is to be reloaded.
        case reload(Reload)
        /// The playlist is stuck: the caller should switch to another variant or pathway, or else reload it.
        case stuck(Reload)
        /// The playlist has ended and is not reloaded any more.
        case finish
        /// The playlist is to be abandoned.
        case abandon(Abandonment)
    }

    /// The reason for which a playlist is abandoned.
    package enum Abandonment: Sendable, Hashable {
        /// The playlist can be loaded, but has not been updated for too long.
        case notUpdated(since: Duration)
        /// The playlist could not be loaded for too long.
        case unreachable(since: Duration)
    }

    private static let recovery = RecoveryPolicy()

    /// The options of the schedule.
    package let options: Options

    private var latestProgress: PlaylistProgress?
    /// The time of the last update, or of the first event if there was none.
    private var lastUpdate: Duration?
    /// The start of the request for the current playlist.
    private var playlistRequestTime: Duration?
    private var targetDuration = MediaTime(seconds: 2)
    private var partTarget: MediaTime?
    private var control: ServerControl?
    private var failureCount = 0
    /// The number of consecutive blocking requests that were answered without an update.
    private var unchangedResponseCount = 0
    private var wasBlocking = false
    private var needsFullPlaylist = false

    /// Creates the schedule of a playlist that has not been loaded.
    package init(options: Options = Options()) {
        self.options = options
    }

    /// Records a successful load.
    ///
    /// - Parameters:
    ///   - playlist: The loaded playlist: complete, or a delta update that could be applied.
    ///   - began: The time at which the request was sent.
    ///   - now: The time at which the playlist was received.
    ///   - hasRestarted: Whether the sequence numbers restarted (``TimelineUpdate/hasRestarted``). Default: false.
    /// - Returns: The next action.
    package mutating func loaded(
        _ playlist: MediaPlaylist,
        began: Duration,
        at now: Duration,
        hasRestarted: Bool = false
    ) -> Action {
        let progress = PlaylistProgress(playlist)
        let hasNews = latestProgress.map { progress > $0 } ?? true || hasRestarted
        if hasNews {
            latestProgress = progress
            lastUpdate = now
        }
        unchangedResponseCount = hasNews ? 0 : unchangedResponseCount + (wasBlocking ? 1 : 0)
        failureCount = 0
        needsFullPlaylist = false
        playlistRequestTime = min(began, now)
        targetDuration = playlist.effectiveTargetDuration
        partTarget = playlist.effectivePartTarget
        control = playlist.serverControl
        guard playlist.isLive else { return .finish }
        return next(after: interval(hasUpdate: hasNews), from: min(began, now), at: now) {
            .notUpdated(since: $0)
        }
    }

    /// Records a failed load, including its retries.
    ///
    /// The next request is for a complete playlist without blocking, because a directive may be the cause of the
    /// failure.
    ///
    /// - Parameters:
    ///   - began: The time at which the request was sent.
    ///   - now: The time at which it failed.
    ///   - serverDelay: The delay that the server requested, of which at most five minutes are observed. Default: none.
    /// - Returns: The next action.
    package mutating func failed(began: Duration, at now: Duration, serverDelay: Duration = .zero) -> Action {
        failureCount = min(failureCount + 1, 16)
        needsFullPlaylist = true
        if lastUpdate == nil { lastUpdate = min(began, now) }
        let delay = Self.recovery.reloadDelay(
            afterFailure: failureCount,
            targetDuration: targetDuration.duration,
            minimum: options.minimumInterval,
            serverDelay: serverDelay
        )
        return next(after: delay, from: now, at: now) { .unreachable(since: $0) }
    }

    /// Records a delta update that could not be applied, after which the complete playlist is needed soon.
    ///
    /// - Parameters:
    ///   - began: The time at which the request was sent.
    ///   - now: The time at which the update was received.
    /// - Returns: The next action.
    package mutating func deltaUpdateFailed(began: Duration, at now: Duration) -> Action {
        needsFullPlaylist = true
        if lastUpdate == nil { lastUpdate = min(began, now) }
        return next(after: options.minimumInterval, from: min(began, now), at: now) { .notUpdated(since: $0) }
    }

    /// The time at which the playlist counts as stuck without an update, or `nil` before the first event.
    ///
    /// A blocking request may still be unanswered at this time.
    package var updateDeadline: Duration? {
        lastUpdate.map { $0 + targetDuration.duration * (1 + options.stuckThreshold) }
    }
}

extension ReloadSchedule {
    /// Returns the minimum time between the start of the last load and the next one (§6.3.4).
    private func interval(hasUpdate: Bool) -> Duration {
        // Without partial segments, a blocking request saves the requests that return no new segment, and is subject to
        // the same interval as others, so that segments that are shorter than the target duration cost no more requests.
        if hasUpdate, blockingDirectives?.part != nil { return options.minimumBlockingInterval }
        // A server that does not block although it should is requested like a server without support for blocking.
        let usesParts = options.isLowLatency && unchangedResponseCount < Self.maximumUnchangedResponses
        let target = (usesParts ? partTarget : nil) ?? targetDuration
        return max(hasUpdate ? target.duration : target.duration / 2, options.minimumInterval)
    }

    /// The number of responses without an update after which blocking is not used: a cache may return one old response.
    private static let maximumUnchangedResponses = 2

    /// The directives for the next segment or partial segment, or `nil` if the server does not support blocking.
    private var blockingDirectives: DeliveryDirectives? {
        guard options.usesBlockingReloads, !needsFullPlaylist, control?.canBlockReload == true, let latestProgress,
            unchangedResponseCount < Self.maximumUnchangedResponses
        else { return nil }
        let usesParts = options.isLowLatency && partTarget != nil
        return DeliveryDirectives(
            mediaSequence: latestProgress.nextSequence,
            part: usesParts ? Int64(latestProgress.partCount) : nil
        )
    }

    /// Returns the elements that may be left out.
    ///
    /// The current playlist has to be younger than half of the skip boundary (§6.3.7).
    private func skip(at time: Duration) -> DeliveryDirectives.Skip? {
        guard options.usesDeltaUpdates, !needsFullPlaylist, let control, let playlistRequestTime,
            let boundary = control.canSkipUntil, boundary > .zero, time - playlistRequestTime <= boundary.duration / 2
        else { return nil }
        return control.canSkipDateRanges ? .segmentsAndDateRanges : .segments
    }

    private mutating func next(
        after interval: Duration,
        from began: Duration,
        at now: Duration,
        _ abandonment: (Duration) -> Abandonment
    ) -> Action {
        let since = lastUpdate ?? now
        let target = targetDuration.duration
        let overdue = now - since - target
        if overdue >= target * options.abandonmentThreshold, now - since >= options.minimumAbandonmentDelay {
            return .abandon(abandonment(since))
        }
        let time = max(now, began + interval)
        var directives = blockingDirectives ?? .none
        directives.skip = skip(at: time)
        wasBlocking = directives.isBlocking
        let reload = Reload(time: time, directives: directives)
        return overdue >= target * options.stuckThreshold ? .stuck(reload) : .reload(reload)
    }
}
