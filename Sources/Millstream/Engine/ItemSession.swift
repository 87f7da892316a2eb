import MediaTiming
import StreamingEngine
import Synchronization

/// One run of an engine for an item: from the moment when a player wants it until it no longer does.
///
/// It can be ended before it began. Nothing here knows the player: what the engine tells goes to the observer.
final class ItemSession: Sendable {
    private struct State {
        var isEnded = false
        var task: Task<Void, Never>?
    }

    /// What it is asked for, in order.
    let commands = CommandQueue()
    private let state = Mutex(State())

    /// Whether it was ended.
    var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Begins, unless it was ended already.
    ///
    /// - Parameters:
    ///   - time: Where it runs.
    ///   - body: Runs the engine; it ends when cancelled.
    func start(on time: any TimeSource, _ body: @escaping @Sendable (CommandQueue) async -> Void) {
        let mayStart = state.withLock { !$0.isEnded && $0.task == nil }
        guard mayStart else { return }
        let commands = commands
        let task = launch(on: time) { await body(commands) }
        let isLate = state.withLock { state in
            if !state.isEnded { state.task = task }
            return state.isEnded
        }
        if isLate { task.cancel() }
    }

    /// Ends it; what it was asked for and has not done stays undone.
    ///
    /// - Parameter position: Where the play head is, for seeks that will not be finished.
    func end(at position: MediaTime) {
        let task = state.withLock { state in
            state.isEnded = true
            return state.task.take()
        }
        commands.close(at: position)
        task?.cancel()
    }
}
