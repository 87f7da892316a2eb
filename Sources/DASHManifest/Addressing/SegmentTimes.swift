import MediaTiming

/// The times and numbers of the segments of a representation, as runs of segments of the same duration.
///
/// A run of any length takes constant space, so a timeline that repeats a segment 10^18 times is not expanded.
package struct SegmentTimes: Sendable, Hashable {
    /// A run of segments of the same duration, in the units of the timescale.
    fileprivate struct Run: Sendable, Hashable {
        /// The index of the first segment.
        var index: Int64
        var time: Int64
        var duration: Int64
        /// The number of sequences, each of ``parts`` segments.
        var count: Int64
        var number: Int64
        var parts: Int64
        /// The number of segments.
        var segmentCount: Int64 { count *| parts }
        /// The end of the last segment.
        var end: Int64 { time +| count *| duration }
    }

    /// The time, duration and number of a segment, in the units of the timescale.
    package struct Entry: Sendable, Hashable {
        /// The time of the segment in its media, or of its sequence.
        package let time: Int64
        /// The start of the segment.
        package let start: Int64
        /// The duration of the segment.
        package let duration: Int64
        /// The number of the segment.
        package let number: Int64
        /// The number within the sequence, from 1.
        package let subNumber: Int64
    }

    private var runs: [Run] = []
    /// The number of segments.
    package private(set) var count: Int64 = 0

    /// Creates the times of a segment timeline.
    ///
    /// - Parameters:
    ///   - entries: The entries of the timeline.
    ///   - startNumber: The number of the first segment.
    ///   - endNumber: The number of the last segment, or `nil` if the timeline determines it.
    ///   - range: The times of the period; segments that do not overlap with it are not part of it.
    init(_ entries: [TimelineEntry], startNumber: Int64, endNumber: Int64?, range: Range<Int64>) {
        var time: Int64 = 0
        var number = startNumber
        var lastEnd = Int64.min
        var hasOverlaps = false
        runs.reserveCapacity(entries.count)
        for (position, entry) in entries.enumerated() {
            time = entry.time ?? time
            number = entry.number ?? number
            guard entry.duration > 0 else { continue }
            var repeats = entry.repeatCount +| 1
            if entry.repeatCount < 0 {
                let next = position + 1 < entries.count ? entries[position + 1].time : nil
                repeats = Self.quotient((next ?? range.upperBound) -| time, entry.duration)
            }
            let run = Run(
                index: 0,
                time: time,
                duration: entry.duration,
                count: max(0, repeats),
                number: number,
                parts: min(entry.sequenceCount, entry.duration)
            )
            append(run, endNumber: endNumber, range: range)
            hasOverlaps = hasOverlaps || lastEnd > time
            time = run.end
            lastEnd = max(lastEnd, time)
            number +|= run.count
        }
        if hasOverlaps { shortenOverlaps() }
    }

    /// Creates the times of segments of the same duration, the last of which may exceed the period.
    init(duration: Int64, startNumber: Int64, endNumber: Int64?, range: Range<Int64>) {
        guard duration > 0 else { return }
        let count = Self.quotient(range.upperBound -| range.lowerBound, duration)
        let run = Run(
            index: 0,
            time: range.lowerBound,
            duration: duration,
            count: count,
            number: startNumber,
            parts: 1
        )
        append(run, endNumber: endNumber, range: range)
    }

    /// Returns the quotient, rounded up.
    private static func quotient(_ dividend: Int64, _ divisor: Int64) -> Int64 {
        let quotient = dividend.dividedSaturated(by: divisor)
        return quotient *| divisor < dividend ? quotient +| 1 : quotient
    }

    /// Appends the segments of a run that end after the start of a range and begin before its end.
    private mutating func append(_ run: Run, endNumber: Int64?, range: Range<Int64>) {
        var run = run
        if run.time < range.lowerBound {
            let early = min(run.count, max(0, (range.lowerBound -| run.time).dividedSaturated(by: run.duration)))
            run.time +|= early *| run.duration
            run.number +|= early
            run.count -|= early
        }
        if run.end > range.upperBound {
            run.count = min(run.count, max(0, Self.quotient(range.upperBound -| run.time, run.duration)))
        }
        if let endNumber { run.count = min(run.count, max(0, (endNumber -| run.number) +| 1)) }
        guard run.count > 0 else { return }
        run.index = count
        runs.append(run)
        count +|= run.segmentCount
    }

    /// Ends the last segment of each run where the next run begins.
    private mutating func shortenOverlaps() {
        var result: [Run] = []
        result.reserveCapacity(runs.count)
        for run in runs {
            while let last = result.last, last.end > run.time {
                result.removeLast()
                var kept = last
                // The segments that begin before the next run stay; the last of them is shortened.
                kept.count = max(0, min(last.count, Self.quotient(run.time -| last.time, last.duration)))
                guard kept.count > 0 else { continue }
                let earlier = kept.count -| 1
                let start = kept.time +| earlier *| kept.duration
                let shortened = Run(
                    index: 0,
                    time: start,
                    duration: run.time -| start,
                    count: 1,
                    number: kept.number +| earlier,
                    parts: kept.parts
                )
                kept.count = earlier
                if kept.count > 0 { result.append(kept) }
                result.append(shortened)
                break
            }
            result.append(run)
        }
        count = 0
        for index in result.indices {
            result[index].index = count
            count +|= result[index].segmentCount
        }
        runs = result
    }

    /// Removes the segments after the given number of them.
    mutating func limit(to maximum: Int64) {
        while let last = runs.last, last.index +| last.segmentCount > maximum {
            runs.removeLast()
            guard last.index < maximum else { continue }
            var kept = last
            kept.count = (maximum -| last.index).dividedSaturated(by: last.parts)
            if kept.count > 0 { runs.append(kept) }
            break
        }
        count = runs.last.map { $0.index +| $0.segmentCount } ?? 0
    }

    /// The entry of the timeline where a search begins.
    package struct Position: Sendable {
        fileprivate var number = 0
        fileprivate var run = Run(index: 0, time: 0, duration: 0, count: 0, number: 0, parts: 1)
        /// The indices of the segments of the entry.
        fileprivate var indices: Range<Int64> = 0..<0

        /// Creates a position for the first search.
        package init() {}
    }

    /// Returns the segment at an index, which must be 0 or more and less than ``count``.
    ///
    /// - Complexity: O(log *n*) in the entries of the timeline.
    package func entry(at index: Int64) -> Entry? {
        var position = Position()
        return entry(at: index, near: &position)
    }

    /// Returns the segment at an index, which must be 0 or more and less than ``count``.
    ///
    /// - Parameters:
    ///   - index: The index of the segment.
    ///   - position: The position where the search begins; it is set to that of the segment.
    /// - Returns: The segment, or `nil` if there is none.
    /// - Complexity: O(1) for the segment after the one at the position, O(log *n*) in the entries of the timeline for
    ///   others.
    package func entry(at index: Int64, near position: inout Position) -> Entry? {
        if !position.indices.contains(index) {
            guard index >= 0, index < count else { return nil }
            move(&position, to: index)
        }
        let run = position.run
        let offset = index -| run.index
        if run.parts == 1 {
            let time = run.time +| offset *| run.duration
            return Entry(
                time: time,
                start: time,
                duration: (time +| run.duration) -| time,
                number: run.number +| offset,
                subNumber: 1
            )
        }
        let (sequence, part) = offset.quotientAndRemainder(dividingBy: max(1, run.parts))
        let time = run.time +| sequence *| run.duration
        // The parts of a sequence divide it without gaps.
        let start = time +| (part *| run.duration).dividedSaturated(by: run.parts)
        let end = time +| ((part +| 1) *| run.duration).dividedSaturated(by: run.parts)
        return Entry(
            time: time,
            start: start,
            duration: end -| start,
            number: run.number +| sequence,
            subNumber: part +| 1
        )
    }

    /// Sets a position to the run that contains a segment, which must exist.
    private func move(_ position: inout Position, to index: Int64) {
        let next = index == position.indices.upperBound && !position.indices.isEmpty ? position.number &+ 1 : 0
        let isNext = next < runs.count && runs[next].index == index
        position.number = isNext ? next : self.position(of: index)
        position.run = runs[position.number]
        position.indices = position.run.index..<max(position.run.index, position.run.index +| position.run.segmentCount)
    }

    /// Returns the position of the last run that does not begin after a segment.
    private func position(of index: Int64) -> Int {
        var (low, high) = (0, runs.count)
        while low + 1 < high {
            let middle = (low + high) / 2
            if runs[middle].index <= index { low = middle } else { high = middle }
        }
        return low
    }

    /// The earliest start and the latest end of all runs, or `nil` if there are none.
    ///
    /// - Complexity: O(*n*) in the entries of the timeline.
    package var bounds: ClosedRange<Int64>? {
        guard var result = runs.first.map({ $0.time...max($0.time, $0.end) }) else { return nil }
        for run in runs {
            result = min(result.lowerBound, run.time)...max(result.upperBound, run.time, run.end)
        }
        return result
    }

    /// Returns the index of the first segment that ends after the given time, or ``count`` if there is none.
    ///
    /// - Complexity: O(log *n*) in the entries of the timeline.
    package func index(endingAfter time: Int64) -> Int64 {
        var (low, high): (Int64, Int64) = (0, count)
        while low < high {
            let middle = low +| (high -| low) / 2
            guard let entry = entry(at: middle) else { return count }
            let (end, next) = (entry.start +| entry.duration, middle +| 1)
            if end > time { high = middle } else { low = next }
        }
        return low
    }
}
