import HLSPlaylist
import MediaTiming

/// The times at which a simulated channel publishes the segments of one track.
///
/// All segments that the channel has ever published are numbered from zero.
struct ChannelSchedule {
    /// A segment of one cycle.
    private struct Entry {
        let position: Int
        let period: Int
        /// The time of its start and its publication, from the start of the cycle.
        let start: MediaTime
        let publication: MediaTime
    }

    private let playlist: MediaPlaylist
    let channel: SimulatedChannel
    private let entries: [Entry]
    private let periodCount: Int64
    /// The duration of the presentation, after which the channel ends or starts again.
    let cycle: MediaTime
    private let window: MediaTime

    /// The maximum duration of one cycle: a year.
    private static let maximumCycle = MediaTime(seconds: 366 * 86_400)
    /// The minimum duration of a cycle of a channel that repeats, that of the shortest parts: players cannot reload a
    /// playlist more often.
    private static let minimumCycle = SimulatedChannel.partTargets.lowerBound

    init(_ playlist: MediaPlaylist, _ channel: SimulatedChannel) throws(PlaylistEditError) {
        self.playlist = playlist
        self.channel = channel
        let ranges = playlist.periodRanges
        let durations = channel.periods ?? playlist.periodDurations
        guard !playlist.segments.isEmpty, ranges.count == durations.count else {
            throw .cannotStitch(
                reason: "the track has \(ranges.count) periods between discontinuities, "
                    + "and the video has \(durations.count)"
            )
        }
        guard durations.count <= SimulatedChannel.maximumPeriodCount, durations.allSatisfy({ $0 > .zero }) else {
            throw .cannotStitch(
                reason: "a channel has at most \(SimulatedChannel.maximumPeriodCount) periods between discontinuities, "
                    + "none of them without a duration"
            )
        }
        periodCount = Int64(ranges.count)
        var entries: [Entry] = []
        entries.reserveCapacity(playlist.segments.count)
        var start = MediaTime.zero
        for (period, range) in ranges.enumerated() {
            let origin = playlist.segments.timeRange(at: range.lowerBound).start
            let end = start + durations[period]
            for position in range {
                let times = playlist.segments.timeRange(at: position)
                let segmentStart = start + (times.start - origin)
                // A track that is longer than the video loses the segments after its end.
                guard segmentStart < end || position == range.lowerBound else { break }
                entries.append(
                    Entry(
                        position: position,
                        period: period,
                        start: segmentStart,
                        publication: min(start + (times.end - origin), end)
                    )
                )
            }
            start = end
        }
        guard start <= Self.maximumCycle else {
            throw .cannotStitch(
                reason: "a channel cannot be simulated from a presentation of \(ClockText.seconds(start))"
            )
        }
        guard !channel.repeats || start >= Self.minimumCycle else {
            throw .cannotStitch(
                reason: "a presentation of \(ClockText.seconds(start)) cannot be repeated as a channel; "
                    + "it must have at least \(Self.minimumCycle) s"
            )
        }
        self.entries = entries
        cycle = start
        // The playlist must not become shorter than three target durations (RFC 8216bis §6.2.2).
        let longest = entries.map { playlist.segments.timeRange(at: $0.position) }.map { $0.end - $0.start }.max()
        window = max(channel.window, (longest ?? .zero) * 4)
    }

    /// Returns the numbers of the segments in the playlist at a time since the start of the channel.
    ///
    /// - Returns: At most `limit` segments; `nil` if none is published yet.
    func published(at elapsed: MediaTime, _ limit: Int) -> (range: Range<Int64>, isEnded: Bool)? {
        let end = publishedCount(at: elapsed)
        guard end > 0 else { return nil }
        let isEnded = !channel.repeats && elapsed >= cycle
        // The window of an ended channel remains.
        let last = isEnded ? cycle : elapsed
        let removed = min(publishedCount(at: last - window), end -| 1)
        return (max(removed, end -| Int64(limit))..<end, isEnded)
    }

    /// Returns a Boolean value that indicates whether the channel has a segment, which may be in the future.
    func hasSegment(_ number: Int64) -> Bool { channel.repeats || number < Int64(entries.count) }

    /// Returns the position of a segment in the playlist, and its times since the start of the channel.
    func segment(_ number: Int64) -> (position: Int, start: MediaTime, publication: MediaTime) {
        let (cycles, index) = number.quotientAndRemainder(dividingBy: Int64(entries.count))
        let entry = entries[Int(index)]
        let origin = cycle * cycles
        return (entry.position, origin + entry.start, origin + entry.publication)
    }

    /// Returns how many segments have been published at a time since the start of the channel.
    private func publishedCount(at elapsed: MediaTime) -> Int64 {
        guard elapsed > .zero else { return 0 }
        let cycles = channel.repeats ? elapsed.quotient(dividingBy: cycle) : 0
        let time = elapsed - cycle * cycles
        let count = entries.partitioningIndex { $0.publication > time }
        return cycles *| Int64(entries.count) +| Int64(count)
    }

    func discontinuitySequence(at number: Int64) -> Int64 {
        let (cycles, index) = number.quotientAndRemainder(dividingBy: Int64(entries.count))
        let entry = entries[Int(index)]
        let period = cycles *| periodCount +| Int64(entry.period)
        // The tag of a segment at the start of a period is in the playlist, except that of the first segment.
        return max(0, isFirstOfPeriod(Int(index)) ? period -| 1 : period)
    }

    private func isFirstOfPeriod(_ index: Int) -> Bool {
        index == 0 || entries[index - 1].period != entries[index].period
    }

    /// Verifies that the playlist of segments does not exceed limits, before it is assembled.
    ///
    /// Only what is certainly written is counted, so that a playlist within the limits is never refused.
    ///
    /// - Parameters:
    ///   - numbers: The numbers of the segments.
    ///   - limits: The maximum sizes of the playlist.
    /// - Throws: ``PlaylistEditError/tooLarge(_:)`` if the playlist would exceed a limit.
    /// - Complexity: O(*n*) in the bytes of the source, however often its segments are repeated.
    func verifySize(of numbers: Range<Int64>, limits: PlaylistLimits) throws(PlaylistEditError) {
        let count = Int64(entries.count)
        let length = numbers.upperBound -| numbers.lowerBound
        let (cycles, rest) = length.quotientAndRemainder(dividingBy: count)
        // Bounded: a channel has segments.
        let first = numbers.lowerBound % count
        // No discontinuity precedes the first segment of the channel.
        var entryCount: Int64 = numbers.lowerBound == 0 ? -1 : 0
        var byteCount: Int64 = 0
        for index in entries.indices {
            // Bounded: a channel has segments.
            let distance = (Int64(index) -| first +| count) % count
            let repetitions: Int64 = distance < rest ? cycles +| 1 : cycles
            guard repetitions > 0 else { continue }
            let size = minimumSize(at: index)
            entryCount +|= size.entries *| repetitions
            byteCount +|= size.bytes *| repetitions
        }
        guard entryCount <= Int64(limits.entryCount) else { throw .tooLarge(.entryCount(limits.entryCount)) }
        guard byteCount <= Int64(limits.byteCount) else { throw .tooLarge(.byteCount(limits.byteCount)) }
    }

    /// Returns the number of entries and bytes that a segment of a cycle adds to the playlist at least, with the tags
    /// at the start of its period.
    private func minimumSize(at index: Int) -> (entries: Int64, bytes: Int64) {
        let position = entries[index].position
        // The segment itself.
        var entryCount: Int64 = 1
        var byteCount: Int64 = 0
        if isFirstOfPeriod(index) {
            // The discontinuity and the date.
            entryCount +|= 2
            let map = playlist.mapLine(for: position)
            if let map, !map.isOwn {
                entryCount +|= 1
                byteCount +|= Int64(map.line.count)
            }
            if !(map?.isOwn ?? false) { entryCount +|= Int64(playlist.keyLines(for: position).count) }
        }
        let hasDate = playlist.segments[position].programDateTime != nil
        // The lines before the first tag of a segment can be those of the header.
        let lines = playlist.lines(ofSegment: position)
            .drop { !$0.isURI && $0.tag?.scope != .segment && $0.tag?.scope != .metadata }
        for line in lines {
            switch line.tag {
            case nil, .segmentInformation: byteCount +|= Int64(line.range.count)
            case .map:
                entryCount +|= 1
                byteCount +|= Int64(line.range.count)
            case .dateRange where hasDate && line.value != nil: entryCount +|= 1
            case _: break
            }
        }
        return (entryCount, byteCount)
    }

    func runs(of numbers: Range<Int64>) -> [SegmentRun] {
        var runs: [SegmentRun] = []
        var number = numbers.lowerBound
        while number < numbers.upperBound {
            let (cycles, remainder) = number.quotientAndRemainder(dividingBy: Int64(entries.count))
            let index = Int(remainder)
            let available = min(Int64(entries.count - index), numbers.upperBound -| number)
            var end = index + 1
            while Int64(end - index) < available, !isFirstOfPeriod(end) { end += 1 }
            var run = SegmentRun(
                playlist,
                entries[index].position..<(entries[end - 1].position + 1),
                isPrimary: false
            )
            run.date = channel.start.advanced(by: cycle * cycles + entries[index].start)
            run.beginsWithDiscontinuity = number > 0 && isFirstOfPeriod(index)
            runs.append(run)
            number +|= Int64(end - index)
        }
        return runs
    }
}

extension ChannelSchedule {
    /// The time for which segments remain in the playlist.
    var depth: MediaTime { window }

    /// Returns segments, grouped by period.
    ///
    /// - Parameter numbers: The numbers of the segments.
    /// - Returns: The segments of each period, in order.
    func channelRuns(of numbers: Range<Int64>) -> [ChannelWindow.Run] {
        var runs: [ChannelWindow.Run] = []
        var number = numbers.lowerBound
        while number < numbers.upperBound {
            let (cycles, remainder) = number.quotientAndRemainder(dividingBy: Int64(entries.count))
            let index = Int(remainder)
            let period = entries[index].period
            let first = entries[entries.partitioningIndex { $0.period >= period }]
            let available = min(Int64(entries.count - index), numbers.upperBound -| number)
            var end = index + 1
            while Int64(end - index) < available, !isFirstOfPeriod(end) { end += 1 }
            runs.append(
                ChannelWindow.Run(
                    number: cycles *| periodCount +| Int64(period),
                    start: cycle * cycles + first.start,
                    firstPosition: first.position,
                    positions: entries[index].position..<(entries[end - 1].position + 1)
                )
            )
            number +|= Int64(end - index)
        }
        return runs
    }

    /// Returns the time since the start of the channel at which the listed segments changed for the last time.
    ///
    /// - Parameters:
    ///   - numbers: The numbers of the listed segments, at least one.
    ///   - elapsed: The time since the start of the channel.
    /// - Returns: The time of the last change: the last segment was added, or an older segment was removed.
    func lastChange(of numbers: Range<Int64>, at elapsed: MediaTime) -> MediaTime {
        let added = segment(numbers.upperBound -| 1).publication
        guard numbers.lowerBound > 0 else { return added }
        let removed = segment(numbers.lowerBound -| 1).publication + window
        // If the playlist has the maximum number of segments, an old one is removed when a new one is added.
        return removed <= elapsed ? max(added, removed) : added
    }
}

extension MediaTime {
    /// Returns how often a positive time fits into this one, which is not negative.
    func quotient(dividingBy divisor: MediaTime) -> Int64 {
        // Bounded: the factors are `Int64`, and the divisor is greater than zero.
        let quotient = Int128(value) * Int128(divisor.timescale) / (Int128(divisor.value) * Int128(timescale))
        return Int64(clamping: quotient)
    }
}
