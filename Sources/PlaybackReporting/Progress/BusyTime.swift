import MediaTiming

/// The time during which at least one transfer went on, however many went on at once.
struct BusyTime: Sendable, Hashable {
    private struct Interval: Sendable, Hashable {
        var start: Duration
        var end: Duration
    }

    /// How many stretches are kept apart: transfers overlap with the last few only.
    private static let mostIntervals = 64

    /// Stretches in order that do not touch.
    private var intervals: [Interval] = []
    /// What lies before is counted for good.
    private var settled: Duration?

    /// Adds a transfer.
    ///
    /// - Parameters:
    ///   - start: When it began.
    ///   - end: When it ended; an end before the start counts as no time.
    /// - Returns: How much of it was not covered by others before.
    mutating func add(from start: Duration, to end: Duration) -> Duration {
        var added = Interval(start: max(start.clamped, settled ?? start.clamped), end: end.clamped)
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
        if intervals.count > Self.mostIntervals { settled = intervals.removeFirst().end }
        return fresh
    }
}
