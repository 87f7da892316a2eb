import HLSPlaylist
import MediaTiming
import PlaybackReporting
import StreamingEngine
import Synchronization

/// A command for the engine of an item.
enum EngineCommand: Sendable {
    case setRate(Double, RateChange.Reason, atOnce: Bool, from: QueueStateMachine.SynchronizedStart? = nil)
    case seek(SeekRequest)
    case step(Int)
    case setEnabled(MediaType, Bool)
    case cancelSeeks
    case select(MediaSelectionOption?, Rendition.MediaType)
    case update(@Sendable (inout StreamingOptions) -> Void)
}

/// A queue of commands for an engine, in the order in which they were given.
///
/// Adding a command resumes no task, so that a command can be added under the lock that guards the related change of
/// state. Call ``wake()`` after the lock is released.
final class CommandQueue: Sendable {
    private struct State {
        var commands: [EngineCommand] = []
        var seeks: [SeekRequest] = []
        var isClosed = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Adds a command; a closed queue ignores it.
    ///
    /// - Returns: A Boolean value that indicates whether the command was added.
    @discardableResult
    func add(_ command: EngineCommand) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.commands.append(command)
            if case .seek(let request) = command {
                state.seeks.removeAll(where: \.isComplete)
                state.seeks.append(request)
            }
            return true
        }
    }

    /// Resumes the task that waits in ``next()``, if there is a command.
    func wake() {
        let waiter = state.withLock { state in state.commands.isEmpty ? nil : state.waiter.take() }
        waiter?.resume()
    }

    /// Closes the queue.
    ///
    /// Pending seeks end with a result that indicates that they did not finish, and with the given position.
    func close(at position: MediaTime) {
        let (waiter, seeks) = state.withLock { state in
            state.isClosed = true
            state.commands = []
            defer { state.seeks = [] }
            return (state.waiter.take(), state.seeks)
        }
        waiter?.resume()
        for request in seeks { request.complete(SeekResult(isFinished: false, position: position)) }
    }

    /// Waits for the next command and returns it; `nil` once the queue is closed.
    ///
    /// Only one task may call it.
    func next() async -> EngineCommand? {
        // The wait ends when there is a command, or when the queue is closed.
        await withCheckedContinuation { continuation in
            let mayWait = state.withLock { state in
                guard state.commands.isEmpty, !state.isClosed else { return false }
                state.waiter = continuation
                return true
            }
            if !mayWait { continuation.resume() }
        }
        return state.withLock { state in state.commands.isEmpty ? nil : state.commands.removeFirst() }
    }
}
