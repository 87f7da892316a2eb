import HTTPTypes
import MediaTiming

/// The sizes of the breaks in a store, by the client that requested their playlist first, and the rule by which a store accepts more.
///
/// The breaks of a playlist that players reload are never removed in favor of others, because its numbers would then go back. If there
/// is no room, further playlists are refused.
struct BreakShares {
    /// The limits of a store.
    struct Limits: Sendable {
        /// The maximum size of the breaks of all playlists together.
        var size: Int
        /// The maximum size of the breaks of all playlists of one client.
        var clientSize: Int
        /// The size as which a playlist counts at least, so that the number of playlists is limited too.
        var minimumSize: Int
        /// The time after its last request for which a playlist counts as being played.
        var idleTime: Duration

        /// Creates limits.
        ///
        /// - Parameters:
        ///   - size: The maximum size of the breaks of all playlists together.
        ///   - clientSize: The maximum size for one client; `nil` for a quarter of all.
        ///   - minimumSize: The size as which a playlist counts at least.
        ///   - idleTime: The time after its last request for which a playlist counts as being played.
        init(
            size: Int,
            clientSize: Int? = nil,
            minimumSize: Int = 0,
            idleTime: Duration = BreakShares.idleTime
        ) {
            self.size = size
            self.clientSize = clientSize ?? size / 4
            self.minimumSize = minimumSize
            self.idleTime = idleTime
        }
    }

    private struct Entry {
        let size: Int
        var lastUse: Duration
        /// The client that requested the playlist first; `nil` for one without an address, such as a player in this process, and for a
        /// playlist that was stored before the program started.
        let client: ClientNetwork?
    }

    /// The time after its last request for which a playlist counts as being played, unless a store has another one.
    ///
    /// Players reload a live playlist after one target duration, or a part of it. A paused one may wait longer.
    static let idleTime = Duration.seconds(300)

    private let limits: Limits
    private var entries: [String: Entry] = [:]
    private var size = 0
    /// The sizes of the breaks of the playlists that each client requested first.
    private var sizes: [ClientNetwork: Int] = [:]

    /// Creates the shares of an empty store.
    init(_ limits: Limits) { self.limits = limits }

    /// Records a request for a playlist that is stored.
    ///
    /// - Parameters:
    ///   - key: The key of the playlist.
    ///   - count: The size of its breaks, which counts if it was stored before the program started.
    ///   - now: The time.
    mutating func use(_ key: String, size count: Int, at now: Duration) {
        if let index = entries.index(forKey: key) {
            entries.values[index].lastUse = now
        } else {
            insert(Entry(size: max(count, limits.minimumSize), lastUse: now, client: nil), for: key)
        }
    }

    /// Returns the keys of the playlists that are played, which must not be removed.
    func keysInUse(at now: Duration) -> Set<String> {
        Set(entries.lazy.filter { now - $0.value.lastUse < limits.idleTime }.map(\.key))
    }

    /// Records that breaks are stored.
    ///
    /// - Parameters:
    ///   - count: The size of the breaks.
    ///   - key: The key of their playlist.
    ///   - client: The client that requests the playlist; `nil` for one in this process.
    ///   - now: The time.
    /// - Returns: The keys of the playlists that are not played anymore and no longer count, so that these breaks fit.
    /// - Throws: ``ServerError`` with 429 if the client has too many playlists, with 503 if all clients together have.
    mutating func store(
        _ count: Int,
        of key: String,
        for client: ClientNetwork?,
        at now: Duration
    ) throws -> [String] {
        let known = entries[key]
        let isNew = known == nil
        let entry = Entry(size: max(count, limits.minimumSize), lastUse: now, client: known?.client ?? client)
        remove(key)
        var removed: [(key: String, entry: Entry)] = []
        if entry.size > known?.size ?? 0 {
            removed = removeIdle(toAdd: entry, isNew: isNew, now)
            let isOverShare = exceedsShare(adding: entry, isNew: isNew)
            guard !isOverShare, !exceeds(adding: entry, isNew: isNew) else {
                for (key, entry) in removed { insert(entry, for: key) }
                if let known { insert(known, for: key) }
                throw isOverShare ? clientFailure : failure
            }
        }
        insert(entry, for: key)
        return removed.map(\.key)
    }

    private var clientFailure: ServerError {
        ServerError(
            .tooManyRequests,
            "too-many-timelines",
            "this client plays too many live playlists with replaced breaks",
            hint: "wait \(limits.idleTime.components.seconds / 60) minutes after the last request for some of them"
        )
    }

    private var failure: ServerError {
        ServerError(
            .serviceUnavailable,
            "too-many-timelines",
            "the server plays too many live playlists with replaced breaks",
            hint: "try again later; servers that store them with --state have room for more"
        )
    }

    /// Removes playlists that are not played anymore until there is room for another one.
    private mutating func removeIdle(
        toAdd entry: Entry,
        isNew: Bool,
        _ now: Duration
    ) -> [(key: String, entry: Entry)] {
        guard exceeds(adding: entry, isNew: isNew) || exceedsShare(adding: entry, isNew: isNew) else { return [] }
        let idle = entries.filter { now - $0.value.lastUse >= limits.idleTime }
            .sorted { ($0.value.lastUse, $0.key) < ($1.value.lastUse, $1.key) }
        var removed: [(key: String, entry: Entry)] = []
        for (key, other) in idle {
            let isOfClient = exceedsShare(adding: entry, isNew: isNew) && other.client == entry.client
            guard isOfClient || exceeds(adding: entry, isNew: isNew) else { continue }
            remove(key)
            removed.append((key, other))
        }
        return removed
    }

    /// The share of the limits that a timeline may reach: one that is played goes on up to twice the maximum, beyond which its own
    /// breaks are too many.
    private func factor(_ isNew: Bool) -> Int { isNew ? 1 : 2 }

    private func exceeds(adding entry: Entry, isNew: Bool) -> Bool {
        size +| entry.size > limits.size *| factor(isNew)
    }

    private func exceedsShare(adding entry: Entry, isNew: Bool) -> Bool {
        guard let client = entry.client else { return false }
        return (sizes[client] ?? 0) +| entry.size > limits.clientSize *| factor(isNew)
    }

    /// Adds the timeline of a playlist that has none yet.
    private mutating func insert(_ entry: Entry, for key: String) {
        entries[key] = entry
        add(entry.size, of: entry.client)
    }

    private mutating func remove(_ key: String) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        add(0 -| entry.size, of: entry.client)
    }

    private mutating func add(_ count: Int, of client: ClientNetwork?) {
        size +|= count
        guard let client else { return }
        let total = (sizes[client] ?? 0) +| count
        sizes[client] = total > 0 ? total : nil
    }
}
