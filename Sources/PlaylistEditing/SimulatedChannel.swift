public import HLSPlaylist
public import MediaTiming

/// A live channel that is simulated with the segments of a complete presentation.
///
/// The playlist of a channel depends only on the presentation and the date, so all clients, all servers and a restarted
/// server agree on it. Each segment appears when a real channel would have finished it, has the date at which it is
/// broadcast, and disappears at the end of the window.
public struct SimulatedChannel: Sendable, Hashable {
    /// A Boolean value that indicates whether the presentation starts again at its end; otherwise the channel ends with
    /// it.
    public var repeats: Bool
    /// The date of the first segment.
    public var start: ProgramDateTime
    /// The duration for which finished segments remain in the playlist, from 1 second to 1 day.
    public var window: MediaTime
    /// The durations of the periods between discontinuities, which are the same for all tracks of a presentation; `nil` for
    /// those of the edited playlist.
    var periods: [MediaTime]?
    /// The target duration of the video in seconds, which all tracks of a live presentation have (RFC 8216bis §6.2.4); `nil`
    /// for that of the edited playlist.
    var targetDuration: Int64?

    /// The permitted target durations, which are in the URLs of the tracks.
    private static let targetDurations: ClosedRange<Int64> = 1...86_400

    /// The start of channels for which none is given: 2020-01-01T00:00:00Z.
    public static let defaultStart = ProgramDateTime(sinceEpoch: MediaTime(seconds: 1_577_836_800))

    /// The window of channels for which none is given: one minute.
    public static let defaultWindow = MediaTime(seconds: 60)

    /// The permitted windows.
    static let windows = MediaTime(seconds: 1)...MediaTime(seconds: 86_400)

    /// The maximum number of periods, whose durations are in the URLs of the tracks.
    static let maximumPeriodCount = 200

    /// Creates a channel.
    ///
    /// - Parameters:
    ///   - repeats: Whether the presentation starts again at its end.
    ///   - start: The date of the first segment.
    ///   - window: The duration for which segments remain in the playlist; values outside of 1 second to 1 day are
    ///     replaced with the nearest permitted value.
    public init(
        repeats: Bool = true,
        start: ProgramDateTime = defaultStart,
        window: MediaTime = defaultWindow
    ) {
        self.repeats = repeats
        self.start = start
        self.window = min(max(window, Self.windows.lowerBound), Self.windows.upperBound)
    }
}

extension SimulatedChannel: LosslessStringConvertible {
    /// The form of the channel in URLs and on the command line, such as `loop,window=60`.
    public var description: String {
        var parts = [repeats ? "loop" : "once"]
        if !repeats || start != Self.defaultStart { parts.append("start=\(start)") }
        if window != Self.defaultWindow { parts.append("window=\(window)") }
        if let periods { parts.append("periods=" + periods.map(\.description).joined(separator: "+")) }
        if let targetDuration { parts.append("target=\(targetDuration)") }
        return parts.joined(separator: ",")
    }

    /// Creates a channel from text of the form `loop[,start=DATE][,window=SECONDS]` or `once,start=DATE[,window=SECONDS]`.
    ///
    /// - Returns: `nil` for any other text.
    public init?(_ text: String) {
        guard text.utf8.count <= 8_192 else { return nil }
        var parts = text.split(separator: ",", omittingEmptySubsequences: false)[...]
        switch parts.popFirst() {
        case "loop": repeats = true
        case "once": repeats = false
        default: return nil
        }
        var start: ProgramDateTime?
        var window: MediaTime?
        for part in parts {
            let field = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard field.count == 2 else { return nil }
            switch field[0] {
            case "start" where start == nil:
                guard let date = ProgramDateTime(field[1]), Self.isPlausible(date) else { return nil }
                start = date
            case "window" where window == nil:
                guard let time = MediaTime(decimal: field[1]), Self.windows.contains(time) else { return nil }
                window = time
            case "periods" where periods == nil:
                let durations = field[1].split(separator: "+", omittingEmptySubsequences: false)
                guard durations.count <= Self.maximumPeriodCount else { return nil }
                let times = durations.compactMap { MediaTime(decimal: $0) }
                guard times.count == durations.count, times.allSatisfy({ $0 > .zero }) else { return nil }
                periods = times
            case "target" where targetDuration == nil:
                guard let seconds = Int64(field[1]), Self.targetDurations.contains(seconds) else { return nil }
                targetDuration = seconds
            default: return nil
            }
        }
        guard repeats || start != nil else { return nil }
        self.start = start ?? Self.defaultStart
        self.window = window ?? Self.defaultWindow
    }

    /// Returns a Boolean value that indicates whether a date is from the years 1970 to 2999.
    private static func isPlausible(_ date: ProgramDateTime) -> Bool {
        date.sinceEpoch >= .zero && date.sinceEpoch < MediaTime(seconds: 32_503_680_000)
    }
}

extension MediaPlaylist {
    /// Returns the playlist that a live channel with the segments of this playlist has at a date.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - date: The date.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist, with increasing sequence numbers and the dates of its segments; with `EXT-X-ENDLIST` once a
    ///   channel that does not repeat has ended.
    /// - Throws: ``PlaylistEditError/notStarted(start:)`` before the first segment is finished,
    ///   ``PlaylistEditError/cannotStitch(reason:)`` for a live playlist and one without segments.
    public func simulated(
        _ channel: SimulatedChannel,
        at date: ProgramDateTime,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard hasEndMarker || !isLive else {
            throw .cannotStitch(reason: "a channel is simulated from a complete playlist, and this one is live")
        }
        let schedule = try ChannelSchedule(self, channel)
        let elapsed = date.sinceEpoch - channel.start.sinceEpoch
        guard let published = schedule.published(at: elapsed, limits.entryCount) else {
            throw .notStarted(start: channel.start)
        }
        return try MediaPlaylistAssembly.assemble(
            primary: self,
            runs: schedule.runs(of: published.range),
            numbering: MediaPlaylistAssembly.Numbering(
                mediaSequence: published.range.lowerBound,
                discontinuitySequence: schedule.discontinuitySequence(at: published.range.lowerBound),
                isEnded: published.isEnded,
                targetDuration: channel.targetDuration ?? 0
            ),
            limits: limits
        )
    }

    /// The ranges of segments between discontinuities.
    var periodRanges: [Range<Int>] {
        var starts = segments.indices.filter { $0 == 0 || segments[$0].hasDiscontinuity }
        starts.append(segments.count)
        return zip(starts, starts.dropFirst()).map { $0..<$1 }
    }

    /// The durations of the periods between discontinuities.
    var periodDurations: [MediaTime] {
        periodRanges.map { segments.timeRange(at: $0.upperBound - 1).end - segments.timeRange(at: $0.lowerBound).start }
    }
}

/// The times at which a simulated channel publishes the segments of one track.
///
/// All segments that the channel has ever published are numbered from zero.
private struct ChannelSchedule {
    /// A segment of one cycle.
    private struct Entry {
        let position: Int
        let period: Int
        /// The time of its start and its publication, from the start of the cycle.
        let start: MediaTime
        let publication: MediaTime
    }

    private let playlist: MediaPlaylist
    private let channel: SimulatedChannel
    private let entries: [Entry]
    private let periodCount: Int64
    private let cycle: MediaTime
    private let window: MediaTime

    /// The maximum duration of one cycle: a year.
    private static let maximumCycle = MediaTime(seconds: 366 * 86_400)

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
        guard start > .zero, start <= Self.maximumCycle else {
            throw .cannotStitch(reason: "a channel cannot be simulated from a presentation of \(start) s")
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
        guard elapsed > .zero else { return nil }
        let end = publishedCount(at: elapsed)
        guard end > 0 else { return nil }
        let isEnded = !channel.repeats && elapsed >= cycle
        // The window of an ended channel remains.
        let last = isEnded ? cycle : elapsed
        let removed = min(publishedCount(at: last - window), end -| 1)
        return (max(removed, end -| Int64(limit))..<end, isEnded)
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

extension MediaTime {
    /// Returns how often a positive time fits into this one, which is not negative.
    fileprivate func quotient(dividingBy divisor: MediaTime) -> Int64 {
        // Bounded: the factors are `Int64`, and the divisor is greater than zero.
        let quotient = Int128(value) * Int128(divisor.timescale) / (Int128(divisor.value) * Int128(timescale))
        return Int64(clamping: quotient)
    }
}
