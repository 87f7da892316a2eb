import MediaTiming
import PlaybackReporting

/// What of one rendition went to the decoder and is still there.
struct StreamBuffer: Sendable {
    /// A segment.
    struct Entry: Sendable {
        let range: MediaTimeRange
        let type: MediaType
        let byteCount: Int
        let variant: VariantDescription?
        /// Whether it is of fast motion: it holds no more than a picture.
        var isScanned = false
        /// Whether there is nothing in it: a gap, or what could not be had.
        var isLeftOut = false
    }

    /// What can be played.
    private(set) var loaded = MediaTimeRangeSet()
    /// What can be played and is of the choice that holds now.
    private(set) var current = MediaTimeRangeSet()
    /// What of that is passed over, because there is nothing.
    private(set) var leftOut = MediaTimeRangeSet()
    /// In the order of their times.
    private(set) var entries: [Entry] = []
    /// How many bytes all of it has.
    private(set) var byteCount = 0

    /// Something was added.
    mutating func insert(_ entry: Entry) {
        loaded.insert(Self.joined(entry.range, to: loaded))
        current.insert(Self.joined(entry.range, to: current))
        if entry.isLeftOut {
            leftOut.insert(entry.range)
        } else if !leftOut.ranges.isEmpty {
            leftOut.remove(entry.range)
        }
        let position = entries.partitioningIndex { $0.range.start > entry.range.start }
        entries.insert(entry, at: position)
        byteCount += entry.byteCount
    }

    /// What is there is of another choice than the one that holds now: it will do until that comes.
    mutating func becomeOutdated(from time: MediaTime) {
        guard let end = current.ranges.last?.end, end > time else { return }
        current.remove(MediaTimeRange(start: time, end: end))
    }

    /// Forgets what lies before a time.
    ///
    /// - Returns: What was forgotten, by type; empty where nothing was.
    mutating func discard(before time: MediaTime) -> [MediaType: MediaTimeRange] {
        let count = entries.partitioningIndex { $0.range.end > time }
        return forget(0..<count)
    }

    /// Forgets what lies behind a time.
    ///
    /// - Returns: What was forgotten, by type; empty where nothing was.
    mutating func discard(after time: MediaTime) -> [MediaType: MediaTimeRange] {
        let first = entries.partitioningIndex { $0.range.start >= time }
        return forget(first..<entries.count)
    }

    /// Forgets what came for fast motion, and what that lies upon.
    ///
    /// - Returns: What was forgotten.
    mutating func discardScanned() -> [(type: MediaType, range: MediaTimeRange)] {
        let scanned = entries.filter(\.isScanned).map(\.range)
        guard !scanned.isEmpty else { return [] }
        var forgotten: [(type: MediaType, range: MediaTimeRange)] = []
        for index in entries.indices.reversed()
        where entries[index].isScanned || scanned.contains(where: { $0.intersection(entries[index].range) != nil }) {
            forgotten += forget(index..<index + 1).map { (type: $0.key, range: $0.value) }
        }
        return forgotten
    }

    /// Before which time nothing is kept, where so much may lie behind the play head.
    func keptStart(behind position: MediaTime, _ duration: MediaTime, _ byteLimit: ByteCount) -> MediaTime {
        let start = position - duration
        var byteCount: Int64 = 0
        for entry in entries.reversed() where entry.range.end <= position {
            byteCount +|= Int64(entry.byteCount)
            if byteCount > byteLimit.bytes { return max(start, entry.range.end) }
        }
        return start
    }

    /// The variant that is played at a time.
    func variant(at time: MediaTime) -> VariantDescription? {
        let behind = entries.partitioningIndex { $0.range.start > time }
        return entries[..<behind].last { $0.variant != nil }?.variant
    }

    private mutating func forget(_ positions: Range<Int>) -> [MediaType: MediaTimeRange] {
        guard !positions.isEmpty else { return [:] }
        var forgotten: [MediaType: MediaTimeRange] = [:]
        for entry in entries[positions] {
            loaded.remove(entry.range)
            current.remove(entry.range)
            leftOut.remove(entry.range)
            byteCount -= entry.byteCount
            let known = forgotten[entry.type] ?? entry.range
            forgotten[entry.type] = MediaTimeRange(
                start: min(known.start, entry.range.start),
                end: max(known.end, entry.range.end)
            )
        }
        entries.removeSubrange(positions)
        // Overlapping entries are still there: later ones are in order of their starts, any earlier one may reach in.
        let end = forgotten.values.map(\.end).max() ?? .zero
        let behind = entries[positions.lowerBound...].prefix { $0.range.start < end }
        for entry in [entries[..<positions.lowerBound], behind].joined() {
            guard forgotten.values.contains(where: { $0.intersection(entry.range) != nil }) else { continue }
            loaded.insert(entry.range)
        }
        return forgotten
    }

    /// Closes a hole that is only a seam.
    static func joined(_ range: MediaTimeRange, to ranges: MediaTimeRangeSet) -> MediaTimeRange {
        let behind = ranges.ranges.partitioningIndex { $0.end > range.start }
        guard behind > 0 else { return range }
        let before = ranges.ranges[behind - 1]
        guard range.start - before.end <= SegmentScheduler.seam else { return range }
        return MediaTimeRange(start: before.end, end: range.end)
    }
}
