import MediaTiming
import ResourceAddressing
import StreamingEngine

/// The runner of an ``InterstitialStateMachine``: it observes two players, delivers events and performs effects.
///
/// The coordinator does not retain the primary player, and ends when that player is deallocated.
struct InterstitialCoordinator: Sendable {
    typealias StateMachine = InterstitialStateMachine

    private weak let primary: Player?
    private let primaryHub: Hub<PlayerCore, PlayerEvent>
    private let time: any TimeSource
    private let player: QueuePlayer
    private let hub: Hub<InterstitialController.Core, InterstitialController.Notification>
    private var machine: StateMachine
    /// The primary player's item in the last observation, and its number.
    private var primaryItem: (item: PlayerItem?, number: Int) = (nil, 0)
    /// The primary item in which a viewer cannot seek forward.
    private var restrictedItem: PlayerItem?
    /// The items of the interstitial player by their numbers, until it is cleared.
    private var items: [Int: PlayerItem] = [:]
    /// The seeks and loads that were begun, by the numbers of their requests.
    private var requests: [Int: Task<Void, Never>] = [:]

    /// Creates the runner of a player's interstitials.
    ///
    /// - Parameters:
    ///   - primary: The player whose items have interstitials.
    ///   - player: The player that plays the interstitials.
    ///   - hub: The inbox of the application's commands, and the published state.
    init(
        primary: Player,
        player: QueuePlayer,
        hub: Hub<InterstitialController.Core, InterstitialController.Notification>
    ) {
        self.primary = primary
        primaryHub = primary.hub
        time = primary.environment.time
        self.player = player
        self.hub = hub
        machine = StateMachine(preloadFraction: .random(in: 0...1))
    }

    /// Runs until it is canceled or the primary player is deallocated.
    mutating func run() async {
        while !Task.isCancelled {
            let versions = (primaryHub.version, player.hub.version, hub.version)
            guard let observation = observe() else { break }
            // The next observation sees what the effects changed, before anything else is decided.
            if deliver(.observed(observation)) { continue }
            if let event = takeEvent() {
                deliver(event)
            } else {
                await wait(after: versions, until: machine.deadline)
            }
        }
        for request in requests.values { request.cancel() }
        player.removeAllItems()
    }

    // MARK: Events

    /// Delivers an event, and the events that its effects lead to at once.
    ///
    /// - Returns: Whether there were effects.
    @discardableResult
    private mutating func deliver(_ event: StateMachine.Event) -> Bool {
        let effects = machine.handle(event, at: time.now)
        for event in effects.flatMap({ perform($0) }) { deliver(event) }
        return !effects.isEmpty
    }

    /// Returns the state of both players; `nil` when the primary player was deallocated.
    private mutating func observe() -> InterstitialObservation? {
        let (core, _, isFinished) = primaryHub.read()
        guard !isFinished else { return nil }
        let item = core.queue.state.currentItem
        if item != primaryItem.item { primaryItem = (item, primaryItem.number + 1) }
        let primary = InterstitialObservation.Primary(core.queue, item: item == nil ? nil : primaryItem.number)
        let state = player.state
        var queue = InterstitialObservation.Queue(state)
        queue.current = state.currentItem.map { number(of: $0) }
        queue.items = items.mapValues { InterstitialObservation.Item($0.state) }
        return InterstitialObservation(primary: primary, queue: queue)
    }

    private mutating func number(of item: PlayerItem) -> Int {
        if let known = items.first(where: { $0.value == item }) { return known.key }
        // The item was inserted by the application.
        let number = min(items.keys.min() ?? 0, 0) - 1
        items[number] = item
        return number
    }

    /// Returns the next command of the application, or result of a request.
    private mutating func takeEvent() -> StateMachine.Event? {
        guard !hub.state.inbox.isEmpty else { return nil }
        let event = hub.update { core, _ in core.inbox.removeFirst() }
        switch event {
        case .listLoaded(let request, _), .seekEnded(let request, _): requests[request] = nil
        case .observed, .scheduled, .skip, .cancel, .itemRejected, .rateDecided: break
        }
        return event
    }

    private func wait(after versions: (UInt64, UInt64, UInt64), until deadline: Duration?) async {
        let (primaryHub, playerHub, hub, time) = (primaryHub, player.hub, hub, time)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await primaryHub.wait(after: versions.0) }
            group.addTask { await playerHub.wait(after: versions.1) }
            group.addTask { await hub.wait(after: versions.2) }
            if let deadline {
                // No clock can sleep for an unlimited time.
                let delay = min(max(deadline - time.now, .milliseconds(1)), .seconds(3600))
                group.addTask { try? await time.sleep(for: delay) }
            }
            await group.next()
            group.cancelAll()
        }
    }

    // MARK: Effects

    /// Performs an effect.
    ///
    /// - Returns: The events that it leads to at once.
    private mutating func perform(_ effect: StateMachine.Effect) -> [StateMachine.Event] {
        switch effect {
        case .publish(let state, let notifications):
            hub.update { core, told in
                core.state = state
                told += notifications
            }
        case .setSuspended(let isSuspended): changePrimary { $0.setSuspended(isSuspended) }
        case .setSuspendsAtEnd(let suspends): changePrimary { $0.setSuspendsAtEnd(suspends) }
        case .setForbidsAdvancing(let forbids): setForbidsAdvancing(forbids)
        case .enqueue(let items): return enqueue(items)
        case .removeItem(let number): if let item = items[number] { player.remove(item) }
        case .clearQueue:
            player.removeAllItems()
            items = [:]
        case .setRate(let rate): return [.rateDecided(isAccepted: player.setRate(rate))]
        case .setVolume(let volume, let isMuted): player.change { $0.setVolume(volume, isMuted: isMuted) }
        case .seek(let request, let target):
            guard let item = primaryItem.item else { break }
            let ticket = item.beginSeek(to: .time(target), tolerance: .exact)
            begin(request) { .seekEnded(request: request, await item.completion(of: ticket)) }
        case .loadList(let request, let address, let startOffset):
            guard let loading = primaryItem.item.map({ InterstitialLoading(for: $0) }) else { break }
            begin(request) {
                do throws(PlayerError) {
                    let list = try await loading.list(at: address, startOffset: startOffset)
                    return .listLoaded(request: request, .success(list))
                } catch {
                    return .listLoaded(request: request, .failure(error))
                }
            }
        case .cancelRequest(let request): requests.removeValue(forKey: request)?.cancel()
        }
        return []
    }

    /// Changes the primary player, if its current item is still the observed one.
    private func changePrimary(_ body: (inout QueueStateMachine) -> Void) {
        let item = primaryItem.item
        primary?.change { if $0.state.currentItem == item { body(&$0) } }
    }

    private mutating func setForbidsAdvancing(_ forbids: Bool) {
        let item = forbids ? primaryItem.item : restrictedItem
        restrictedItem = forbids ? item : nil
        // The restriction is also removed if the player has another current item by now.
        primary?.change { $0.setRequiresNormalRate(forbids) }
        player.change { $0.setRequiresNormalRate(forbids) }
        item?.modify { $0.state.configuration.requiresLinearPlayback = forbids }
    }

    private mutating func enqueue(_ new: [InterstitialItem]) -> [StateMachine.Event] {
        guard let primary = primaryItem.item else { return [] }
        let loading = InterstitialLoading(for: primary)
        return new.compactMap { item in
            do throws(PlayerError) {
                let asset = try loading.asset(of: item.source)
                let made = PlayerItem(asset, forbidsAdvancing: item.forbidsAdvancing, as: primary)
                try player.insert(made, after: nil)
                items[item.number] = made
                return nil
            } catch {
                return .itemRejected(item.number, error)
            }
        }
    }

    private mutating func begin(_ request: Int, _ operation: @escaping @Sendable () async -> StateMachine.Event) {
        requests[request] = launch(on: time) { [hub] in
            let event = await operation()
            guard !Task.isCancelled else { return }
            hub.update { core, _ in core.inbox.append(event) }
        }
    }
}
