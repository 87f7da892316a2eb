import MediaTiming
import MediaTransport
import ResourceAddressing
import Synchronization

/// The budget of the segment indexes of a version of a manifest, which concurrent loads share.
final class IndexBudget: Sendable {
    private struct State {
        var bytes: Int64
        var loads: Int
    }

    private let state: Mutex<State>

    init(bytes: Int64, loads: Int) { state = Mutex(State(bytes: bytes, loads: loads)) }

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
            throw TransportError(.tooLarge, "the segment indexes of the presentation are too large", address: address)
        }
        return ByteCount(remaining)
    }

    /// Counts the bytes of a response.
    func receive(_ count: Int) { state.withLock { $0.bytes -|= Int64(count) } }
}
