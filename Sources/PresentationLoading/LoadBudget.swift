import MediaTiming
import MediaTransport
import ResourceAddressing
import Synchronization

/// The budget of the resources of one kind for a version of a manifest, which concurrent loads share.
final class LoadBudget: Sendable {
    private struct State {
        var bytes: Int64
        var loads: Int
    }

    private let state: Mutex<State>
    private let subject: String

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - bytes: The maximum number of bytes of all responses.
    ///   - loads: The maximum number of loads.
    ///   - subject: The name of the resources in the plural, for messages.
    init(bytes: Int64, loads: Int, of subject: String) {
        state = Mutex(State(bytes: bytes, loads: loads))
        self.subject = subject
    }

    /// Counts a load.
    ///
    /// - Returns: The maximum size of its response.
    /// - Throws: `TransportError` if there were too many loads or bytes.
    func beginLoad(of address: ResourceAddress) throws(TransportError) -> ByteCount {
        let remaining: Int64? = state.withLock { state in
            guard state.loads > 0, state.bytes > 0 else { return nil }
            state.loads -= 1
            return state.bytes
        }
        guard let remaining else {
            throw TransportError(.tooLarge, "the \(subject) of the presentation are too large", address: address)
        }
        return ByteCount(remaining)
    }

    /// Counts the bytes of a response.
    func receive(_ count: Int) { state.withLock { $0.bytes -|= Int64(count) } }
}
