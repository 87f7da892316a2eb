import MediaTiming

/// The time in which at least one transfer was running.
struct BusyTime: Sendable, Hashable {
    private struct Interval: Sendable, Hashable {
        var start: Duration
        var end: Duration
    }

    /// The maximum number of separate intervals; new transfers overlap only with recent ones.
    private static let maximumIntervalCount = 64

    /// The intervals in ascending order, without contact.
    private var intervals: [Interval] = []
    /// The time before which nothing can be added any more.
    private var fixedUntil: Duration?

    /// Adds a transfer.
    ///
    /// - Parameters:
    ///   - start: The start of the transfer.
    ///   - end: The end of the transfer; an end before the start counts as a duration of zero.
    /// - Returns: The part of its duration in which no other transfer was running.
    mutating func add(from start: Duration, to end: Duration) -> Duration {
        var added = Interval(start: max(start.clamped, fixedUntil ?? start.clamped), end: end.clamped)
        guard added.end > added.start else { return .zero }
        var fresh = added.end - added.start
        var before: [Interval] = []
        var after: [Interval] = []
        for interval in intervals {
            if interval.end < added.start {
                before.append(interval)
            } else if interval.start > added.end {
                after.append(interval)
            } else {
                fresh -= max(.zero, min(interval.end, end.clamped) - max(interval.start, start.clamped))
                added = Interval(start: min(added.start, interval.start), end: max(added.end, interval.end))
            }
        }
        intervals = before + [added] + after
        if intervals.count > Self.maximumIntervalCount { fixedUntil = intervals.removeFirst().end }
        return fresh
    }
}
