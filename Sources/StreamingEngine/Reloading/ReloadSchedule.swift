package import HLSPlaylist
import MediaTiming

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
        case noNews(since: Duration)
        /// The playlist could not be loaded for too long.
        case unreachable(since: Duration)
    }

    /// The options of the schedule.
    package let options: Options

    private var best: PlaylistProgress?
    /// The time of the last update, or of the first event if there was none.
    private var lastNews: Duration?
    /// The start of the request for the current playlist.
    private var copyBegan: Duration?
    private var targetDuration = MediaTime(seconds: 2)
    private var partTarget: MediaTime?
    private var control: ServerControl?
    private var failureCount = 0
    /// The number of consecutive blocking requests that were answered without an update.
    private var emptyAnswerCount = 0
    private var wasBlocking = false
    private var needsWholePlaylist = false

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
        let hasNews = best.map { progress > $0 } ?? true || hasRestarted
        if hasNews {
            best = progress
            lastNews = now
        }
        emptyAnswerCount = hasNews ? 0 : emptyAnswerCount + (wasBlocking ? 1 : 0)
        failureCount = 0
        needsWholePlaylist = false
        copyBegan = min(began, now)
        targetDuration = playlist.effectiveTargetDuration
        partTarget = playlist.effectivePartTarget
        control = playlist.serverControl
        guard playlist.isLive else { return .finish }
        return next(after: interval(hasNews: hasNews), from: min(began, now), at: now) {
            .noNews(since: $0)
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
    ///   - retryAfter: The delay that the server requested, of which at most five minutes are observed. Default: none.
    /// - Returns: The next action.
    package mutating func failed(began: Duration, at now: Duration, retryAfter: Duration? = nil) -> Action {
        failureCount = min(failureCount + 1, 16)
        needsWholePlaylist = true
        if lastNews == nil { lastNews = min(began, now) }
        // Half a target duration, doubled with each failure up to two target durations, because the live edge advances.
        let factor = min(4, 1 << (failureCount - 1))
        let pause = max(targetDuration.duration / 2 * factor, options.shortestInterval)
        let asked = min(retryAfter ?? .zero, .seconds(300))
        return next(after: max(pause, asked), from: now, at: now) { .unreachable(since: $0) }
    }

    /// Records a delta update that could not be applied, after which the complete playlist is needed soon.
    ///
    /// - Parameters:
    ///   - began: The time at which the request was sent.
    ///   - now: The time at which the update was received.
    /// - Returns: The next action.
    package mutating func deltaRefused(began: Duration, at now: Duration) -> Action {
        needsWholePlaylist = true
        if lastNews == nil { lastNews = min(began, now) }
        return next(after: options.shortestInterval, from: min(began, now), at: now) { .noNews(since: $0) }
    }

    /// The time at which the playlist counts as stuck without an update, or `nil` before the first event.
    ///
    /// A blocking request may still be unanswered at this time.
    package var newsDeadline: Duration? {
        lastNews.map { $0 + targetDuration.duration * (1 + options.stuckAfter) }
    }
}

extension ReloadSchedule {
    /// Returns the minimum time between the start of the last load and the next one (§6.3.4).
    private func interval(hasNews: Bool) -> Duration {
        let mayBlock = blockingDirectives != nil
        if mayBlock, hasNews { return options.shortestBlockingInterval }
        // A server that does not block although it should is requested like a server without support for blocking.
        let usesParts = options.isLowLatency && emptyAnswerCount < Self.mostEmptyAnswers
        let target = (usesParts ? partTarget : nil) ?? targetDuration
        return max(hasNews ? target.duration : target.duration / 2, options.shortestInterval)
    }

    /// The number of responses without an update after which blocking is not used: a cache may return one old response.
    private static let mostEmptyAnswers = 2

    /// The directives for the next segment or partial segment, or `nil` if the server does not support blocking.
    private var blockingDirectives: DeliveryDirectives? {
        guard options.usesBlockingReloads, !needsWholePlaylist, control?.canBlockReload == true, let best,
            emptyAnswerCount < Self.mostEmptyAnswers
        else { return nil }
        let usesParts = options.isLowLatency && partTarget != nil
        return DeliveryDirectives(mediaSequence: best.nextSequence, part: usesParts ? Int64(best.partCount) : nil)
    }

    /// Returns the elements that may be left out.
    ///
    /// The current playlist has to be younger than half of the skip boundary (§6.3.7).
    private func skip(at time: Duration) -> DeliveryDirectives.Skip? {
        guard options.usesDeltaUpdates, !needsWholePlaylist, let control, let copyBegan,
            let boundary = control.canSkipUntil, boundary > .zero, time - copyBegan <= boundary.duration / 2
        else { return nil }
        return control.canSkipDateRanges ? .segmentsAndDateRanges : .segments
    }

    private mutating func next(
        after interval: Duration,
        from began: Duration,
        at now: Duration,
        _ abandonment: (Duration) -> Abandonment
    ) -> Action {
        let since = lastNews ?? now
        let target = targetDuration.duration
        let overdue = now - since - target
        if overdue >= target * options.abandonAfter, now - since >= options.shortestPatience {
            return .abandon(abandonment(since))
        }
        let time = max(now, began + interval)
        var directives = blockingDirectives ?? .none
        directives.skip = skip(at: time)
        wasBlocking = directives.isBlocking
        let reload = Reload(time: time, directives: directives)
        return overdue >= target * options.stuckAfter ? .stuck(reload) : .reload(reload)
    }
}
