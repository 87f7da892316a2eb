import MediaTiming
import PlaybackReporting
import StreamingEngine

/// The state of a player, guarded by the lock of its hub: the item queue and the sessions of its engines.
struct PlayerCore: Sendable {
    /// An operation to perform after the lock is released.
    enum Effect: Sendable {
        case begin(PlayerItem, ItemSession, QueueStateMachine.EngineOptions, PipelineSource, Callbacks)
        case end(PlayerItem, ItemSession)
        case wake(ItemSession)
    }

    /// The closures that receive the output of a session.
    struct Callbacks: Sendable {
        let output: @Sendable (PlaybackEngineOutput, PlayerItem, ItemSession) -> Void
        let didSetRate: @Sendable (PlayerItem, ItemSession) -> Void
    }

    var queue: QueueStateMachine
    private var sessions: [PlayerItem: ItemSession] = [:]

    init(_ queue: QueueStateMachine) { self.queue = queue }

    /// Returns a Boolean value that indicates whether a session is the current one of an item.
    func isCurrent(_ session: ItemSession, of item: PlayerItem) -> Bool { sessions[item] === session }

    /// Executes actions: creates and removes sessions, adds commands, and returns the effects to perform.
    mutating func execute(
        _ actions: [QueueStateMachine.Action],
        pipelines: PipelineSource,
        callbacks: Callbacks
    ) -> [Effect] {
        var effects: [Effect] = []
        for action in actions {
            switch action {
            case .prepare(let item):
                let session = ItemSession()
                sessions[item] = session
                effects.append(.begin(item, session, queue.engineOptions, pipelines, callbacks))
            case .dismiss(let item):
                if let session = sessions.removeValue(forKey: item) { effects.append(.end(item, session)) }
            case .setRate(let item, let rate, let reason, let atOnce, let start):
                effects += enqueue(.setRate(rate, reason, atOnce: atOnce, from: start), to: item)
            case .configure(let item, let options):
                effects += enqueue(.update { options.apply(to: &$0) }, to: item)
            }
        }
        return effects
    }

    private func enqueue(_ command: EngineCommand, to item: PlayerItem) -> [Effect] {
        guard let session = sessions[item], session.commands.add(command) else { return [] }
        return [.wake(session)]
    }

    /// The sessions of the items that have an engine.
    var activeSessions: [ItemSession] { Array(sessions.values) }

    /// Removes all sessions and returns the items with the effects that end their engines.
    mutating func end() -> (items: [PlayerItem], effects: [Effect]) {
        defer { sessions = [:] }
        return (queue.state.items, sessions.map { .end($0.key, $0.value) })
    }
}

extension QueueStateMachine.EngineOptions {
    func apply(to options: inout StreamingOptions) {
        options.waitsToMinimizeStalls = waitsToMinimizeStalls
        options.pausesAtEnd = pausesAtEnd
        options.isHeld = isSuspended
        options.audioSettings.volume = volume
        options.audioSettings.isMuted = isMuted
    }
}

extension PlayerCore.Effect {
    func perform() {
        switch self {
        case .begin(let item, let session, let options, let pipelines, let reports):
            SessionRunner(
                item: item,
                session: session,
                pipelines: pipelines,
                engineOptions: options,
                output: { reports.output($0, item, session) },
                didSetRate: { reports.didSetRate(item, session) }
            ).begin()
        case .end(let item, let session):
            session.end(at: item.currentTime())
            item.modify { $0.detach(session) }
        case .wake(let session): session.commands.wake()
        }
    }
}
