import MediaTiming
import ResourceAddressing
import StreamingEngine

/// The state of a player's interstitials: it decides which of them are played and when, and where the primary item
/// resumes.
///
/// It uses no clock, player or task. ``InterstitialCoordinator`` delivers the events and performs the effects (RFC
/// 8216bis appendix D).
struct InterstitialStateMachine: Sendable {
    /// An input.
    enum Event: Sendable {
        /// The state of the players, after a change, after effects were performed, or when ``deadline`` has passed.
        case observed(InterstitialObservation)
        /// The application scheduled its own events, or with `nil` returned to those of the stream.
        case scheduled([InterstitialEvent]?)
        /// A viewer skips the event with this identifier.
        case skip(InterstitialEvent.ID)
        /// The application cancels the event with this identifier.
        case cancel(InterstitialEvent.ID, resumptionOffset: MediaTime?)
        /// An asset list was loaded, or failed to load.
        case listLoaded(request: Int, Result<InterstitialAssetList, PlayerError>)
        /// An item was not put into the queue, because its address must not be loaded.
        case itemRejected(Int, PlayerError)
        /// The interstitial player accepted or refused a rate.
        case rateDecided(isAccepted: Bool)
        /// A seek of the primary item ended.
        case seekEnded(request: Int, SeekResult)
    }

    /// An action to perform.
    enum Effect: Sendable {
        /// Publish a state, together with notifications.
        case publish(InterstitialController.State, [InterstitialController.Notification])
        /// Suspend or resume the primary item.
        case setSuspended(Bool)
        /// Suspend the primary item when it reaches its end, or let it end.
        case setSuspendsAtEnd(Bool)
        /// Move the playhead of the primary item to a position, exactly.
        case seek(request: Int, MediaTime)
        /// Forbid or allow rates above normal and seeks forward, on both players and in the primary item.
        case setForbidsAdvancing(Bool)
        /// Put items at the end of the interstitial player's queue.
        case enqueue([InterstitialItem])
        /// Take an item out of the interstitial player's queue.
        case removeItem(Int)
        /// Take all items out of the interstitial player's queue.
        case clearQueue
        /// Set the rate of the interstitial player.
        case setRate(Double)
        /// Set the volume of the interstitial player.
        case setVolume(Double, isMuted: Bool)
        /// Load an asset list.
        case loadList(request: Int, ResourceAddress, startOffset: MediaTime?)
        /// Cancel a seek, or the load of an asset list.
        case cancelRequest(Int)
    }

    /// The activity for the current item.
    enum Activity: Sendable {
        /// The item plays, or waits for the beginning of a break.
        case watching(InterstitialWatch)
        /// The item is suspended until the asset list of the current interstitial is loaded.
        case loadingList(InterstitialBreak)
        /// The item is suspended while an interstitial is played.
        case playing(InterstitialBreak, InterstitialPlayout)
        /// The item is suspended until its playhead reaches the position at which it resumes.
        case resuming(request: Int, SuspendedPosition)
    }

    /// The state that the application sees.
    var state: InterstitialController.State { players.state }
    /// The time of the clock at which the players are observed even if nothing changed; `nil` for never.
    private(set) var deadline: Duration?
    var activity = Activity.watching(InterstitialWatch())
    /// The players, the published state and the effects of the current event.
    var players = InterstitialPlayers()
    var schedule = InterstitialSchedule()
    var playhead = InterstitialPlayhead()
    var lists: AssetListRequests
    private var scheduled = ScheduledInterstitials()
    private var ownEvents: [InterstitialEvent]?
    private let preloadFraction: Double

    /// Creates the state of a player without an item.
    ///
    /// - Parameter preloadFraction: The position within the time that streams allow for loading lists in advance, from
    ///   0 to 1.
    init(preloadFraction: Double) {
        self.preloadFraction = preloadFraction
        lists = AssetListRequests(preloadFraction: preloadFraction)
    }

    /// Decides what follows an event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - now: The time of the clock.
    /// - Returns: The effects, in the order in which they must be performed.
    mutating func handle(_ event: Event, at now: Duration) -> [Effect] {
        players.beginEvent(at: now)
        switch event {
        case .observed(let observation):
            if players.accept(observation) { leaveItem() }
            proceed()
        case .scheduled(let events):
            ownEvents = events
            proceed()
        case .skip(let id):
            if players.state.currentEvent?.id == id, players.state.skippability == .eligible { end(.skipped) }
        case .cancel(let id, let offset):
            if players.state.currentEvent?.id == id { end(.canceled(resumptionOffset: offset)) }
        case .listLoaded(let request, let result):
            accept(result, of: request)
            proceed()
        case .itemRejected(let number, let error): reject(number, error)
        case .rateDecided(let isAccepted):
            if isAccepted, case .playing(let current, var playout) = activity {
                playout.acceptRate()
                activity = .playing(current, playout)
            }
        case .seekEnded(let request, let completion):
            guard case .resuming(request: request, let position) = activity else { break }
            arrive(completion, from: position)
        }
        deadline = nextDeadline()
        return players.endEvent()
    }

    private mutating func proceed() {
        switch activity {
        case .watching(var watch):
            guard players.observation.primary.item != nil else { return }
            collectEvents(&watch)
            follow(&watch)
            if let due = takeDueBreak(&watch) {
                begin(due, watch.prepared)
            } else {
                prepareNext(&watch)
                activity = .watching(watch)
            }
        case .loadingList(let current): continueLoading(current)
        case .playing(let current, let playout): continuePlaying(current, playout)
        case .resuming: break
        }
    }

    private func nextDeadline() -> Duration? {
        switch activity {
        case .watching: nextPosition().flatMap { playhead.motion?.time(reaching: $0) }
        case .loadingList(let current): current.timeoutTime
        case .playing(_, let playout): playout.deadline
        case .resuming: nil
        }
    }

    /// Returns the next position of the playhead at which a decision is due.
    private func nextPosition() -> MediaTime? {
        let primary = players.observation.primary
        guard primary.rate > 0, !primary.playback.isSeeking, let motion = playhead.motion, motion.timebase.rate > 0
        else { return nil }
        let position = motion.timebase.mediaTime(at: players.now)
        var positions = [lists.nextPreload(after: position)].compactMap { $0 }
        if let next = schedule.nextStart {
            positions.append(next)
            if next - .interstitialLeadTime > position { positions.append(next - .interstitialLeadTime) }
        }
        return positions.min()
    }
}

// MARK: Shared by all activities

extension InterstitialStateMachine {
    /// Begins to load an asset list.
    mutating func load(_ address: ResourceAddress, startOffset: MediaTime?) {
        let request = players.makeNumber()
        lists.begin(address, request: request)
        players.perform(.loadList(request: request, address, startOffset: startOffset))
    }

    /// Clears the asset list of an event after use, because its server may return another one the next time.
    mutating func clearList(of event: InterstitialEvent) {
        guard case .list(let address) = event.content else { return }
        switch lists.remove(address) {
        case .loading(let request): players.perform(.cancelRequest(request))
        case .loaded, .failed: players.publish(.assetListStatusDidChange(event, .cleared))
        case nil: break
        }
    }

    /// Returns the items of an event; `nil` if its asset list is not loaded.
    mutating func makeItems(of event: InterstitialEvent) -> [InterstitialItem]? {
        let sources: [InterstitialItem.Source]
        switch event.content {
        case .assets(let assets): sources = assets.map { .asset($0) }
        case .address(let address): sources = [.address(address)]
        case .list(let address):
            guard case .loaded(let list) = lists[address] else { return nil }
            sources = list.entries.map { .address($0.address) }
        }
        return sources.map {
            InterstitialItem(number: players.makeNumber(), source: $0, forbidsAdvancing: event.forbidsAdvancing)
        }
    }

    private mutating func accept(_ result: Result<InterstitialAssetList, PlayerError>, of request: Int) {
        guard let address = lists.finish(request: request, result),
            let event = players.state.events.first(where: { $0.content == .list(address) })
        else { return }
        switch result {
        case .success: players.publish(.assetListStatusDidChange(event, .available))
        case .failure(let error): players.publish(.assetListStatusDidChange(event, .unavailable(error)))
        }
    }

    /// Ends the activity for an item that is no longer the current one.
    private mutating func leaveItem() {
        switch activity {
        case .watching(let watch):
            if let prepared = watch.prepared, !prepared.items.isEmpty { players.clearQueue() }
        case .loadingList, .playing: end(.left)
        case .resuming(let request, _): players.perform(.cancelRequest(request))
        }
        for request in lists.requests { players.perform(.cancelRequest(request)) }
        activity = .watching(InterstitialWatch())
        (schedule, scheduled, playhead) = (InterstitialSchedule(), ScheduledInterstitials(), InterstitialPlayhead())
        lists = AssetListRequests(preloadFraction: preloadFraction)
        guard !players.state.events.isEmpty else { return }
        players.publish(.eventsDidChange) { ($0.events, $0.entries) = ([], []) }
    }

    /// Applies the events that are scheduled now.
    private mutating func collectEvents(_ watch: inout InterstitialWatch) {
        guard scheduled.update(players.observation.primary, ownEvents: ownEvents) else { return }
        let boundaries = players.observation.primary.playback.segmentBorders
        schedule.update(scheduled.playedEvents) { ScheduledInterstitials.position(of: $0, boundaries) }
        for request in lists.update(scheduled.preloadRanges, scheduled.events) {
            players.perform(.cancelRequest(request))
        }
        let (events, entries) = (scheduled.events, schedule.entries)
        if let prepared = watch.prepared, !events.contains(prepared.event) { discardPrepared(&watch) }
        guard players.state.events != events else {
            if players.state.entries != entries { players.publish { $0.entries = entries } }
            return
        }
        players.publish(.eventsDidChange) { ($0.events, $0.entries) = (events, entries) }
    }
}
