/// A set of ranges of a media timeline in ascending order, such as the buffered or the seekable ranges.
///
/// Ranges that touch or overlap are merged when they are added, so a sum of durations counts no time twice.
public struct MediaTimeRangeSet: Sendable, Hashable {
    /// The ranges in ascending order, with a gap between each pair of neighbors.
    public private(set) var ranges: [MediaTimeRange] = []

    /// Creates an empty set.
    public init() {}

    /// Creates the union of ranges, which may be in any order.
    public init(_ ranges: some Sequence<MediaTimeRange>) {
        for range in ranges { insert(range) }
    }

    /// A Boolean value that indicates whether the set has no ranges.
    public var isEmpty: Bool { ranges.isEmpty }

    /// The sum of the durations of all ranges.
    public var totalDuration: MediaTime { ranges.reduce(.zero) { $0 + $1.duration } }

    /// Adds a range and merges it with the ranges that it touches or overlaps.
    ///
    /// - Complexity: O(log *n*) for a range at the end, O(*n*) otherwise.
    public mutating func insert(_ range: MediaTimeRange) {
        guard !range.isEmpty else { return }
        // The first range that ends at or after the start of the new range is the first that can touch it.
        let low = ranges.partitioningIndex { $0.end >= range.start }
        var high = low
        var (start, end) = (range.start, range.end)
        while high < ranges.count, ranges[high].start <= end {
            start = min(start, ranges[high].start)
            end = max(end, ranges[high].end)
            high += 1
        }
        ranges.replaceSubrange(low..<high, with: CollectionOfOne(MediaTimeRange(start: start, end: end)))
    }

    /// Removes a range, and trims or splits the ranges that overlap it.
    ///
    /// - Complexity: O(*n*).
    public mutating func remove(_ range: MediaTimeRange) {
        guard !range.isEmpty else { return }
        let low = ranges.partitioningIndex { $0.end > range.start }
        var high = low
        var rests: [MediaTimeRange] = []
        while high < ranges.count, ranges[high].start < range.end {
            rests.append(MediaTimeRange(start: ranges[high].start, end: range.start))
            rests.append(MediaTimeRange(start: range.end, end: ranges[high].end))
            high += 1
        }
        ranges.replaceSubrange(low..<high, with: rests.filter { !$0.isEmpty })
    }

    /// Returns the range that contains `time`, or `nil` if no range does.
    public func range(containing time: MediaTime) -> MediaTimeRange? {
        let index = ranges.partitioningIndex { $0.end > time }
        return index < ranges.count && ranges[index].contains(time) ? ranges[index] : nil
    }

    /// Returns a Boolean value that indicates whether one of the ranges contains `time`.
    public func contains(_ time: MediaTime) -> Bool {
        let index = ranges.partitioningIndex { $0.end > time }
        return index < ranges.count && ranges[index].contains(time)
    }

    /// Returns the times that both sets contain.
    public func intersection(_ other: MediaTimeRangeSet) -> MediaTimeRangeSet {
        var result = MediaTimeRangeSet()
        var (i, j) = (0, 0)
        while i < ranges.count, j < other.ranges.count {
            if let common = ranges[i].intersection(other.ranges[j]) { result.insert(common) }
            if ranges[i].end < other.ranges[j].end { i += 1 } else { j += 1 }
        }
        return result
    }
}
