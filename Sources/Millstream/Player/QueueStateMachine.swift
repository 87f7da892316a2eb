import MediaTiming
import PlaybackReporting
import StreamingEngine

/// A state machine that decides which items of a player have an engine, which item is current, and at what rate it
/// plays.
///
/// It uses no engine and no clock. The actions to perform are returned by ``takeActions()``, the events to publish by
/// ``takeEvents()``.
struct QueueStateMachine: Sendable {
    /// An action for the owner of the state machine.
    enum Action: Sendable, Hashable {
        /// Create an engine that loads the item, paused.
        case prepare(PlayerItem)
        /// End the engine of the item.
        case dismiss(PlayerItem)
        /// Pass a rate to the engine of the item.
        case setRate(PlayerItem, Double, RateChange.Reason, atOnce: Bool, from: SynchronizedStart? = nil)
        /// Change the options of the engine of the item.
        case configure(PlayerItem, EngineOptions)
    }

    /// The start of synchronized playback: a media time and the host time at which it is played.
    struct SynchronizedStart: Sendable, Hashable {
        /// The media time; `nil` for the current position.
        let mediaTime: MediaTime?
        let hostTime: Duration
    }

    /// The options of an engine that are set by the player, not by the item.
    struct EngineOptions: Sendable, Hashable {
        var waitsToMinimizeStalls: Bool
        var pausesAtEnd: Bool
        var volume: Double
        var isMuted: Bool
        var isSuspended: Bool
    }

    /// The last known state of an item that has an engine.
    private struct Prepared {
        var playback = PlaybackSnapshot()
        /// The number of rate commands that the engine has not yet executed.
        var pendingRateCommandCount = 0
        var lastReason = RateChange.Reason.setRateCalled
    }

    private(set) var state: PlayerState
    /// A Boolean value that indicates whether the end of the current item waits for interstitials that are scheduled
    /// after it.
    private(set) var suspendsAtEnd = false
    /// A Boolean value that indicates whether the current item has reached its end and waits for those interstitials.
    private var isSuspendedAtEnd = false
    private var prepared: [PlayerItem: Prepared] = [:]
    /// The items that have an engine, the current one first.
    private var preparedItems: [PlayerItem] = []
    private var removedItems: [PlayerItem] = []
    private var actions: [Action] = []
    private var events: [PlayerEvent] = []
    private var publishedTimeControl = TimeControl.paused

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
    mutating func takeRemovedItems() -> [PlayerItem] {
        defer { removedItems = [] }
        return removedItems
    }

    /// The options with which engines are created.
    var engineOptions: EngineOptions {
        EngineOptions(
            waitsToMinimizeStalls: state.automaticallyWaitsToMinimizeStalling,
            pausesAtEnd: state.actionAtItemEnd != .none,
            volume: state.volume,
            isMuted: state.isMuted,
            isSuspended: state.isSuspended && state.rate != 0
        )
    }
}

// MARK: Requests

extension QueueStateMachine {
    /// Replaces the items of the queue and their order.
    mutating func setItems(_ items: [PlayerItem]) {
        removedItems += state.items.filter { !items.contains($0) }
        state.items = items
        updateEngines()
    }

    /// Requests a rate.
    ///
    /// - Returns: A Boolean value that indicates whether the rate is supported.
    @discardableResult
    mutating func setRate(
        _ rate: Double,
        _ reason: RateChange.Reason = .setRateCalled,
        immediately: Bool = false,
        from start: SynchronizedStart? = nil
    ) -> Bool {
        guard PlaybackAbilities(state.playback).permits(rate), rate == 0 || !hasFailed,
            !state.requiresNormalRate || rate <= 1
        else {
            let change = RateChange(rate: state.rate, previousRate: state.rate, reason: .setRateFailed)
            events.append(.rateDidChange(change))
            return false
        }
        let isNew = changeRate(rate, reason)
        // The command is sent even if the rate is the same, since `immediately` affects an engine that waits for its buffer.
        guard !state.isSuspended else {
            if isNew { configure() }
            return true
        }
        if isNew || rate != 0, let item = state.currentItem {
            sendRate(rate, reason, immediately: immediately, start, to: item)
        }
        return true
    }

    private var hasFailed: Bool { state.status == .failed || state.playback.status == .failed }

    /// Suspends the current item while an interstitial is played, or resumes it.
    mutating func setSuspended(_ isHeld: Bool) {
        guard isHeld != state.isSuspended else { return }
        state.isSuspended = isHeld
        configure()
        if state.rate != 0, let item = state.currentItem { sendRate(isHeld ? 0 : state.rate, .setRateCalled, to: item) }
        publishTimeControl()
        guard !isHeld, isSuspendedAtEnd else { return }
        isSuspendedAtEnd = false
        if state.playback.hasPlayedToEnd { processEnd() }
    }

    /// Sets whether the end of the current item waits for interstitials that are scheduled after it.
    mutating func setSuspendsAtEnd(_ suspends: Bool) { suspendsAtEnd = suspends }

    /// Sets whether rates above 1 and skipping to the next item are refused, as an interstitial can require.
    mutating func setRequiresNormalRate(_ requires: Bool) { state.requiresNormalRate = requires }

    mutating func setDefaultRate(_ rate: Double) {
        guard rate.isFinite else { return }
        state.defaultRate = rate
    }

    mutating func setActionAtItemEnd(_ action: PlayerState.ActionAtItemEnd) {
        state.actionAtItemEnd = action
        configure()
        updateEngines()
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

extension QueueStateMachine {
    /// Records that the audio device cannot be opened or was lost; playback continues.
    mutating func recordAudioDeviceError(_ error: PlayerError) {
        state.audioDeviceError = error
        events.append(.audioDeviceDidFail)
    }

    /// Records that an engine has executed a rate command, so that its further reports take that rate into account.
    mutating func confirmRateCommand(of item: PlayerItem) { prepared[item]?.pendingRateCommandCount -= 1 }

    /// Processes a snapshot of an engine.
    mutating func processSnapshot(of item: PlayerItem, _ playback: PlaybackSnapshot) {
        guard prepared[item] != nil else { return }
        prepared[item]?.playback = playback
        guard item == state.currentItem else { return }
        state.playback = playback
        if playback.status == .readyToPlay { setStatus(.readyToPlay) }
        if playback.status == .failed {
            fail(item, playback)
        } else {
            adoptEngineRate(item, playback)
        }
        publishTimeControl()
        updateEngines()
    }

    /// Processes an event of an engine.
    mutating func processEvent(of item: PlayerItem, _ kind: PlaybackEvent.Kind) {
        if case .rateChanged(let change) = kind { prepared[item]?.lastReason = change.reason }
        guard item == state.currentItem, prepared[item] != nil else { return }
        if case .playedToEnd = kind { processEnd() }
    }

    /// Suspends the item at its end until the interstitials that are scheduled after it have been played.
    ///
    /// - Returns: A Boolean value that indicates whether the end waits.
    private mutating func suspendAtEnd() -> Bool {
        guard !isSuspendedAtEnd else { return true }
        guard suspendsAtEnd, state.rate != 0 else { return false }
        (suspendsAtEnd, isSuspendedAtEnd) = (false, true)
        setSuspended(true)
        return true
    }

    private mutating func processEnd() {
        guard !suspendAtEnd() else { return }
        switch state.actionAtItemEnd {
        case .none: break
        case .pause: changeRate(0, .playedToEnd)
        case .advance:
            removedItems.append(state.items.removeFirst())
            if state.items.isEmpty { changeRate(0, .playedToEnd) }
            updateEngines()
        }
    }

    /// Removes a failed item if another follows in the queue, otherwise stops; a lost pipeline makes the player fail.
    private mutating func fail(_ item: PlayerItem, _ playback: PlaybackSnapshot) {
        if let error = playback.error, error.code == .pipelineLost {
            state.error = state.error ?? PlayerError(error)
            setStatus(.failed)
            changeRate(0, .ended)
        } else if state.actionAtItemEnd == .advance, state.items.count > 1 {
            removedItems.append(state.items.removeFirst())
        } else {
            changeRate(0, .ended)
        }
    }

    /// Adopts a rate that the engine changed without a command.
    private mutating func adoptEngineRate(_ item: PlayerItem, _ playback: PlaybackSnapshot) {
        guard prepared[item]?.pendingRateCommandCount == 0 else { return }
        guard !state.isSuspended, !(playback.hasPlayedToEnd && suspendAtEnd()) else { return }
        // At the end of an item, the requested rate applies to the next item.
        if playback.hasPlayedToEnd, state.actionAtItemEnd == .advance { return }
        let reason = playback.hasPlayedToEnd ? .playedToEnd : prepared[item]?.lastReason
        changeRate(playback.desiredRate, reason ?? .setRateCalled)
    }
}

// MARK: Consequences

extension QueueStateMachine {
    /// Determines which items have an engine: the first one and, once the first is loaded to its end, the second.
    private mutating func updateEngines() {
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
        for item in preparedItems where !wanted.contains(item) {
            prepared[item] = nil
            actions.append(.dismiss(item))
        }
        for item in wanted where prepared[item] == nil {
            prepared[item] = Prepared()
            actions.append(.prepare(item))
        }
        preparedItems = wanted
        updateCurrentItem()
    }

    private mutating func updateCurrentItem() {
        let current = state.items.first
        guard current != state.currentItem else { return }
        // The interstitial belonged to the previous item.
        if state.isSuspended {
            state.isSuspended = false
            configure()
        }
        (suspendsAtEnd, isSuspendedAtEnd) = (false, false)
        state.currentItem = current
        state.playback = current.flatMap { prepared[$0]?.playback } ?? PlaybackSnapshot()
        events.append(.currentItemDidChange(current))
        if let current, state.rate != 0 { sendRate(state.rate, .setRateCalled, to: current) }
        publishTimeControl()
        // A prepared item may already have reported its status.
        if let current { processSnapshot(of: current, state.playback) }
    }

    @discardableResult
    private mutating func changeRate(_ rate: Double, _ reason: RateChange.Reason) -> Bool {
        guard rate != state.rate else { return false }
        let change = RateChange(
            rate: rate,
            previousRate: state.rate,
            reason: reason,
            variant: state.playback.playedVariant
        )
        state.rate = rate
        events.append(.rateDidChange(change))
        publishTimeControl()
        return true
    }

    private mutating func sendRate(
        _ rate: Double,
        _ reason: RateChange.Reason,
        immediately: Bool = false,
        _ start: SynchronizedStart? = nil,
        to item: PlayerItem
    ) {
        prepared[item]?.pendingRateCommandCount += 1
        actions.append(.setRate(item, rate, reason, atOnce: immediately, from: start))
    }

    private mutating func setStatus(_ status: PlayerState.Status) {
        guard state.status != status else { return }
        state.status = status
        events.append(.statusDidChange(status))
    }

    /// Publishes the time control status if it differs from the last published one.
    private mutating func publishTimeControl() {
        let timeControl = state.timeControlStatus
        guard timeControl != publishedTimeControl else { return }
        publishedTimeControl = timeControl
        events.append(.timeControlStatusDidChange(timeControl))
    }
}
