import MediaTiming
import MediaTransport
import PlaylistEditing
import Synchronization

/// The breaks of edited live playlists in memory, which are lost when the program ends.
final class MemoryBreakStore: BreakStore {
    private struct State {
        var values: [String: StoredBreaks] = [:]
        var shares: BreakShares
    }

    private let time: any TimeSource
    private let state: Mutex<State>

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - size: The maximum size of all breaks together; a client has at most a quarter of it.
    ///   - time: The clock.
    init(size: ByteCount = ByteCount(32 << 20), time: any TimeSource = SystemTimeSource()) {
        state = Mutex(State(shares: BreakShares(BreakShares.Limits(size: Int(clamping: size.bytes)))))
        self.time = time
    }

    func breaks(of key: String) -> StoredBreaks {
        let now = time.now
        return state.withLock { state in
            guard let stored = state.values[key] else { return StoredBreaks() }
            state.shares.use(key, size: 0, at: now)
            return stored
        }
    }

    func store(
        _ breaks: BreakTimelines,
        of key: String,
        replacing revision: Int64,
        for client: ClientNetwork?
    ) throws -> Bool {
        let now = time.now
        let size = breaks.size
        return try state.withLock { state in
            guard state.values[key]?.revision ?? 0 == revision else { return false }
            for idle in try state.shares.store(size, of: key, for: client, at: now) { state.values[idle] = nil }
            state.values[key] = StoredBreaks(breaks: breaks, revision: revision +| 1)
            return true
        }
    }
}
