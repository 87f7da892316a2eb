package import HLSPlaylist
import MediaTiming

/// When a live media playlist is loaded again, and with which request (RFC 8216bis §6.3.4, §6.2.5).
///
/// It knows no clock and loads nothing: tell it how each load went, and do what it answers. Times are those of one
/// `TimeSource`.
package struct ReloadSchedule: Sendable {
    /// A load that is due.
    package struct Reload: Sendable, Hashable {
        /// When to begin; never before the moment of the event that led to it.
        package let time: Duration
        /// What to ask of the server.
        package let directives: DeliveryDirectives

        /// Makes a load.
        package init(time: Duration, directives: DeliveryDirectives) {
            self.time = time
            self.directives = directives
        }
    }

    /// What to do next.
    package enum Action: Sendable, Hashable {
        /// Load the playlist again.
        case reload(Reload)
        /// The playlist is stuck: go to another variant or pathway. Where there is none, load it again.
        case stuck(Reload)
        /// The playlist has ended: nothing has to be loaded any more.
        case finish
        /// There is no hope left for this playlist.
        case abandon(Abandonment)
    }

    /// Why there is no hope.
    package enum Abandonment: Sendable, Hashable {
        /// The playlist can be loaded, but has had no news for too long.
        case noNews(since: Duration)
        /// The playlist could not be loaded for too long.
        case unreachable(since: Duration)
    }

    /// How the playlist is kept fresh.
    package let options: Options

    private var best: PlaylistProgress?
    /// When news came last; the first event where none has come.
    private var lastNews: Duration?
    /// When the load began that the copy at hand is from.
    private var copyBegan: Duration?
    private var targetDuration = MediaTime(seconds: 2)
    private var partTarget: MediaTime?
    private var control: ServerControl?
    private var failureCount = 0
    /// How many held requests in a row were answered without news.
    private var emptyAnswerCount = 0
    private var wasBlocking = false
    private var needsWholePlaylist = false

    /// Makes the schedule of a playlist that has not been loaded.
    package init(options: Options = Options()) {
        self.options = options
    }

    /// A load has succeeded.
    ///
    /// - Parameters:
    ///   - playlist: What came: a whole playlist, or a delta update that could be applied.
    ///   - began: When the request was sent.
    ///   - now: When the playlist had come.
    ///   - hasRestarted: Whether the playlist counts anew (``TimelineUpdate/hasRestarted``). Defaults to no.
    /// - Returns: What to do next.
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

    /// A load has failed, retries of the request included.
    ///
    /// The next one asks for the whole playlist at once: what the server cannot hold or leave out may be why it failed.
    ///
    /// - Parameters:
    ///   - began: When the request was sent.
    ///   - now: When it had failed.
    ///   - retryAfter: How long the server asks to be left alone; at most five minutes of it count. Defaults to nothing.
    /// - Returns: What to do next.
    package mutating func failed(began: Duration, at now: Duration, retryAfter: Duration? = nil) -> Action {
        failureCount = min(failureCount + 1, 16)
        needsWholePlaylist = true
        if lastNews == nil { lastNews = min(began, now) }
        // Half a target duration, doubled with each failure up to two: the live edge moves on meanwhile.
        let factor = min(4, 1 << (failureCount - 1))
        let pause = max(targetDuration.duration / 2 * factor, options.shortestInterval)
        let asked = min(retryAfter ?? .zero, .seconds(300))
        return next(after: max(pause, asked), from: now, at: now) { .unreachable(since: $0) }
    }

    /// A delta update has come that could not be applied: the whole playlist is needed, and soon.
    ///
    /// - Parameters:
    ///   - began: When the request was sent.
    ///   - now: When the update had come.
    /// - Returns: What to do next.
    package mutating func deltaRefused(began: Duration, at now: Duration) -> Action {
        needsWholePlaylist = true
        if lastNews == nil { lastNews = min(began, now) }
        return next(after: options.shortestInterval, from: min(began, now), at: now) { .noNews(since: $0) }
    }

    /// When the playlist counts as stuck unless there is news before; `nil` before the first event.
    ///
    /// A request that the server holds may pass that moment unanswered.
    package var newsDeadline: Duration? {
        lastNews.map { $0 + targetDuration.duration * (1 + options.stuckAfter) }
    }
}

extension ReloadSchedule {
    /// How long after the beginning of the last load the next one may begin (§6.3.4).
    private func interval(hasNews: Bool) -> Duration {
        let mayBlock = blockingDirectives != nil
        if mayBlock, hasNews { return options.shortestBlockingInterval }
        // A server that answers a request at once that it should hold is asked like any other.
        let usesParts = options.isLowLatency && emptyAnswerCount < Self.mostEmptyAnswers
        let target = (usesParts ? partTarget : nil) ?? targetDuration
        return max(hasNews ? target.duration : target.duration / 2, options.shortestInterval)
    }

    /// A cache may give one old answer; a server that gives two does not hold requests.
    private static let mostEmptyAnswers = 2

    /// The next segment or part that is not there yet; `nil` where the server does not hold requests for it.
    private var blockingDirectives: DeliveryDirectives? {
        guard options.usesBlockingReloads, !needsWholePlaylist, control?.canBlockReload == true, let best,
            emptyAnswerCount < Self.mostEmptyAnswers
        else { return nil }
        let usesParts = options.isLowLatency && partTarget != nil
        return DeliveryDirectives(mediaSequence: best.nextSequence, part: usesParts ? Int64(best.partCount) : nil)
    }

    /// What may be left out: the copy at hand has to be younger than half of what the server keeps (§6.3.7).
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
