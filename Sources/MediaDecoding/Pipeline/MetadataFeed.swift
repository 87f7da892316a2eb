import MediaTiming
import PlaybackReporting

/// Messages that came with media, until the play head reaches them.
struct MetadataFeed {
    private struct Entry {
        let message: TimedMetadata
        let type: MediaType
        var isGiven: Bool
        /// Whether the media that it came with is gone, and only that it was given is worth knowing.
        var isForgotten = false

        var end: MediaTime { message.time + (message.duration ?? .zero) }
        var byteCount: Int {
            256 + message.payload.count + message.scheme.utf8.count + message.value.utf8.count
        }
    }

    /// A message without its time.
    private struct Identity: Hashable {
        private let message: TimedMetadata

        init(_ message: TimedMetadata) {
            var message = message
            message.time = .zero
            self.message = message
        }
    }

    /// In the order of their times.
    private var entries: [Entry] = []
    /// The times of each message, ascending: messages are compared only with those that say the same.
    private var times: [Identity: [MediaTime]] = [:]
    /// The number of entries in front that have all been given.
    private var givenCount = 0
    /// About how much memory the entries take, in bytes.
    private(set) var byteCount = 0
    private var hasBegun = false

    // A message is not given when the play head was beyond it for so long: it came too late to matter.
    private static let lateness = MediaTime(seconds: 10)
    private static let tick = MediaTime(value: 1, timescale: 100)
    /// The maximum number of messages in memory.
    static let mostEntries = 20_000
    /// The maximum memory that messages take, in bytes.
    static let mostBytes = 32 << 20

    /// The number of messages in memory.
    var count: Int { entries.count }

    /// Takes the messages of a segment; those that are there already, within a hundredth of a second, are left out.
    ///
    /// When the limit is reached, delivered messages are removed first; then new ones are dropped.
    ///
    /// - Complexity: O(*k* log *k*) for *k* messages behind all others, and O(*n*) more where they come between others.
    mutating func insert(_ messages: [TimedMetadata], of type: MediaType, offset: MediaTime) {
        var new: [Entry] = []
        for var message in messages {
            message.time = max(.zero, message.time + offset)
            let identity = Identity(message)
            guard !isThere(message.time, in: times[identity]) else { continue }
            let entry = Entry(message: message, type: type, isGiven: false)
            guard makeRoom(for: entry, beside: new.count) else { break }
            byteCount += entry.byteCount
            new.append(entry)
            let position = times[identity]?.partitioningIndex { $0 > message.time } ?? 0
            times[identity, default: []].insert(message.time, at: position)
        }
        merge(new)
    }

    private mutating func merge(_ new: [Entry]) {
        // Those of one time stay in the order in which they came.
        let sorted = new.enumerated().sorted { left, right in
            (left.element.message.time, left.offset) < (right.element.message.time, right.offset)
        }.map(\.element)
        guard let earliest = sorted.first?.message.time else { return }
        let first = entries.partitioningIndex { $0.message.time > earliest }
        var merged: [Entry] = []
        merged.reserveCapacity(entries.count - first + sorted.count)
        var index = 0
        for entry in entries[first...] {
            while index < sorted.count, sorted[index].message.time < entry.message.time {
                merged.append(sorted[index])
                index += 1
            }
            merged.append(entry)
        }
        merged += sorted[index...]
        entries.replaceSubrange(first..., with: merged)
        givenCount = min(givenCount, first)
    }

    private func isThere(_ time: MediaTime, in known: [MediaTime]?) -> Bool {
        guard let known else { return false }
        let first = known.partitioningIndex { $0 >= time - Self.tick }
        return first < known.count && known[first] <= time + Self.tick
    }

    /// Forgets messages that were given, from the first on, until one more has room.
    private mutating func makeRoom(for entry: Entry, beside newCount: Int) -> Bool {
        func isFull() -> Bool {
            entries.count + newCount >= Self.mostEntries || byteCount + entry.byteCount > Self.mostBytes
        }
        guard isFull() else { return true }
        // A quarter at once, so that this is rare.
        let given = entries.prefix(while: \.isGiven).count
        let removed = min(given, max(1, Self.mostEntries / 4))
        for entry in entries[..<removed] { forget(entry) }
        entries.removeFirst(removed)
        givenCount = max(0, givenCount - removed)
        return !isFull()
    }

    private mutating func forget(_ entry: Entry) {
        byteCount -= entry.byteCount
        let identity = Identity(entry.message)
        guard var known = times.removeValue(forKey: identity) else { return }
        let index = known.partitioningIndex { $0 >= entry.message.time }
        if index < known.count, known[index] == entry.message.time { known.remove(at: index) }
        if !known.isEmpty { times[identity] = known }
    }

    /// Forgets what came with media of a type; what applies for longer is repeated in what follows, and still known.
    mutating func discard(_ type: MediaType, in range: MediaTimeRange) {
        for index in entries.indices
        where entries[index].type == type && range.contains(entries[index].message.time) {
            entries[index].isForgotten = true
        }
        let isOver: (Entry) -> Bool = { $0.isForgotten && (!$0.isGiven || $0.end <= range.end) }
        for entry in entries where isOver(entry) { forget(entry) }
        entries.removeAll(where: isOver)
        givenCount = 0
    }

    /// The play head is elsewhere: what applies there is due, what lies before is not.
    mutating func seek(to time: MediaTime) {
        hasBegun = true
        for index in entries.indices {
            let message = entries[index].message
            let end = message.time + (message.duration ?? .zero)
            entries[index].isGiven = message.time < time - Self.tick && end <= time
        }
        givenCount = 0
    }

    /// What the play head has reached, in the order of the times; each is given once.
    mutating func due(at position: MediaTime) -> [TimedMetadata] {
        guard hasBegun else { return [] }
        let reached = entries.partitioningIndex { $0.message.time > position }
        var due: [TimedMetadata] = []
        for index in min(givenCount, reached)..<reached where !entries[index].isGiven {
            entries[index].isGiven = true
            let message = entries[index].message
            let end = message.time + max(message.duration ?? .zero, Self.lateness)
            if end > position { due.append(message) }
        }
        givenCount = max(givenCount, reached)
        return due
    }

    /// When the next of them applies.
    func next(after position: MediaTime) -> MediaTime? {
        guard hasBegun else { return nil }
        let behind = entries.partitioningIndex { $0.message.time > position }
        return behind < entries.count ? entries[behind].message.time : nil
    }
}
