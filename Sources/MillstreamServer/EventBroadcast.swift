import ReportFormat
import Synchronization

/// Something that the console should know.
struct ServerEvent: Sendable {
    let name: String
    let data: ReportValue

    /// The event as server-sent events write it.
    var text: String { "event: \(name)\ndata: \(data.json)\n\n" }
}

/// Gives each event to everyone who listens.
final class EventBroadcast: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<ServerEvent>.Continuation] = [:]
        var nextID = 0
    }

    private let state = Mutex(State())

    /// A slow listener loses the oldest events: it reads the whole state again when it reconnects.
    private static let bufferSize = 256

    var listenerCount: Int { state.withLock { $0.listeners.count } }

    func send(_ event: ServerEvent) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(event) }
    }

    /// The events from now on, until the listener goes.
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
