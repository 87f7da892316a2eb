import HLSPlaylist
import MediaTiming

/// The breaks of a live playlist that were replaced, from which the numbers of the segments in the edited playlist follow.
///
/// A live playlist contains only its latest segments, but their sequence numbers in the edited playlist depend on all earlier breaks.
/// A timeline stores the breaks that the playlist no longer contains, so that the number of a segment does not change, and the numbers
/// do not decrease (RFC 8216bis §6.2.2). The result depends only on the timeline and the playlist, so it is the same on every server.
struct BreakTimeline: Sendable, Hashable, Codable {
    /// The sequence number of the first segment in the source that was not seen yet; `nil` before the first playlist.
    private(set) var next: Int64?
    /// The difference between the media sequence numbers in the edited playlist and in the source before the first break.
    private(set) var shift: Int64 = 0
    /// The difference between the discontinuity sequence numbers in the edited playlist and in the source before the first break.
    private(set) var discontinuityShift: Int64 = 0
    /// The breaks, in order.
    private(set) var breaks: [Break] = []
    /// The advertisements in the breaks.
    private(set) var advertisements = StoredAdvertisements()
    /// The identifiers of the cues in the playlist that were handled, in order.
    private(set) var handled: [String] = []
    /// The largest target duration of the source and the advertisements so far, in seconds.
    ///
    /// The target duration of a playlist must not change (§4.4.3.1).
    private(set) var targetDuration: Int64 = 0
    /// The highest version so far.
    private(set) var version = 1
    /// The last segment that was seen; `nil` before the first playlist.
    private var last: Last?
    /// The date of the first segment after the last restart of the source, in microseconds since 1970; `nil` without a restart.
    private var restart: Int64?

    /// The numbers and the date of the last segment that was seen.
    private struct Last: Sendable, Hashable, Codable {
        /// The discontinuity sequence number in the source.
        let discontinuity: Int64
        /// The date in microseconds since 1970, or `nil` if the source has no dates.
        let date: Int64?
    }

    /// The maximum number of breaks; each break is compared with other breaks.
    private static let maximumBreakCount = 1_000
    /// The maximum number of cues whose identifiers are stored.
    private static let maximumHandledCount = 4_096
    /// The number of segments before the playlist for which breaks are stored, because other servers may have an earlier version
    /// of it.
    private static let storedSegmentCount: Int64 = 200

    /// A Boolean value that indicates whether the parts of a stored timeline fit together.
    var isConsistent: Bool {
        breaks.allSatisfy { item in
            advertisements.indices.contains(item.advertisement) && item.isConsistent
        } && breaks.dropLast().allSatisfy { $0.end != nil }
    }

    /// The approximate size in memory, in bytes.
    var size: Int {
        let texts = advertisements.byteCount +| handled.reduce(0) { $0 +| $1.utf8.count +| 32 }
        return breaks.reduce(texts +| 512) { $0 +| $1.size }
    }

    /// Continues the timeline with the segments of a playlist that it does not contain yet.
    ///
    /// - Parameters:
    ///   - playlist: The source, without the tags of the breaks.
    ///   - cues: The breaks that the source announces.
    ///   - advertisement: The playlist that is played in new breaks; `nil` to play the source.
    ///   - isInserted: Whether the advertisement is inserted where a break starts, and nothing is replaced.
    /// - Throws: ``PlaylistEditError/tooLarge(_:)`` if the advertisement is too large to be stored.
    mutating func advance(
        over playlist: MediaPlaylist,
        _ cues: BreakCues,
        _ advertisement: Advertisement?,
        isInserted: Bool
    ) throws(PlaylistEditError) {
        let first = playlist.mediaSequence
        let segments = playlist.segments
        targetDuration = max(
            targetDuration,
            playlist.targetDuration?.roundedUpSeconds ?? 0,
            advertisement?.playlist.targetDuration?.roundedUpSeconds ?? 0
        )
        version = max(version, playlist.version, advertisement?.playlist.version ?? 1)
        // The dates of a source that continues may be corrected, but its numbers do not jump.
        if let restart, let next, first > next, let date = Self.lastDate(of: playlist), date < restart {
            throw .cannotStitch(reason: "the playlist is from before the restart of its source")
        }
        // An earlier version of the playlist contains no new segments.
        if let next, first +| Int64(segments.count) <= next {
            guard hasRestarted(playlist, next) else { return }
            try beginAgain(with: playlist, next)
        }
        let source = Source(
            playlist: playlist,
            clock: SegmentClock(playlist),
            advertisement: advertisement,
            isInserted: isInserted,
            isFirst: next == nil
        )
        try addMissing(upTo: first, playlist)
        updateTargets(cues)
        let position = Int(clamping: max(0, (next ?? first) -| first))
        var starts = cues.starts[...]
        var known = Set(handled)
        for position in position..<segments.count {
            let isEnd = cues.ends.contains(position)
            if try continueBreak(over: segments[position], isEnd: isEnd, advertisement) {
                // A break that is announced inside another one is part of it.
                while let cue = starts.first, cue.position <= position {
                    starts.removeFirst()
                    handled += cue.ids
                }
                continue
            }
            while let cue = starts.first, cue.position <= position {
                starts.removeFirst()
                let isKnown = cue.ids.contains { known.contains($0) }
                known.formUnion(cue.ids)
                handled += cue.ids
                if !isKnown, try begin(cue, at: position, source) { break }
            }
        }
        finish(playlist, cues)
    }

    /// Records the end of a playlist over which the timeline was advanced, and removes what later playlists do not need.
    private mutating func finish(_ playlist: MediaPlaylist, _ cues: BreakCues) {
        next = playlist.mediaSequence.addingSaturated(Int64(playlist.segments.count))
        last = playlist.segments.last.map {
            Last(discontinuity: $0.discontinuitySequence, date: Self.lastDate(of: playlist))
        }
        let announced = Set(cues.starts.flatMap(\.ids))
        var kept: Set<String> = []
        handled = Array(
            handled.filter { announced.contains($0) && kept.insert($0).inserted }.suffix(Self.maximumHandledCount)
        )
        removeBreaks(endingBefore: playlist.mediaSequence -| Self.storedSegmentCount)
    }

    // MARK: Breaks

    /// A playlist over which a timeline is advanced.
    private struct Source {
        let playlist: MediaPlaylist
        let clock: SegmentClock?
        /// The playlist that is played in new breaks; `nil` to play the source.
        let advertisement: Advertisement?
        /// A Boolean value that indicates whether the advertisement is inserted where a break starts, and nothing is replaced.
        let isInserted: Bool
        /// A Boolean value that indicates whether the timeline contains no earlier segment of the playlist.
        let isFirst: Bool
    }

    /// Continues the break in progress over a segment, or ends it before the segment.
    ///
    /// - Parameters:
    ///   - segment: The next segment of the source.
    ///   - isEnd: Whether the source announces the end of the break before the segment.
    ///   - advertisement: A parsed advertisement, which is used if it is that of the break.
    /// - Returns: Whether the segment is replaced.
    /// - Throws: ``PlaylistEditError`` if the stored advertisement cannot be parsed.
    private mutating func continueBreak(
        over segment: MediaSegment,
        isEnd: Bool,
        _ advertisement: Advertisement?
    ) throws(PlaylistEditError) -> Bool {
        guard let current = breaks.last, current.end == nil else { return false }
        let duration = segment.duration.microseconds
        guard !current.isOver(before: duration), !isEnd || current.replaced.isEmpty else {
            try endBreak(before: segment, advertisement)
            return false
        }
        breaks[breaks.count - 1].replace(duration)
        return true
    }

    /// Begins the break of a cue at a segment if the advertisement can be played in it.
    ///
    /// - Parameters:
    ///   - cue: The cue, which was not handled before.
    ///   - position: The position of the segment.
    ///   - source: The source.
    /// - Returns: Whether the segment is replaced. It is not if the advertisement is inserted before it.
    /// - Throws: ``PlaylistEditError`` if the advertisement is too large to be stored, or the playlist has too many breaks.
    private mutating func begin(
        _ cue: BreakCues.Start,
        at position: Int,
        _ source: Source
    ) throws(PlaylistEditError) -> Bool {
        guard let advertisement = source.advertisement else { return false }
        let playlist = source.playlist
        let segment = playlist.segments[position]
        let duration = segment.duration.microseconds
        // A cue can be announced after its segment was played.
        let late = max(0, cue.date.flatMap { date in source.clock.map { $0.date(of: position) -| date } } ?? 0)
        let isOld = cue.position < position || position == 0
        let elapsed = max(cue.elapsed, isOld && late > duration / 2 ? late : 0)
        let available = min(cue.duration ?? advertisement.duration, advertisement.duration)
        let inserts = source.isInserted || cue.duration == 0 && !playlist.isLive
        let playable = cue.played ?? (available -| elapsed)
        guard inserts || advertisement.count(playableIn: playable) > 0 else {
            // The rest of the break of another track is not replaced.
            if let shift = cue.otherTrack?.shift { discontinuityShift = shift }
            return false
        }
        // It is unknown whether a break in progress was replaced from its start.
        guard cue.elapsed == 0 || source.isFirst else { return false }
        // Once a limit is reached, a live playlist continues without further replacements.
        guard
            !playlist.isLive
                || breaks.count < Self.maximumBreakCount && advertisements.hasRoom(for: advertisement)
        else { return false }
        try startBreak(
            cue.id,
            at: segment,
            segment.programDateTime?.sinceEpoch.microseconds,
            target: inserts ? 0 : cue.played == nil ? available -| elapsed : cue.duration ?? 0,
            played: inserts ? nil : cue.played,
            cue.otherTrack,
            advertisement,
            isComplete: source.isFirst && !playlist.isLive
        )
        if inserts {
            try endBreak(before: segment, advertisement)
        } else {
            breaks[breaks.count - 1].replace(duration)
        }
        return !inserts
    }

    // MARK: Tracks

    /// The date of the last segment that was seen, in microseconds since 1970; `nil` if the source has no dates.
    var lastDate: Int64? { last?.date }

    /// Continues the discontinuity sequence numbers of another track, before the first playlist of this track.
    ///
    /// The tracks of a presentation must have the same number for the same media (RFC 8216bis §6.2.4), even if this track was not
    /// loaded during earlier breaks.
    ///
    /// - Parameters:
    ///   - other: The timeline of the other track.
    ///   - playlist: The first playlist of this track. Unless both tracks have dates, the numbers are those of the
    ///     source.
    ///   - cues: The breaks that the playlist announces. A break that began before the playlist is added to them.
    mutating func follow(_ other: BreakTimeline, in playlist: MediaPlaylist, _ cues: inout BreakCues) {
        guard next == nil, playlist.isLive, other.lastDate != nil,
            let date = playlist.segments.first?.programDateTime?.sinceEpoch.microseconds
        else { return }
        discontinuityShift = other.discontinuityShift
        for item in other.breaks {
            guard let start = item.date else { break }
            if let end = item.end, start +| item.elapsed <= date +| Advertisement.maximumOverlap {
                discontinuityShift = end.discontinuityShift
                continue
            }
            if start < date, cues.starts.first?.position != 0 {
                let duration = item.end == nil ? max(item.target, item.elapsed) : item.elapsed
                cues.resume(
                    item.id,
                    date: start,
                    duration: duration,
                    elapsed: date -| start,
                    BreakCues.OtherTrack(discontinuity: item.discontinuity, shift: item.end?.discontinuityShift)
                )
            }
            break
        }
    }

    // MARK: Restarts

    /// Returns a Boolean value that indicates whether the media sequence numbers of a live source have restarted, as after a restart
    /// of its encoder: the dates of the playlist are later, or it has no dates and its numbers are far lower.
    private func hasRestarted(_ playlist: MediaPlaylist, _ next: Int64) -> Bool {
        let count = Int64(playlist.segments.count)
        guard playlist.isLive, count > 0, let last else { return false }
        guard let former = last.date, let date = Self.lastDate(of: playlist) else {
            return next -| (playlist.mediaSequence +| count) > max(Self.storedSegmentCount, 4 *| count)
        }
        // Several encoders of one stream may give a segment slightly different dates.
        return date -| former > targetDuration *| 1_000_000
    }

    private static func lastDate(of playlist: MediaPlaylist) -> Int64? {
        playlist.segments.last?.programDateTime?.sinceEpoch.microseconds
    }

    /// Continues the numbers of the edited playlist after a restart of the source, with a discontinuity before the first segment.
    ///
    /// - Throws: ``PlaylistEditError`` if the stored advertisement of a break in progress cannot be parsed.
    private mutating func beginAgain(with playlist: MediaPlaylist, _ next: Int64) throws(PlaylistEditError) {
        let (end, discontinuity) = try endNumbers(next)
        let difference = end -| playlist.mediaSequence
        let discontinuityDifference = discontinuity +| 1 -| playlist.segments[0].discontinuitySequence
        shift = difference
        discontinuityShift = discontinuityDifference
        restart = playlist.segments[0].programDateTime?.sinceEpoch.microseconds
        breaks = []
        advertisements = StoredAdvertisements()
        handled = []
        self.next = nil
    }

    /// Returns the media sequence number after the last segment in the edited playlist, and the discontinuity sequence number of that
    /// segment.
    private func endNumbers(_ next: Int64) throws(PlaylistEditError) -> (media: Int64, discontinuity: Int64) {
        guard let current = breaks.last, current.end == nil else {
            let shifts = shifts(at: next)
            return (next +| shifts.media, (last?.discontinuity ?? 0) +| shifts.discontinuity)
        }
        let advertisement = try Advertisement(advertisements[current.advertisement])
        let count = advertisement.count(playableIn: current.playedTime(replacing: current.elapsed))
        return (
            current.start +| shifts(at: current.start).media +| Int64(count),
            current.discontinuity +| advertisement.discontinuityCount(before: count)
        )
    }

    /// Continues a break over segments that are missing, because the playlist was not loaded for some time.
    private mutating func addMissing(
        upTo sequence: Int64,
        _ playlist: MediaPlaylist
    ) throws(PlaylistEditError) {
        guard let current = breaks.last, current.end == nil, let first = playlist.segments.first else { return }
        let count = Int64(playlist.segments.count)
        let average = max(1_000, playlist.duration.microseconds.dividedSaturated(by: count))
        while breaks[breaks.count - 1].sourceEnd < sequence {
            let current = breaks[breaks.count - 1]
            guard !current.isOver(before: average) else { return try endBreak(before: first, nil) }
            breaks[breaks.count - 1].replace(average)
        }
    }

    /// Shortens the break in progress if the source has announced an earlier end.
    private mutating func updateTargets(_ cues: BreakCues) {
        guard let current = breaks.last, current.end == nil, let duration = cues.durations[current.id] else { return }
        breaks[breaks.count - 1].target = min(current.target, duration)
    }

    private mutating func startBreak(
        _ id: String,
        at segment: MediaSegment,
        _ date: Int64?,
        target: Int64,
        played: Int64?,
        _ otherTrack: BreakCues.OtherTrack?,
        _ advertisement: Advertisement,
        isComplete: Bool
    ) throws(PlaylistEditError) {
        guard advertisement.text.utf8.count <= StoredAdvertisements.maximumTextSize else {
            throw .tooLarge(.byteCount(StoredAdvertisements.maximumTextSize))
        }
        guard breaks.count < Self.maximumBreakCount else {
            throw .cannotStitch(reason: "the playlist has more than \(Self.maximumBreakCount) breaks")
        }
        let index = advertisements.insert(advertisement)
        let number = segment.discontinuitySequence +| shifts(at: segment.sequence).discontinuity
        // The break before this one ended with a discontinuity that the source does not contain.
        let followsBreak = breaks.last.map { $0.sourceEnd == segment.sequence } ?? false
        let isStart = segment.position == 0 && isComplete
        breaks.append(
            Break(
                id: id,
                start: segment.sequence,
                date: date,
                target: target,
                played: played,
                advertisement: index,
                discontinuity: otherTrack?.discontinuity
                    ?? (followsBreak || segment.hasDiscontinuity || isStart ? number : number +| 1),
                knownShift: otherTrack?.shift,
                hasDiscontinuity: !isStart
            )
        )
    }

    /// Ends the break in progress before a segment of the source.
    ///
    /// - Parameters:
    ///   - segment: The first segment of the source after the break.
    ///   - parsed: A parsed advertisement, which is used if it is that of the break.
    /// - Throws: ``PlaylistEditError`` if the stored advertisement cannot be parsed.
    private mutating func endBreak(
        before segment: MediaSegment,
        _ parsed: Advertisement?
    ) throws(PlaylistEditError) {
        let current = breaks[breaks.count - 1]
        let text = advertisements[current.advertisement]
        let advertisement = if let parsed, parsed.text == text { parsed } else { try Advertisement(text) }
        breaks[breaks.count - 1].finish(before: segment, advertisement, isFirstPlaylist: next == nil)
    }

    /// Replaces the long identifiers that an earlier version of this program has stored.
    mutating func boundIdentifiers() {
        handled = handled.map { BreakCues.identifier($0) }
        for index in breaks.indices { breaks[index].boundIdentifier() }
    }

    /// Removes breaks that no server's version of the playlist contains.
    private mutating func removeBreaks(endingBefore sequence: Int64) {
        var removed = 0
        while breaks.count - removed > 1, let end = breaks[removed].end, breaks[removed].sourceEnd < sequence {
            shift +|= Int64(end.count) -| Int64(breaks[removed].replaced.count)
            discontinuityShift = end.discontinuityShift
            removed += 1
        }
        breaks.removeFirst(removed)
        guard let indices = advertisements.removeUnused(except: Set(breaks.map(\.advertisement))) else { return }
        for index in breaks.indices { breaks[index].advertisement = indices[breaks[index].advertisement] ?? 0 }
    }

    /// Returns the differences between the numbers of a segment in the edited playlist and in the source.
    private func shifts(at sequence: Int64) -> (media: Int64, discontinuity: Int64) {
        var media = shift
        var discontinuity = discontinuityShift
        for item in breaks {
            guard let end = item.end, item.sourceEnd <= sequence else { break }
            media +|= Int64(end.count) -| Int64(item.replaced.count)
            discontinuity = end.discontinuityShift
        }
        return (media, discontinuity)
    }
}
