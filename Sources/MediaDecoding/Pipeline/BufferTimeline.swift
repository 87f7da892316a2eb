import MediaTiming

/// The buffered segments of one media type in time order; where two overlap, the one inserted later replaces the other.
struct BufferTimeline<Piece> {
    /// A segment and the part of it to play.
    struct Entry {
        /// The identifier of the segment; the parts of a segment that was split share it.
        let id: Int
        /// The inserted segment.
        let segment: Piece
        /// The time range in which the segment is played.
        var range: MediaTimeRange
    }

    /// The entries in time order, without overlaps.
    private(set) var entries: [Entry] = []
    /// The sum of the costs of all entries.
    private(set) var cost = 0
    private var lastID = 0
    private let costOfSegment: @Sendable (Piece) -> Int

    /// Creates a timeline without segments.
    ///
    /// - Parameter cost: A function that returns the cost of a segment, such as its size in bytes.
    init(cost: @escaping @Sendable (Piece) -> Int = { _ in 0 }) { costOfSegment = cost }

    /// Inserts a segment and replaces others in its time range.
    ///
    /// - Returns: The identifier of the segment.
    @discardableResult
    mutating func insert(_ segment: Piece, at range: MediaTimeRange) -> Int {
        remove(range) { _ in true }
        lastID += 1
        let entry = Entry(id: lastID, segment: segment, range: range)
        cost += costOfSegment(segment)
        entries.insert(entry, at: entries.partitioningIndex { $0.range.start >= range.start })
        return lastID
    }

    /// Removes the segments in a time range that satisfy the predicate; their parts outside of the range are kept.
    mutating func remove(_ range: MediaTimeRange, where predicate: (Piece) -> Bool) {
        guard !range.isEmpty else { return }
        let low = entries.partitioningIndex { $0.range.end > range.start }
        var high = low
        var remainders: [Entry] = []
        while high < entries.count, entries[high].range.start < range.end {
            let entry = entries[high]
            high += 1
            guard predicate(entry.segment) else {
                remainders.append(entry)
                continue
            }
            if entry.range.start < range.start {
                var rest = entry
                rest.range = MediaTimeRange(start: entry.range.start, end: range.start)
                remainders.append(rest)
            }
            if entry.range.end > range.end {
                var rest = entry
                rest.range = MediaTimeRange(start: range.end, end: entry.range.end)
                remainders.append(rest)
            }
        }
        for entry in entries[low..<high] { cost -= costOfSegment(entry.segment) }
        for rest in remainders { cost += costOfSegment(rest.segment) }
        entries.replaceSubrange(low..<high, with: remainders)
    }

    /// Returns the index of the entry that contains a time.
    func index(at time: MediaTime) -> Int? {
        let index = entries.partitioningIndex { $0.range.end > time }
        return index < entries.count && entries[index].range.contains(time) ? index : nil
    }

    /// Returns the index of the first entry that ends after a time.
    func index(endingAfter time: MediaTime) -> Int? {
        let index = entries.partitioningIndex { $0.range.end > time }
        return index < entries.count ? index : nil
    }

    /// Returns whether an entry follows the previous one without a gap above the tolerance.
    func isContiguous(_ index: Int) -> Bool {
        guard index > 0, index < entries.count else { return false }
        return entries[index].range.start - entries[index - 1].range.end <= Self.gapTolerance
    }

    /// The gap tolerance: shorter gaps are ignored because durations in playlists are rounded.
    static var gapTolerance: MediaTime { MediaTime(value: 1, timescale: 4) }
}

extension BufferTimeline: Sendable where Piece: Sendable {}
extension BufferTimeline.Entry: Sendable where Piece: Sendable {}
