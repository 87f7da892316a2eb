/// Stretches of a media timeline, in order, without overlaps: what is loaded, what can be sought.
///
/// Ranges that touch or overlap are merged as they are added, so that a sum of durations counts nothing twice.
public struct MediaTimeRangeSet: Sendable, Hashable {
    /// The ranges, ascending; between each two lies a hole.
    public private(set) var ranges: [MediaTimeRange] = []

    /// Makes a set without ranges.
    public init() {}

    /// Makes the union of ranges in any order.
    public init(_ ranges: some Sequence<MediaTimeRange>) {
        for range in ranges { insert(range) }
    }

    /// Whether it holds no time at all.
    public var isEmpty: Bool { ranges.isEmpty }

    /// The sum of all durations.
    public var totalDuration: MediaTime { ranges.reduce(.zero) { $0 + $1.duration } }

    /// Adds a range and merges it with those that it touches.
    ///
    /// - Complexity: O(log *n*) for a range at the end, O(*n*) otherwise.
    public mutating func insert(_ range: MediaTimeRange) {
        guard !range.isEmpty else { return }
        // The first range that ends at or after the new one's start is the first that can touch it.
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

    /// Takes a range out.
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

    /// The range that holds `time`; `nil` where it lies in a hole.
    public func range(containing time: MediaTime) -> MediaTimeRange? {
        let index = ranges.partitioningIndex { $0.end > time }
        return index < ranges.count && ranges[index].contains(time) ? ranges[index] : nil
    }

    /// Whether `time` lies in one of the ranges.
    public func contains(_ time: MediaTime) -> Bool {
        let index = ranges.partitioningIndex { $0.end > time }
        return index < ranges.count && ranges[index].contains(time)
    }

    /// What both sets hold.
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

extension Array {
    /// The first index whose element satisfies `predicate`, where all behind it do too.
    package func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
