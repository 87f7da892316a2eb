import MediaTiming
import ResourceAddressing
import StreamingEngine

/// An item of the interstitial player.
struct InterstitialItem: Sendable, Hashable {
    /// The media of an item.
    enum Source: Sendable, Hashable {
        /// An asset of the application.
        case asset(Asset)
        /// An address that the stream or an asset list names.
        case address(ResourceAddress)
    }

    /// The number, which is unique among the items of a player.
    let number: Int
    /// The media.
    let source: Source
    /// A Boolean value that indicates whether a viewer can neither seek forward in the item nor play it faster.
    let forbidsAdvancing: Bool
}

/// The playout of one interstitial, from the moment when its items are in the queue.
struct InterstitialPlayout: Sendable {
    /// A reason why an interstitial ends.
    enum End: Sendable, Hashable {
        /// All items were played, or skipped because they failed.
        case played
        /// The playout limit was reached.
        case limit
        /// A viewer skipped it.
        case skipped
        /// The application canceled it, and may have set the distance from its start at which the primary item resumes.
        case canceled(resumptionOffset: MediaTime?)
        /// The media did not arrive within the time limit, or the interstitial player failed.
        case abandoned
        /// A viewer moved the playhead of the primary item, or another item or a failure replaced it.
        case left
    }

    /// The next step of the playout.
    enum Step: Sendable, Hashable {
        /// The current item continues, or waits for media.
        case wait
        /// An item of the queue failed or stopped at its end, and must be removed from the queue.
        case remove(Int)
        /// The interstitial ended.
        case end(End)
    }

    /// The state of the interstitial player's rate.
    private enum Rate: Sendable, Hashable {
        case unset
        /// The player was asked to follow a rate of the primary player.
        case requested(primaryRate: Double)
        /// The player accepted the rate: if it is paused later, the application or a viewer paused it.
        case accepted(primaryRate: Double)

        var primaryRate: Double? {
            switch self {
            case .unset: nil
            case .requested(let rate), .accepted(let rate): rate
            }
        }

        var isAccepted: Bool { if case .accepted = self { true } else { false } }
    }

    /// The interstitial.
    let event: InterstitialEvent
    /// The control with which a viewer skips the interstitial; that of the asset list takes precedence.
    let skipControl: InterstitialEvent.SkipControl?
    /// The items that are played, without those that must not be loaded.
    private(set) var items: [InterstitialItem]
    /// The amount of media that was played of the items that are over.
    private(set) var playedBefore = MediaTime.zero
    /// The time of the clock of the next step if nothing changes before; `nil` for never.
    private(set) var deadline: Duration?
    private var current: Int?
    private var rate = Rate.unset
    /// A Boolean value that indicates whether playback was paused at the last step.
    private var isPaused = false

    /// Creates a playout that has not begun.
    init(_ event: InterstitialEvent, skipControl: InterstitialEvent.SkipControl?, _ items: [InterstitialItem]) {
        self.event = event
        self.skipControl = skipControl
        self.items = items
        current = items.first?.number
    }

    /// Removes an item that must not be loaded.
    mutating func reject(_ number: Int) {
        items.removeAll { $0.number == number }
        if current == number { current = items.first?.number }
    }

    /// Records that the interstitial player accepted the last rate.
    mutating func acceptRate() {
        if case .requested(let primaryRate) = rate { rate = .accepted(primaryRate: primaryRate) }
    }

    /// Follows the rate of the primary player.
    ///
    /// - Returns: The rate to set; `nil` if nothing changed.
    mutating func followRate(_ primaryRate: Double) -> Double? {
        guard primaryRate != rate.primaryRate else { return nil }
        rate = .requested(primaryRate: primaryRate)
        return event.forbidsAdvancing ? min(1, max(0, primaryRate)) : max(0, primaryRate)
    }

    /// Accepts an observation.
    ///
    /// - Parameters:
    ///   - observation: The state of both players.
    ///   - timeoutTime: The time of the clock until which media is waited for. It is moved while media is played or paused.
    ///   - now: The time of the clock.
    /// - Returns: The next step.
    mutating func step(
        _ observation: InterstitialObservation,
        timeoutTime: inout Duration,
        at now: Duration
    ) -> Step {
        let queue = observation.queue
        guard !queue.hasFailed else { return .end(.abandoned) }
        follow(queue, at: now)
        guard let current, let item = queue.items[current] else { return .end(.played) }
        if item.status == .failed || item.hasPlayedToEnd && !queue.advancesAtItemEnd { return .remove(current) }
        let elapsed = elapsed(queue, at: now)
        if let limit = event.playoutLimit, elapsed >= limit { return .end(.limit) }
        // While either player is paused, the time limit does not apply; it starts again when the pause ends.
        let wasPaused = isPaused
        isPaused = observation.primary.rate == 0 || queue.rate == 0 && rate.isAccepted
        if item.timebase.rate != 0 || isPaused || wasPaused { timeoutTime = now + InterstitialLoading.timeout }
        guard now < timeoutTime else { return .end(.abandoned) }
        deadline = nextTime(item, elapsed: elapsed, at: now) ?? (isPaused ? nil : timeoutTime)
        return .wait
    }

    /// Ends the playout, and adds the media of the current item that was played so far.
    mutating func end(_ end: End, _ queue: InterstitialObservation.Queue, at now: Duration) {
        if end == .limit, let limit = event.playoutLimit {
            playedBefore = limit
        } else {
            follow(queue, at: now)
            count(current, queue, at: now)
        }
        current = nil
    }

    /// Returns the amount of media that was played.
    func elapsed(_ queue: InterstitialObservation.Queue, at now: Duration) -> MediaTime {
        guard let current, let item = queue.items[current] else { return playedBefore }
        return playedBefore + item.timebase.mediaTime(at: now)
    }

    /// Returns whether a viewer may skip the interstitial after the given amount of it.
    func skippability(at elapsed: MediaTime) -> InterstitialController.Skippability {
        guard let skipControl else { return .notSkippable }
        guard elapsed >= skipControl.offset else { return .notYetEligible }
        let isOver = skipControl.duration.map { elapsed >= skipControl.offset + $0 } ?? false
        return isOver ? .noLongerEligible : .eligible
    }

    /// Accepts the current item of the queue, and adds the media that was played of those before it.
    private mutating func follow(_ queue: InterstitialObservation.Queue, at now: Duration) {
        guard queue.current != current else { return }
        count(current, queue, at: now)
        // An item can begin and end between two observations.
        let following = items.drop { $0.number != current }.dropFirst().prefix { $0.number != queue.current }
        for item in following where queue.items[item.number]?.hasPlayedToEnd == true {
            count(item.number, queue, at: now)
        }
        current = queue.current
    }

    private mutating func count(_ number: Int?, _ queue: InterstitialObservation.Queue, at now: Duration) {
        guard let number, let item = queue.items[number] else { return }
        playedBefore = playedBefore + item.playedTime(at: now)
    }

    /// Returns the time at which the limit is reached or the skip control changes; `nil` if neither is ahead.
    private func nextTime(_ item: InterstitialObservation.Item, elapsed: MediaTime, at now: Duration) -> Duration? {
        guard item.timebase.rate > 0 else { return nil }
        var times: [MediaTime] = []
        if let limit = event.playoutLimit { times.append(limit) }
        if let skipControl {
            times.append(skipControl.offset)
            if let duration = skipControl.duration { times.append(skipControl.offset + duration) }
        }
        guard let next = times.filter({ $0 > elapsed }).min() else { return nil }
        return now + (next - elapsed).duration / item.timebase.rate
    }
}

// MARK: Outcome

extension InterstitialPlayout {
    /// The consequences of the end of an interstitial.
    struct Outcome: Sendable {
        /// The amount of the primary item that the interstitial replaced: from its start to the position at which the
        /// item resumes.
        var offset: MediaTime
        /// A Boolean value that indicates whether any media of the interstitial was played.
        var wasPlayed: Bool
        /// The notification of the application.
        var notification: InterstitialController.Notification
    }

    /// Determines the consequences of an end.
    ///
    /// - Parameters:
    ///   - end: The reason.
    ///   - queue: The interstitial player.
    /// - Returns: The consequences.
    func outcome(of end: End, _ queue: InterstitialObservation.Queue) -> Outcome {
        let states = items.compactMap { queue.items[$0.number] }
        let failures = states.filter { $0.status == .failed }
        let isComplete = end == .played || end == .abandoned
        let isEmpty = isComplete && playedBefore == .zero && (failures.count == items.count || end == .abandoned)
        let notification: InterstitialController.Notification =
            isEmpty && !items.isEmpty
            ? .eventWasUnscheduled(event, failure(failures.first?.error, queue))
            : .eventDidFinish(
                event,
                playoutTime: playedBefore,
                didPlayEntireEvent: end == .played && failures.isEmpty
            )
        let offset =
            isEmpty
            ? event.offsetWithoutMedia : event.resumptionOffset ?? replacedTime(end, states.map(\.duration))
        return Outcome(offset: offset, wasPlayed: !isEmpty, notification: notification)
    }

    /// Returns the amount of the primary item that an interstitial without a resumption offset replaced.
    private func replacedTime(_ end: End, _ durations: [MediaTime?]) -> MediaTime {
        // Media that a viewer skipped counts as played.
        guard end == .skipped else { return playedBefore }
        let known = durations.contains(nil) ? nil : durations.compactMap { $0 }.reduce(.zero) { $0 + $1 }
        let whole = known ?? event.plannedDuration ?? playedBefore
        return event.playoutLimit.map { min($0, whole) } ?? whole
    }

    private func failure(_ cause: StreamingError?, _ queue: InterstitialObservation.Queue) -> PlayerError {
        let reason = cause?.message ?? queue.error?.message
        let address: ResourceAddress? =
            switch items.first?.source {
            case .address(let address): address
            case .asset(let asset): asset.address
            case nil: nil
            }
        return PlayerError(
            .notLoaded,
            reason.map { "No part of the interstitial can be played: \($0)" }
                ?? "The interstitial did not load within \(InterstitialLoading.timeout).",
            address: address,
            cause: cause
        )
    }
}

extension InterstitialEvent {
    /// A Boolean value that indicates whether a viewer can neither seek forward in the interstitial nor play it faster.
    var forbidsAdvancing: Bool { restrictions.contains(.requiresPlaybackAtPreferredRateForAdvancement) }

    /// The offset at which the primary item resumes if no media of the interstitial can be played.
    ///
    /// The failure of a single asset cancels the event; for a list, its attributes still apply (RFC 8216bis §D.5).
    var offsetWithoutMedia: MediaTime {
        if case .list = content { resumptionOffset ?? .zero } else { .zero }
    }
}
