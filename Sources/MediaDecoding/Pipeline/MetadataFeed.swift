import MediaTiming
import PlaybackReporting

/// The timed metadata of buffered media, delivered when the playhead reaches it.
struct MetadataFeed {
    private struct Entry {
        let message: TimedMetadata
        let type: MediaType
        var isDelivered: Bool
        /// A Boolean value that indicates whether the media of the message was removed.
        ///
        /// The entry then only prevents a repeated message from being delivered again.
        var isDiscarded = false

        var end: MediaTime { message.time + (message.duration ?? .zero) }
        var byteCount: Int {
            256 + message.payload.count + message.scheme.utf8.count + message.value.utf8.count
        }
    }

    /// The contents of a message without its time.
    private struct Identity: Hashable {
        private let message: TimedMetadata

        init(_ message: TimedMetadata) {
            var message = message
            message.time = .zero
            self.message = message
        }
    }

    /// The messages in time order.
    private var entries: [Entry] = []
    /// The times of each message in ascending order; a message is compared only with those of equal contents.
    private var times: [Identity: [MediaTime]] = [:]
    /// The number of entries at the start that have all been delivered.
    private var deliveredCount = 0
    /// The approximate memory of the entries, in bytes.
    private(set) var byteCount = 0
    private var hasSought = false

    /// The maximum delay of a message.
    ///
    /// It is not delivered if its end is farther behind the playhead.
    private static let maximumDelay = MediaTime(seconds: 10)
    private static let duplicateTolerance = MediaTime(value: 1, timescale: 100)
    /// The maximum number of messages in memory.
    static let maximumCount = 20_000
    /// The maximum memory of the messages, in bytes.
    static let maximumSize = 32 << 20

    /// The number of messages in memory.
    var count: Int { entries.count }

    /// Inserts the messages of a segment, except for messages that are already present within 10 ms.
    ///
    /// When the limit is reached, delivered messages are removed first; then new ones are dropped.
    ///
    /// - Complexity: O(*k* log *k*) for *k* messages after all existing ones; additionally O(*n*) if they are between
    ///   existing ones.
    mutating func insert(_ messages: [TimedMetadata], of type: MediaType, offset: MediaTime) {
        var new: [Entry] = []
        for var message in messages {
            message.time = max(.zero, message.time + offset)
            let identity = Identity(message)
            guard !contains(message.time, in: times[identity]) else { continue }
            let entry = Entry(message: message, type: type, isDelivered: false)
            guard evictDelivered(for: entry, pendingCount: new.count) else { break }
            byteCount += entry.byteCount
            new.append(entry)
            let position = times[identity]?.partitioningIndex { $0 > message.time } ?? 0
            times[identity, default: []].insert(message.time, at: position)
        }
        merge(new)
    }

    private mutating func merge(_ new: [Entry]) {
        // Messages with the same time stay in the order in which they arrived.
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
        deliveredCount = min(deliveredCount, first)
    }

    private func contains(_ time: MediaTime, in known: [MediaTime]?) -> Bool {
        guard let known else { return false }
        let first = known.partitioningIndex { $0 >= time - Self.duplicateTolerance }
        return first < known.count && known[first] <= time + Self.duplicateTolerance
    }

    /// Removes delivered messages from the start until there is space for another one.
    private mutating func evictDelivered(for entry: Entry, pendingCount newCount: Int) -> Bool {
        func isFull() -> Bool {
            entries.count + newCount >= Self.maximumCount || byteCount + entry.byteCount > Self.maximumSize
        }
        guard isFull() else { return true }
        // Removing a quarter at once amortizes the cost.
        let given = entries.prefix(while: \.isDelivered).count
        let removed = min(given, max(1, Self.maximumCount / 4))
        for entry in entries[..<removed] { removeFromIndex(entry) }
        entries.removeFirst(removed)
        deliveredCount = max(0, deliveredCount - removed)
        return !isFull()
    }

    private mutating func removeFromIndex(_ entry: Entry) {
        byteCount -= entry.byteCount
        let identity = Identity(entry.message)
        guard var known = times.removeValue(forKey: identity) else { return }
        let index = known.partitioningIndex { $0 >= entry.message.time }
        if index < known.count, known[index] == entry.message.time { known.remove(at: index) }
        if !known.isEmpty { times[identity] = known }
    }

    /// Removes the messages of a media type in a time range.
    ///
    /// Delivered messages that apply beyond the range are remembered, because later segments repeat them.
    mutating func discard(_ type: MediaType, in range: MediaTimeRange) {
        for index in entries.indices
        where entries[index].type == type && range.contains(entries[index].message.time) {
            entries[index].isDiscarded = true
        }
        let isOver: (Entry) -> Bool = { $0.isDiscarded && (!$0.isDelivered || $0.end <= range.end) }
        for entry in entries where isOver(entry) { removeFromIndex(entry) }
        entries.removeAll(where: isOver)
        deliveredCount = 0
    }

    /// Moves the playhead: messages that apply at the new time become due, earlier ones do not.
    mutating func seek(to time: MediaTime) {
        hasSought = true
        for index in entries.indices {
            let message = entries[index].message
            let end = message.time + (message.duration ?? .zero)
            entries[index].isDelivered = message.time < time - Self.duplicateTolerance && end <= time
        }
        deliveredCount = 0
    }

    /// Returns the messages that the playhead has reached, in time order; each message is returned once.
    mutating func takeDue(at position: MediaTime) -> [TimedMetadata] {
        guard hasSought else { return [] }
        let reached = entries.partitioningIndex { $0.message.time > position }
        var due: [TimedMetadata] = []
        for index in min(deliveredCount, reached)..<reached where !entries[index].isDelivered {
            entries[index].isDelivered = true
            let message = entries[index].message
            let end = message.time + max(message.duration ?? .zero, Self.maximumDelay)
            if end > position { due.append(message) }
        }
        deliveredCount = max(deliveredCount, reached)
        return due
    }

    /// Returns the time of the first message after a position; `nil` if there is none.
    func nextTime(after position: MediaTime) -> MediaTime? {
        guard hasSought else { return nil }
        let behind = entries.partitioningIndex { $0.message.time > position }
        return behind < entries.count ? entries[behind].message.time : nil
    }
}
