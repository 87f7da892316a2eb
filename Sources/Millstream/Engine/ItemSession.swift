import MediaTiming
import StreamingEngine
import Synchronization

/// The use of one engine for an item: from the time at which a player prepares the item until the player no longer
/// needs it.
///
/// A session can be ended before it has started. It has no reference to the player; the engine reports to its observer.
final class ItemSession: Sendable {
    private struct State {
        var isEnded = false
        var task: Task<Void, Never>?
    }

    /// The commands for the engine, in order.
    let commands = CommandQueue()
    private let state = Mutex(State())

    /// A Boolean value that indicates whether the session has ended.
    var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Starts the session, unless it has already ended.
    ///
    /// - Parameters:
    ///   - time: The time source, whose executor runs the session.
    ///   - body: Runs the engine, and returns when it is canceled.
    func start(on time: any TimeSource, _ body: @escaping @Sendable (CommandQueue) async -> Void) {
        let mayStart = state.withLock { !$0.isEnded && $0.task == nil }
        guard mayStart else { return }
        let commands = commands
        let task = launch(on: time) { await body(commands) }
        let isLate = state.withLock { state in
            state.task = task
            return state.isEnded
        }
        if isLate { task.cancel() }
    }

    /// Ends the session; commands that were not executed are discarded.
    ///
    /// - Parameter position: The position of the playhead, which is reported as the result of unfinished seeks.
    func end(at position: MediaTime) {
        let task = state.withLock { state in
            state.isEnded = true
            return state.task
        }
        commands.close(at: position)
        task?.cancel()
    }

    /// Waits until the engine has ended; returns at once if it was never started.
    func waitUntilEnded() async { await state.withLock { $0.task }?.value }
}
