import HTTPTypes
import MediaTiming
import MediaTransport
import PlaylistEditing
import Synchronization

/// The breaks of edited live playlists in memory, which are lost when the program ends.
///
/// The breaks of a playlist that players reload are never removed in favor of others, because its numbers would then go back. If there
/// is no room, further playlists are refused.
final class MemoryBreakStore: BreakStore {
    private struct Entry {
        var stored: StoredBreaks
        var size: Int
        var lastUse: Duration
        /// The client that requested the playlist first; `nil` for one without an address, such as a player in this process.
        let client: ClientNetwork?
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var size = 0
        /// The sizes of the breaks of the playlists that each client requested first.
        var sizes: [ClientNetwork: Int] = [:]

        mutating func remove(_ key: String) {
            guard let entry = entries.removeValue(forKey: key) else { return }
            add(0 -| entry.size, of: entry.client)
        }

        mutating func add(_ count: Int, of client: ClientNetwork?) {
            size +|= count
            guard let client else { return }
            let total = (sizes[client] ?? 0) +| count
            sizes[client] = total > 0 ? total : nil
        }
    }

    /// The time after its last request for which a playlist counts as being played.
    ///
    /// Players reload a live playlist after one target duration, or a part of it. A paused one may wait longer.
    static let idleTime = Duration.seconds(300)

    private let maximumSize: Int
    private let time: any TimeSource
    private let state = Mutex(State())

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - size: The maximum size of all breaks together; a client has at most a quarter of it.
    ///   - time: The clock.
    init(size: ByteCount = ByteCount(32 << 20), time: any TimeSource = SystemTimeSource()) {
        maximumSize = Int(clamping: size.bytes)
        self.time = time
    }

    func breaks(of key: String) -> StoredBreaks {
        let now = time.now
        return state.withLock { state in
            guard let index = state.entries.index(forKey: key) else { return StoredBreaks() }
            state.entries.values[index].lastUse = now
            return state.entries.values[index].stored
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
            let known = state.entries[key]
            guard known?.stored.revision ?? 0 == revision else { return false }
            let owner = known.map { $0.client } ?? client
            let added = size - (known?.size ?? 0)
            if added > 0 { try makeRoom(for: added, of: owner, except: key, isNew: known == nil, &state, now) }
            state.add(added, of: owner)
            state.entries[key] = Entry(
                stored: StoredBreaks(breaks: breaks, revision: revision +| 1),
                size: size,
                lastUse: now,
                client: owner
            )
            return true
        }
    }

    /// Removes breaks of playlists that are not played anymore until there is room for others.
    ///
    /// - Throws: ``ServerError`` with 429 if the client has too many playlists, with 503 if all clients together have.
    private func makeRoom(
        for count: Int,
        of client: ClientNetwork?,
        except key: String,
        isNew: Bool,
        _ state: inout State,
        _ now: Duration
    ) throws {
        // What is played goes on up to twice the maximum, beyond which its own breaks are too many.
        let factor = isNew ? 1 : 2
        let share = maximumSize / 4
        func exceeds() -> Bool { state.size +| count > maximumSize *| factor }
        func exceedsShare() -> Bool {
            client.map { (state.sizes[$0] ?? 0) +| count > share *| factor } ?? false
        }
        guard exceeds() || exceedsShare() else { return }
        let idle = state.entries.filter { $0.key != key && now - $0.value.lastUse >= Self.idleTime }
            .sorted { ($0.value.lastUse, $0.key) < ($1.value.lastUse, $1.key) }
        for (key, entry) in idle where exceeds() || exceedsShare() && entry.client == client { state.remove(key) }
        guard !exceedsShare() else {
            throw ServerError(
                .tooManyRequests,
                "too-many-timelines",
                "this client plays too many live playlists with replaced breaks",
                hint: "wait \(Self.idleTime.components.seconds / 60) minutes after the last request for some of them"
            )
        }
        guard !exceeds() else {
            throw ServerError(
                .serviceUnavailable,
                "too-many-timelines",
                "the server plays too many live playlists with replaced breaks",
                hint: "try again later, or store them with --state"
            )
        }
    }
}
