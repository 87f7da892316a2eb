import ReportFormat
import Synchronization

/// An event for the console.
struct ServerEvent: Sendable {
    let name: String
    let data: ReportValue

    /// The event in the format of server-sent events.
    var text: String { "event: \(name)\ndata: \(data.json)\n\n" }
}

/// A broadcaster that delivers each event to all listeners.
final class EventBroadcast: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<ServerEvent>.Continuation] = [:]
        var nextID = 0
    }

    private let state = Mutex(State())

    /// The maximum number of pending events per listener; older ones are dropped, since the console reloads the whole
    /// state when it reconnects.
    private static let bufferSize = 256

    var listenerCount: Int { state.withLock { $0.listeners.count } }

    func send(_ event: ServerEvent) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(event) }
    }

    /// Returns a stream of events from now on, until the listener ends it.
    func events() -> AsyncStream<ServerEvent> {
        let (stream, continuation) = AsyncStream<ServerEvent>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.bufferSize)
        )
        let id = state.withLock { state in
            state.nextID += 1
            state.listeners[state.nextID] = continuation
            return state.nextID
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
        }
        return stream
    }
}
