import MediaTiming
import PlaylistEditing
import Synchronization

/// The breaks of edited live playlists in memory, which are lost when the program ends.
final class MemoryBreakStore: BreakStore {
    private struct Entry {
        var stored: StoredBreaks
        var lastUse: UInt64
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var size = 0
        var uses: UInt64 = 0
    }

    private let maximumSize: Int
    private let state = Mutex(State())

    /// Creates an empty store, with the maximum size of all breaks together.
    init(size: ByteCount = ByteCount(32 << 20)) { maximumSize = Int(clamping: size.bytes) }

    func breaks(of key: String) -> StoredBreaks {
        state.withLock { state in
            guard let entry = state.entries[key] else { return StoredBreaks() }
            state.uses &+= 1
            state.entries[key]?.lastUse = state.uses
            return entry.stored
        }
    }

    func store(_ breaks: BreakTimelines, of key: String, replacing revision: Int64) -> Bool {
        state.withLock { state in
            let known = state.entries[key]
            guard known?.stored.revision ?? 0 == revision else { return false }
            state.size -|= known.map { $0.stored.breaks.size } ?? 0
            state.size +|= breaks.size
            state.uses &+= 1
            let stored = StoredBreaks(breaks: breaks, revision: revision +| 1)
            state.entries[key] = Entry(stored: stored, lastUse: state.uses)
            guard state.size > maximumSize else { return true }
            // The playlists that were not requested for the longest time are removed until a quarter of the size is free.
            for (key, entry) in state.entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
                guard state.size > maximumSize / 4 *| 3, state.entries.count > 1 else { break }
                state.entries[key] = nil
                state.size -|= entry.stored.breaks.size
            }
            return true
        }
    }
}
