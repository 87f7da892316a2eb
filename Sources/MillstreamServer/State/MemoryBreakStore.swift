import MediaTiming
import MediaTransport
import PlaylistEditing
import Synchronization

/// The breaks of edited live playlists in memory, which are lost when the program ends.
final class MemoryBreakStore: BreakStore {
    private let stored: Mutex<RecentlyUsedValues<String, StoredBreaks>>

    /// Creates an empty store, with the maximum size of all breaks together.
    init(size: ByteCount = ByteCount(32 << 20)) { stored = Mutex(RecentlyUsedValues(maximumSize: size)) }

    func breaks(of key: String) -> StoredBreaks { stored.withLock { $0.use(key) } ?? StoredBreaks() }

    func store(_ breaks: BreakTimelines, of key: String, replacing revision: Int64) -> Bool {
        stored.withLock { stored in
            guard stored[key]?.revision ?? 0 == revision else { return false }
            stored.insert(StoredBreaks(breaks: breaks, revision: revision +| 1), size: breaks.size, for: key)
            return true
        }
    }
}
