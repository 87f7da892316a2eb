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
    }

    /// In the order of their times.
    private var entries: [Entry] = []
    /// Whether anything was sought: before, the play head is nowhere.
    private var hasBegun = false

    /// A message that comes so much too late is old.
    private static let lateness = MediaTime(seconds: 10)
    /// Messages that apply at times nearer than this are repeats, where all else is the same.
    private static let tick = MediaTime(value: 1, timescale: 100)
    /// More than so many messages are not kept.
    private static let capacity = 100_000

    /// Takes messages; those that were there before are left out: event messages are repeated in each segment in which they
    /// apply, and variants carry the same ones.
    ///
    /// - Parameters:
    ///   - messages: In any order, in the time of the container.
    ///   - type: The media that they came with.
    ///   - offset: What is to be added to their times.
    mutating func insert(_ messages: [TimedMetadata], of type: MediaType, offset: MediaTime) {
        for var message in messages where entries.count < Self.capacity {
            message.time = max(.zero, message.time + offset)
            guard !isThere(message) else { continue }
            let position = entries.partitioningIndex { $0.message.time > message.time }
            entries.insert(Entry(message: message, type: type, isGiven: false), at: position)
        }
    }

    private func isThere(_ message: TimedMetadata) -> Bool {
        let first = entries.partitioningIndex { $0.message.time >= message.time - Self.tick }
        return entries[first...].prefix { $0.message.time <= message.time + Self.tick }.contains { entry in
            var same = entry.message
            same.time = message.time
            return same == message
        }
    }

    /// Forgets what came with media of a type; what applies for longer is repeated in what follows, and still known.
    mutating func discard(_ type: MediaType, in range: MediaTimeRange) {
        for index in entries.indices
        where entries[index].type == type && range.contains(entries[index].message.time) {
            entries[index].isForgotten = true
        }
        entries.removeAll { $0.isForgotten && (!$0.isGiven || $0.end <= range.end) }
    }

    /// The play head is elsewhere: what applies there is due, what lies before is not.
    mutating func seek(to time: MediaTime) {
        hasBegun = true
        for index in entries.indices {
            let message = entries[index].message
            let end = message.time + (message.duration ?? .zero)
            entries[index].isGiven = message.time < time - Self.tick && end <= time
        }
    }

    /// What the play head has reached, in the order of the times; each is given once.
    mutating func due(at position: MediaTime) -> [TimedMetadata] {
        guard hasBegun else { return [] }
        let reached = entries.partitioningIndex { $0.message.time > position }
        var due: [TimedMetadata] = []
        for index in 0..<reached where !entries[index].isGiven {
            entries[index].isGiven = true
            let message = entries[index].message
            let end = message.time + max(message.duration ?? .zero, Self.lateness)
            if end > position { due.append(message) }
        }
        return due
    }

    /// When the next of them applies.
    func next(after position: MediaTime) -> MediaTime? {
        guard hasBegun else { return nil }
        let behind = entries.partitioningIndex { $0.message.time > position }
        return behind < entries.count ? entries[behind].message.time : nil
    }
}
