import HLSPlaylist
import MediaTiming
import PlaybackReporting
import StreamingEngine
import Synchronization

/// What an engine is told to do.
enum EngineCommand: Sendable {
    case setRate(Double, RateChange.Reason, atOnce: Bool, from: Lineup.Departure? = nil)
    case seek(SeekTicket)
    case step(Int)
    case setEnabled(MediaType, Bool)
    case cancelSeeks
    case select(MediaSelectionOption?, Rendition.MediaType)
    case update(@Sendable (inout StreamingOptions) -> Void)
}

/// Commands on their way to an engine, in the order in which they were given.
///
/// Giving one calls nobody, so that it can happen together with the change of state that it belongs to; ``wake()`` afterwards.
final class CommandQueue: Sendable {
    private struct State {
        var commands: [EngineCommand] = []
        var seeks: [SeekTicket] = []
        var isClosed = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Adds a command; when closed, there is nobody to obey.
    ///
    /// - Returns: Whether it was added.
    @discardableResult
    func add(_ command: EngineCommand) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.commands.append(command)
            if case .seek(let ticket) = command {
                state.seeks.removeAll(where: \.isComplete)
                state.seeks.append(ticket)
            }
            return true
        }
    }

    /// Wakes the engine, if there is anything to do.
    func wake() {
        let waiter = state.withLock { state in
            state.commands.isEmpty && !state.isClosed ? nil : state.waiter.take()
        }
        waiter?.resume()
    }

    /// Ends it: seeks that are under way will not be finished.
    func close(at position: MediaTime) {
        let (waiter, seeks) = state.withLock { state in
            state.isClosed = true
            state.commands = []
            defer { state.seeks = [] }
            return (state.waiter.take(), state.seeks)
        }
        waiter?.resume()
        for ticket in seeks { ticket.complete(SeekCompletion(isFinished: false, landed: position)) }
    }

    /// Waits for a command; `nil` when closed, and one task asks.
    func next() async -> EngineCommand? {
        while true {
            let (command, isClosed) = state.withLock { state in
                (state.commands.isEmpty ? nil : state.commands.removeFirst(), state.isClosed)
            }
            if command != nil || isClosed { return command }
            await withCheckedContinuation { continuation in
                let mayWait = state.withLock { state in
                    guard state.commands.isEmpty, !state.isClosed else { return false }
                    state.waiter = continuation
                    return true
                }
                if !mayWait { continuation.resume() }
            }
        }
    }
}
