import MediaTiming

/// The times and numbers of the segments of a representation, as runs of segments of the same duration.
///
/// A run of any length takes constant space, so a timeline that repeats a segment 10^18 times is not expanded.
package struct SegmentTimes: Sendable, Hashable {
    /// A run of segments of the same duration, in the units of the timescale.
    private struct Run: Sendable, Hashable {
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
        for (position, entry) in entries.enumerated() {
            time = entry.time ?? time
            number = entry.number ?? number
            guard entry.duration > 0 else { continue }
            let next = position + 1 < entries.count ? entries[position + 1].time : nil
            let end = entry.repeatCount < 0 ? next ?? range.upperBound : Int64.max
            let repeats = entry.repeatCount < 0 ? Self.quotient(end -| time, entry.duration) : entry.repeatCount +| 1
            let run = Run(
                index: 0,
                time: time,
                duration: entry.duration,
                count: max(0, repeats),
                number: number,
                parts: min(entry.sequenceCount, entry.duration)
            )
            append(run, endNumber: endNumber, range: range)
            time = run.end
            number +|= run.count
        }
        shortenOverlaps()
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
        run.count = min(run.count, max(0, Self.quotient(range.upperBound -| run.time, run.duration)))
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

    /// Returns the segment at an index, which must be 0 or more and less than ``count``.
    ///
    /// - Complexity: O(log *n*) in the entries of the timeline.
    package func entry(at index: Int64) -> Entry? {
        var run = 0
        return entry(at: index, near: &run)
    }

    /// Returns the segment at an index, which must be 0 or more and less than ``count``.
    ///
    /// - Parameters:
    ///   - index: The index of the segment.
    ///   - position: The position of the entry of the timeline where the search begins, 0 at first; it is set to that
    ///     of the segment.
    /// - Returns: The segment, or `nil` if there is none.
    /// - Complexity: O(1) for the segment after the one at the position, O(log *n*) in the entries of the timeline for
    ///   others.
    package func entry(at index: Int64, near position: inout Int) -> Entry? {
        guard index >= 0, index < count else { return nil }
        if !contains(index, at: position) {
            let next = position &+ 1
            position = contains(index, at: next) ? next : self.position(of: index)
        }
        let run = runs[position]
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

    /// Returns a Boolean value that indicates whether the run at a position exists and contains a segment.
    private func contains(_ index: Int64, at position: Int) -> Bool {
        guard runs.indices.contains(position) else { return false }
        let run = runs[position]
        return run.index <= index && index -| run.index < run.segmentCount
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
