import HLSPlaylist
import MediaTiming

extension BreakTimeline {
    /// Returns a playlist with the advertisements in place of its breaks.
    ///
    /// - Parameters:
    ///   - playlist: A playlist over which the timeline was advanced, or an earlier version of one.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist.
    /// - Throws: ``PlaylistEditError`` if segments cannot follow each other, or if the result exceeds a limit.
    func playlist(from playlist: MediaPlaylist, limits: PlaylistLimits) throws(PlaylistEditError) -> MediaPlaylist {
        var layout = BreakLayout(playlist)
        layout.shift = shift
        layout.discontinuityShift = discontinuityShift
        var parsed: [Int: Advertisement] = [:]
        for item in breaks {
            guard item.start < layout.sourceEnd else { break }
            let advertisement: Advertisement
            if let known = parsed[item.advertisement] {
                advertisement = known
            } else {
                advertisement = try Advertisement(advertisements[item.advertisement])
                parsed[item.advertisement] = advertisement
            }
            layout.append(item, advertisement)
        }
        layout.appendSource(upTo: layout.sourceEnd)
        guard let start = layout.start else {
            throw .cannotStitch(reason: "the playlist has no segment before the break")
        }
        return try MediaPlaylistAssembly.assemble(
            primary: playlist,
            runs: layout.runs,
            numbering: MediaPlaylistAssembly.Numbering(
                mediaSequence: start.mediaSequence,
                discontinuitySequence: start.discontinuitySequence,
                isEnded: playlist.hasEndMarker,
                isHostLive: true,
                movesStart: !playlist.isLive,
                targetDuration: targetDuration,
                version: version
            ),
            limits: limits
        )
    }
}

/// The segments of a playlist and of the advertisements in its breaks, in order.
private struct BreakLayout {
    /// The numbers of the first segment.
    struct Start {
        let mediaSequence: Int64
        /// The discontinuity sequence number without the tag of the segment itself.
        let discontinuitySequence: Int64
    }

    private let source: MediaPlaylist
    private let sourceStart: Int64
    let sourceEnd: Int64
    /// The sequence number of the next segment of the source.
    private var next: Int64
    /// The differences between the numbers of the next segment of the source in the edited playlist and in the source.
    var shift: Int64 = 0
    var discontinuityShift: Int64 = 0
    /// A Boolean value that indicates whether the next segment of the source follows a break.
    private var followsBreak = false
    private(set) var runs: [SegmentRun] = []
    private(set) var start: Start?

    init(_ source: MediaPlaylist) {
        self.source = source
        sourceStart = source.mediaSequence
        sourceEnd = sourceStart.addingSaturated(Int64(source.segments.count))
        next = sourceStart
    }

    /// Adds the segments of the source before a break, and those of the advertisement that are in the playlist.
    mutating func append(_ item: BreakTimeline.Break, _ advertisement: Advertisement) {
        appendSource(upTo: item.start)
        let isVisible = item.sourceEnd > sourceStart || item.start >= sourceStart
        if isVisible {
            let first = item.start < sourceStart ? advertisement.count(endingBy: item.elapsed(at: sourceStart)) : 0
            let count = count(of: item, advertisement)
            // An ongoing break never leaves the playlist empty.
            let isAlone = runs.isEmpty && item.sourceEnd >= sourceEnd
            append(advertisement, (isAlone ? min(first, max(0, count - 1)) : min(first, count))..<count, of: item)
        }
        if let end = item.end {
            shift +|= Int64(end.count) -| Int64(item.replaced.count)
            discontinuityShift = end.discontinuityShift
        }
        followsBreak = item.sourceEnd >= sourceStart
        next = max(next, min(item.sourceEnd, sourceEnd))
    }

    /// Returns the number of segments of the advertisement that are published.
    private func count(of item: BreakTimeline.Break, _ advertisement: Advertisement) -> Int {
        if let end = item.end, item.sourceEnd <= sourceEnd { return min(end.count, advertisement.count) }
        // Later segments are published together with later segments of the source.
        let count = advertisement.count(playableIn: item.playedTime(replacing: item.elapsed(at: sourceEnd)))
        return min(count, item.end?.count ?? count)
    }

    mutating func appendSource(upTo sequence: Int64) {
        guard sequence > next else { return }
        // Bounded: both numbers are those of segments in the playlist.
        let positions = Int(next - sourceStart)..<Int(sequence - sourceStart)
        var run = SegmentRun(source, positions, isPrimary: true)
        let segment = source.segments[positions.lowerBound]
        if followsBreak {
            run.beginsWithDiscontinuity = true
        } else if runs.isEmpty {
            run.beginsWithDiscontinuity = segment.hasDiscontinuity
        }
        let hasTag = followsBreak || segment.hasDiscontinuity
        setStart(next +| shift, segment.discontinuitySequence +| discontinuityShift -| (hasTag ? 1 : 0))
        runs.append(run)
        next = sequence
    }

    private mutating func append(
        _ advertisement: Advertisement,
        _ positions: Range<Int>,
        of item: BreakTimeline.Break
    ) {
        guard let first = positions.first else { return }
        let segments = advertisement.playlist.segments
        let hasTag = first == 0 ? item.hasDiscontinuity : segments[first].hasDiscontinuity
        let number = item.discontinuity +| advertisement.discontinuityCount(before: first + 1)
        setStart(item.start +| shift +| Int64(first), number -| (hasTag ? 1 : 0))
        // Dates must not overlap (RFC 8216bis §6.2.1), so what is played longer than what it replaces has none.
        let isDated = item.playedTime(replacing: item.elapsed) <= item.elapsed +| Advertisement.maximumOverlap
        // The dates of the advertisement are those of the program that it replaces, also after a discontinuity.
        var starts = positions.filter { $0 == first || segments[$0].hasDiscontinuity }
        starts.append(positions.upperBound)
        for (lower, upper) in zip(starts, starts.dropFirst()) {
            var run = SegmentRun(advertisement.playlist, lower..<upper, isPrimary: false)
            run.date = (isDated ? item.date : nil).map { date in
                ProgramDateTime(
                    sinceEpoch: MediaTime(value: date +| advertisement.start(of: lower), timescale: 1_000_000)
                )
            }
            run.beginsWithDiscontinuity = lower == 0 ? item.hasDiscontinuity : segments[lower].hasDiscontinuity
            runs.append(run)
        }
    }

    private mutating func setStart(_ mediaSequence: Int64, _ discontinuitySequence: Int64) {
        guard start == nil else { return }
        start = Start(mediaSequence: max(0, mediaSequence), discontinuitySequence: max(0, discontinuitySequence))
    }
}

extension MediaPlaylist {
    /// Returns the playlist with another one in place of its breaks.
    ///
    /// - Parameters:
    ///   - rule: The rule that determines where the breaks are.
    ///   - advertisement: The playlist that is played in breaks; `nil` to play the source in breaks that are not replaced yet.
    ///   - timeline: The breaks of the playlist so far.
    ///   - sibling: The breaks of another track of the same presentation.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist, without the tags that announced the breaks and without those of low-latency playlists.
    /// - Throws: ``PlaylistEditError`` if the playlist is a delta update or has no dates that the rule requires, or if the other
    ///   playlist cannot be played in it.
    func replacingBreaks(
        _ rule: BreakRule,
        with advertisement: MediaPlaylist?,
        _ timeline: inout BreakTimeline,
        following sibling: BreakTimeline? = nil,
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard skippedSegmentCount == 0 else {
            throw .cannotStitch(reason: "the playlist is a delta update; load the full playlist")
        }
        guard !segments.isEmpty else { return self }
        let source = try addingBreaks(of: rule, with: advertisement, to: &timeline, following: sibling, limits: limits)
        return try timeline.playlist(from: source, limits: limits)
    }

    /// Returns the times of a complete playlist that another one replaces in its breaks; ranges without a duration where nothing is
    /// replaced.
    func replacedRanges(
        _ rule: BreakRule,
        with advertisement: MediaPlaylist
    ) throws(PlaylistEditError) -> [MediaTimeRange] {
        guard !segments.isEmpty else { return [] }
        var timeline = BreakTimeline()
        _ = try addingBreaks(of: rule, with: advertisement, to: &timeline, limits: PlaylistLimits())
        return timeline.breaks.map { item in
            // Bounded: the breaks of a complete playlist are at its segments.
            let first = Int(item.start - mediaSequence)
            let start = segments.timeRange(at: first).start
            let replaced = first..<(first + item.replaced.count)
            return replaced.isEmpty ? MediaTimeRange(start: start, end: start) : timeRange(of: replaced)
        }
    }

    /// Adds the breaks of the playlist to a timeline, and returns the playlist without their tags.
    private func addingBreaks(
        of rule: BreakRule,
        with advertisement: MediaPlaylist?,
        to timeline: inout BreakTimeline,
        following sibling: BreakTimeline? = nil,
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        var cues = try BreakCues(rule, in: self)
        if let sibling { timeline.follow(sibling, in: self, &cues) }
        let source = try withoutBreakTags(rule, edit: "replace-breaks", limits: limits)
        var isInserted = false
        if case .every = rule { isInserted = !isLive && timeline.next == nil }
        var inserted: Advertisement?
        if let advertisement {
            try verify(advertisement)
            inserted = try Advertisement(advertisement, limits: limits)
        }
        try timeline.advance(over: source, cues, inserted, isInserted: isInserted)
        return source
    }

    /// Throws an error if another playlist cannot be played in breaks of this one, before the first break instead of in it.
    private func verify(_ advertisement: MediaPlaylist) throws(PlaylistEditError) {
        guard isIFramesOnly == advertisement.isIFramesOnly else {
            throw .cannotStitch(reason: "one playlist contains I-frames only and the other does not")
        }
        guard segments.first?.map == nil || advertisement.segments.allSatisfy({ $0.map != nil }) else {
            throw .mapCannotEnd(at: advertisement.context.address, after: context.address)
        }
    }
}
