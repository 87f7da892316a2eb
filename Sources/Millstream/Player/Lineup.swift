import MediaTiming
import PlaybackReporting
import StreamingEngine

/// A state machine that decides which items of a player have an engine, which item is current, and at what rate it
/// plays.
///
/// It uses no engine and no clock. The actions to perform are returned by ``takeActions()``, the events to publish by
/// ``takeEvents()``.
struct Lineup: Sendable {
    /// An action for the owner of the state machine.
    enum Action: Sendable, Hashable {
        /// Create an engine that loads the item, paused.
        case prepare(PlayerItem)
        /// End the engine of the item.
        case dismiss(PlayerItem)
        /// Pass a rate to the engine of the item.
        case setRate(PlayerItem, Double, RateChange.Reason, atOnce: Bool, from: Departure? = nil)
        /// Change the options of the engine of the item.
        case configure(PlayerItem, EngineOptions)
    }

    /// The start of synchronized playback: a media time and the host time at which it is played.
    struct Departure: Sendable, Hashable {
        /// The media time; `nil` for the current position.
        let time: MediaTime?
        let hostTime: Duration
    }

    /// The options of an engine that are set by the player, not by the item.
    struct EngineOptions: Sendable, Hashable {
        var waitsToMinimizeStalls: Bool
        var pausesAtEnd: Bool
        var volume: Double
        var isMuted: Bool
        var isHeld = false
    }

    /// The last known state of an item that has an engine.
    private struct Prepared {
        var playback = PlaybackSnapshot()
        /// The number of rate commands that the engine has not yet executed.
        var ratesUnderWay = 0
        var lastReason = RateChange.Reason.setRateCalled
    }

    private(set) var state: PlayerState
    /// A Boolean value that indicates whether the end of the current item waits for interstitials that are scheduled
    /// after it.
    private(set) var holdsEnd = false
    /// A Boolean value that indicates whether the current item has reached its end and waits for those interstitials.
    private var isAtHeldEnd = false
    private var prepared: [PlayerItem: Prepared] = [:]
    /// The items that have an engine, the current one first.
    private var running: [PlayerItem] = []
    private var leavers: [PlayerItem] = []
    private var actions: [Action] = []
    private var events: [PlayerEvent] = []

    init(actionAtItemEnd: PlayerState.ActionAtItemEnd) { state = PlayerState(actionAtItemEnd: actionAtItemEnd) }

    /// Removes and returns the pending actions.
    mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// Removes and returns the pending events.
    mutating func takeEvents() -> [PlayerEvent] {
        defer { events = [] }
        return events
    }

    /// Removes and returns the items that have left the queue.
    mutating func takeLeavers() -> [PlayerItem] {
        defer { leavers = [] }
        return leavers
    }

    /// The options with which engines are created.
    var engineOptions: EngineOptions {
        EngineOptions(
            waitsToMinimizeStalls: state.automaticallyWaitsToMinimizeStalling,
            pausesAtEnd: state.actionAtItemEnd != .none,
            volume: state.volume,
            isMuted: state.isMuted,
            isHeld: state.isHeld && state.rate != 0
        )
    }
}

// MARK: Requests

extension Lineup {
    /// Replaces the items of the queue and their order.
    mutating func setItems(_ items: [PlayerItem]) {
        leavers += state.items.filter { !items.contains($0) }
        state.items = items
        settle()
    }

    /// Requests a rate.
    ///
    /// - Returns: A Boolean value that indicates whether the rate is supported.
    @discardableResult
    mutating func setRate(
        _ rate: Double,
        _ reason: RateChange.Reason = .setRateCalled,
        atOnce: Bool = false,
        from departure: Departure? = nil
    ) -> Bool {
        guard PlaybackAbilities(state.playback).permits(rate), rate == 0 || !hasFailed,
            !state.requiresNormalRate || rate <= 1
        else {
            let change = RateChange(rate: state.rate, previousRate: state.rate, reason: .setRateFailed)
            events.append(.rateDidChange(change))
            return false
        }
        let isNew = adopt(rate, reason)
        // The command is sent even if the rate is the same, since `atOnce` affects an engine that waits for its buffer.
        guard !state.isHeld else {
            if isNew { configure() }
            return true
        }
        if isNew || rate != 0, let item = state.currentItem { order(rate, reason, atOnce: atOnce, departure, of: item) }
        return true
    }

    private var hasFailed: Bool { state.status == .failed || state.playback.status == .failed }

    /// Suspends the current item while an interstitial is played, or resumes it.
    mutating func setHeld(_ isHeld: Bool) {
        guard isHeld != state.isHeld else { return }
        let before = state.timeControlStatus
        state.isHeld = isHeld
        configure()
        if state.rate != 0, let item = state.currentItem { order(isHeld ? 0 : state.rate, .setRateCalled, of: item) }
        tellTimeControl(since: before)
        guard !isHeld, isAtHeldEnd else { return }
        isAtHeldEnd = false
        if state.playback.hasPlayedToEnd { reachedEnd() }
    }

    /// Sets whether the end of the current item waits for interstitials that are scheduled after it.
    mutating func setHoldsEnd(_ holds: Bool) { holdsEnd = holds }

    /// Sets whether rates above 1 and skipping to the next item are refused, as an interstitial can require.
    mutating func setRequiresNormalRate(_ requires: Bool) { state.requiresNormalRate = requires }

    mutating func setDefaultRate(_ rate: Double) {
        guard rate.isFinite else { return }
        state.defaultRate = rate
    }

    mutating func setActionAtItemEnd(_ action: PlayerState.ActionAtItemEnd) {
        state.actionAtItemEnd = action
        configure()
        settle()
    }

    mutating func setAutomaticallyWaits(_ waits: Bool) {
        state.automaticallyWaitsToMinimizeStalling = waits
        configure()
    }

    mutating func setVolume(_ volume: Double, isMuted: Bool) {
        state.volume = volume.isNaN ? 0 : min(1, max(0, volume))
        state.isMuted = isMuted
        configure()
    }

    private mutating func configure() {
        for item in state.items where prepared[item] != nil { actions.append(.configure(item, engineOptions)) }
    }
}

// MARK: Reports of engines

extension Lineup {
    /// Records that an engine has executed a rate command, so that its further reports take that rate into account.
    mutating func rateWasSet(of item: PlayerItem) { prepared[item]?.ratesUnderWay -= 1 }

    /// Processes a snapshot of an engine.
    mutating func snapshotCame(of item: PlayerItem, _ playback: PlaybackSnapshot) {
        guard prepared[item] != nil else { return }
        prepared[item]?.playback = playback
        guard item == state.currentItem else { return }
        let before = state.timeControlStatus
        state.playback = playback
        if playback.status == .readyToPlay { setStatus(.readyToPlay) }
        if playback.status == .failed {
            fail(item, playback)
        } else {
            follow(item, playback)
        }
        tellTimeControl(since: before)
        settle()
    }

    /// Processes an event of an engine.
    mutating func eventCame(of item: PlayerItem, _ kind: PlaybackEvent.Kind) {
        if case .rateChanged(let change) = kind { prepared[item]?.lastReason = change.reason }
        guard item == state.currentItem, prepared[item] != nil else { return }
        if case .playedToEnd = kind { reachedEnd() }
    }

    /// Suspends the item at its end until the interstitials that are scheduled after it have been played.
    ///
    /// - Returns: A Boolean value that indicates whether the end waits.
    private mutating func holdEnd() -> Bool {
        guard !isAtHeldEnd else { return true }
        guard holdsEnd, state.rate != 0 else { return false }
        (holdsEnd, isAtHeldEnd) = (false, true)
        setHeld(true)
        return true
    }

    private mutating func reachedEnd() {
        guard !holdEnd() else { return }
        switch state.actionAtItemEnd {
        case .none: break
        case .pause: adopt(0, .playedToEnd)
        case .advance:
            leavers.append(state.items.removeFirst())
            if state.items.isEmpty { adopt(0, .playedToEnd) }
            settle()
        }
    }

    /// Removes a failed item if another follows in the queue, otherwise stops; a lost pipeline makes the player fail.
    private mutating func fail(_ item: PlayerItem, _ playback: PlaybackSnapshot) {
        if let error = playback.error, error.code == .pipelineLost {
            state.error = state.error ?? PlayerError(error)
            setStatus(.failed)
            adopt(0, .ended)
        } else if state.actionAtItemEnd == .advance, state.items.count > 1 {
            leavers.append(state.items.removeFirst())
        } else {
            adopt(0, .ended)
        }
    }

    /// Adopts a rate that the engine changed without a command.
    private mutating func follow(_ item: PlayerItem, _ playback: PlaybackSnapshot) {
        guard item == state.currentItem, prepared[item]?.ratesUnderWay == 0 else { return }
        guard !state.isHeld, !(playback.hasPlayedToEnd && holdEnd()) else { return }
        // At the end of an item, the requested rate applies to the next item.
        if playback.hasPlayedToEnd, state.actionAtItemEnd == .advance { return }
        let reason = playback.hasPlayedToEnd ? .playedToEnd : prepared[item]?.lastReason
        adopt(playback.desiredRate, reason ?? .setRateCalled)
    }
}

// MARK: Consequences

extension Lineup {
    /// Determines which items have an engine: the first one and, once the first is loaded to its end, the second.
    private mutating func settle() {
        var wanted = Array(state.items.prefix(1))
        if state.items.count > 1 {
            let next = state.items[1]
            let isDue =
                state.actionAtItemEnd == .advance && state.items[0] == state.currentItem
                && state.playback.isLoadedToEnd
            // A prepared item stays prepared, even after a seek back in the current item.
            if isDue || prepared[next] != nil { wanted.append(next) }
        }
        if state.status == .failed { wanted = [] }
        for item in running where !wanted.contains(item) {
            prepared[item] = nil
            actions.append(.dismiss(item))
        }
        for item in wanted where prepared[item] == nil {
            prepared[item] = Prepared()
            actions.append(.prepare(item))
        }
        running = wanted
        advance()
    }

    private mutating func advance() {
        let current = state.items.first
        guard current != state.currentItem else { return }
        let before = state.timeControlStatus
        // The interstitial belonged to the previous item.
        if state.isHeld {
            state.isHeld = false
            configure()
        }
        (holdsEnd, isAtHeldEnd) = (false, false)
        state.currentItem = current
        state.playback = current.flatMap { prepared[$0]?.playback } ?? PlaybackSnapshot()
        events.append(.currentItemDidChange(current))
        if let current, state.rate != 0 { order(state.rate, .setRateCalled, of: current) }
        tellTimeControl(since: before)
        guard let current, prepared[current] != nil else { return }
        // A prepared item may already have reported its status.
        snapshotCame(of: current, state.playback)
    }

    @discardableResult
    private mutating func adopt(_ rate: Double, _ reason: RateChange.Reason) -> Bool {
        guard rate != state.rate else { return false }
        let before = state.timeControlStatus
        let change = RateChange(
            rate: rate,
            previousRate: state.rate,
            reason: reason,
            variant: state.playback.playedVariant
        )
        state.rate = rate
        events.append(.rateDidChange(change))
        tellTimeControl(since: before)
        return true
    }

    private mutating func order(
        _ rate: Double,
        _ reason: RateChange.Reason,
        atOnce: Bool = false,
        _ departure: Departure? = nil,
        of item: PlayerItem
    ) {
        guard prepared[item] != nil else { return }
        prepared[item]?.ratesUnderWay += 1
        actions.append(.setRate(item, rate, reason, atOnce: atOnce, from: departure))
    }

    private mutating func setStatus(_ status: PlayerState.Status) {
        guard state.status != status, state.status != .failed else { return }
        state.status = status
        events.append(.statusDidChange(status))
    }

    private mutating func tellTimeControl(since before: TimeControl) {
        guard state.timeControlStatus != before else { return }
        events.append(.timeControlStatusDidChange(state.timeControlStatus))
    }
}
