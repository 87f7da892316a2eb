import MediaTiming
import PlaybackReporting
import StreamingEngine

/// Decides what a player does: which items have an engine, which one plays, and at what rate.
///
/// It knows no engine and no clock. What it wants done it leaves in ``takeActions()``, what is to be told in
/// ``takeEvents()``.
struct Lineup: Sendable {
    /// What is to be done.
    enum Action: Sendable, Hashable {
        /// An engine is to load an item, paused.
        case prepare(PlayerItem)
        /// The engine of an item is to go.
        case dismiss(PlayerItem)
        /// The engine of an item is asked for a rate.
        case setRate(PlayerItem, Double, RateChange.Reason, atOnce: Bool, from: Departure? = nil)
        /// Engines are to play with these options.
        case configure(PlayerItem, EngineOptions)
    }

    /// Where the play head is to be, and when.
    struct Departure: Sendable, Hashable {
        /// `nil` for where it is.
        let time: MediaTime?
        let hostTime: Duration
    }

    /// The options of an engine that belong to the player.
    struct EngineOptions: Sendable, Hashable {
        var waitsToMinimizeStalls: Bool
        var pausesAtEnd: Bool
        var volume: Double
        var isMuted: Bool
        var isHeld = false
    }

    /// What is known of an item that has an engine.
    private struct Prepared {
        var playback = PlaybackSnapshot()
        /// How many rates the engine was asked for that it has not heard of.
        var ratesUnderWay = 0
        var lastReason = RateChange.Reason.setRateCalled
    }

    private(set) var state: PlayerState
    /// Whether the end of an item waits for what is played behind it.
    private(set) var holdsEnd = false
    /// Whether it does now.
    private var isAtHeldEnd = false
    private var prepared: [PlayerItem: Prepared] = [:]
    /// The items that are prepared, the current one first.
    private var running: [PlayerItem] = []
    private var leavers: [PlayerItem] = []
    private var actions: [Action] = []
    private var events: [PlayerEvent] = []

    init(actionAtItemEnd: PlayerState.ActionAtItemEnd) { state = PlayerState(actionAtItemEnd: actionAtItemEnd) }

    /// What is to be done since it was asked last.
    mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// What is to be told since it was asked last.
    mutating func takeEvents() -> [PlayerEvent] {
        defer { events = [] }
        return events
    }

    /// Items that were the player's when it was asked last.
    mutating func takeLeavers() -> [PlayerItem] {
        defer { leavers = [] }
        return leavers
    }

    /// The options that engines are made with.
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

// MARK: What is asked for

extension Lineup {
    /// Changes which items there are, and in which order.
    mutating func setItems(_ items: [PlayerItem]) {
        leavers += state.items.filter { !items.contains($0) }
        state.items = items
        settle()
    }

    /// Asks for a rate.
    ///
    /// - Returns: Whether it can be had.
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
        // The engine is asked also for what it does already: at once means something to one that waits.
        guard !state.isHeld else {
            if isNew { configure() }
            return true
        }
        if isNew || rate != 0, let item = state.currentItem { order(rate, reason, atOnce: atOnce, departure, of: item) }
        return true
    }

    private var hasFailed: Bool { state.status == .failed || state.playback.status == .failed }

    /// Something else is played in between, or no longer is: until then the current item stands.
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

    /// Whether something is played behind the current item: then its end waits until that is over.
    mutating func setHoldsEnd(_ holds: Bool) { holdsEnd = holds }

    /// Whether nothing may be passed over: no faster than at normal speed, and no seeks forward.
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

// MARK: What engines say

extension Lineup {
    /// An engine heard of a rate: what it says from now on is said in its knowledge.
    mutating func rateWasSet(of item: PlayerItem) { prepared[item]?.ratesUnderWay -= 1 }

    /// An engine says what is.
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

    /// An engine says what happened.
    mutating func eventCame(of item: PlayerItem, _ kind: PlaybackEvent.Kind) {
        if case .rateChanged(let change) = kind { prepared[item]?.lastReason = change.reason }
        guard item == state.currentItem, prepared[item] != nil else { return }
        if case .playedToEnd = kind { reachedEnd() }
    }

    /// Lets the end wait for what is played behind it.
    ///
    /// - Returns: Whether it waits.
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

    /// What failed is left behind where there is something after it; a lost decoder takes the player with it.
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

    /// Takes over a rate that the engine chose by itself.
    private mutating func follow(_ item: PlayerItem, _ playback: PlaybackSnapshot) {
        guard item == state.currentItem, prepared[item]?.ratesUnderWay == 0 else { return }
        guard !state.isHeld, !(playback.hasPlayedToEnd && holdEnd()) else { return }
        // At the end the rate is that of the next item.
        if playback.hasPlayedToEnd, state.actionAtItemEnd == .advance { return }
        let reason = playback.hasPlayedToEnd ? .playedToEnd : prepared[item]?.lastReason
        adopt(playback.desiredRate, reason ?? .setRateCalled)
    }
}

// MARK: What follows

extension Lineup {
    /// Makes engines match the items: the first one has one, and the next as soon as the first is loaded to its end.
    private mutating func settle() {
        var wanted = Array(state.items.prefix(1))
        if state.items.count > 1 {
            let next = state.items[1]
            let isDue =
                state.actionAtItemEnd == .advance && state.items[0] == state.currentItem
                && state.playback.isLoadedToEnd
            // What is prepared stays so: a seek back in the current item does not undo it.
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
        // What was played in between belonged to the item before.
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
        // What was prepared may have come to something already.
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
