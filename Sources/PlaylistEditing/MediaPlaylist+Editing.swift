public import HLSPlaylist
public import MediaTiming
import ResourceAddressing

extension MediaPlaylist {
    /// Returns the playlist shortened to whole segments with a total duration of at most `limit`.
    ///
    /// The playlist ends before the first segment that exceeds the limit, even if a shorter segment after it would fit.
    /// If segments are removed, `EXT-X-ENDLIST` follows the last one. A live playlist has no tags of low latency, because its end
    /// is not that of the source. It remains live, as the limit applies from its first segment at each reload; one of the type
    /// `EVENT`, whose first segment remains, ends once all segments within the limit are published.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if the first segment alone exceeds the limit.
    public func limited(
        to limit: MediaTime,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        let kept = segmentCount(within: limit)
        guard kept > 0 else { throw nothingLeft("duration \(limit)") }
        return try keepingWindow(0..<kept, endingAt: limit, limits)
    }

    /// Returns the number of segments at the start with a total duration of at most `limit`.
    func segmentCount(within limit: MediaTime) -> Int {
        let all = segments
        var count = 0
        while count < all.count, all.timeRange(at: count).end <= limit { count += 1 }
        return count
    }

    /// Returns the playlist from the segment that contains `time`, with adjusted media and discontinuity sequence
    /// numbers.
    ///
    /// - Throws: ``PlaylistEditError/timeOutside(edit:time:duration:)`` if no segment contains the time.
    public func dropped(
        before time: MediaTime,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard let first = segments.position(at: time) else { throw outside("start", time) }
        return try keepingSegments(first..<segments.count, limits)
    }

    /// Returns the playlist with only the segments that overlap a time range, followed by `EXT-X-ENDLIST` if later
    /// segments are removed.
    ///
    /// The segments are whole, so the result can begin before the range and end after it. A range without a duration
    /// selects the segment that contains its time. The media and discontinuity sequence numbers are adjusted, and the
    /// first segment has its key, initialization section and date.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no segment overlaps the range.
    public func trimmed(
        to range: PartialRange<MediaTime>,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        let positions = positions(overlapping: range)
        guard !positions.isEmpty else {
            throw .nothingLeft(
                filter: "range \(range.low.map(\.description) ?? "")...\(range.high.map(\.description) ?? "")",
                available: ["\(ClockText.seconds(duration)) in total"]
            )
        }
        return try keepingSegments(positions, limits)
    }

    /// Returns the playlist with only the segments of a range that has an end, for each version of a live playlist.
    ///
    /// - Parameters:
    ///   - positions: The segments that are within the range so far.
    ///   - end: The end of the range; unbounded for all later segments.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist.
    /// - Throws: ``PlaylistEditError``.
    private func keepingWindow(
        _ positions: Range<Int>,
        endingAt end: MediaTime,
        _ limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard isLive, end < MediaTimeRange.unbounded.end, skippedSegmentCount == 0, !segments.isEmpty else {
            return try keepingSegments(positions, limits)
        }
        // The server of the source would respond to blocking requests before a segment is in the window, and its reports, hints and
        // distances concern an end that the window does not have.
        let host = try withoutLowLatency(limits: limits)
        // Other live playlists move on with their first segment, so that segments are added to the window.
        let isEnded = playlistType == .event && end <= duration
        guard positions.count < segments.count || isEnded else { return host }
        return try MediaPlaylistAssembly.assemble(
            primary: host,
            runs: [SegmentRun(host, positions, isPrimary: true)],
            isEnded: isEnded,
            limits: limits
        )
    }

    /// Returns the playlist with only the segments at the given positions; unchanged if these are all.
    private func keepingSegments(
        _ positions: Range<Int>,
        _ limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard positions.count < segments.count else { return self }
        return try MediaPlaylistAssembly.assemble(
            primary: self,
            runs: [SegmentRun(self, positions, isPrimary: true)],
            limits: limits
        )
    }

    /// Returns the positions of the segments that overlap a time range.
    ///
    /// A range without a duration selects the segment that contains its time.
    public func positions(overlapping range: PartialRange<MediaTime>) -> Range<Int> {
        let all = segments
        let first = range.low.map { max($0, .zero) }.map { all.position(at: $0) ?? all.count } ?? 0
        guard first < all.count else { return all.count..<all.count }
        guard let high = range.high, high < duration else { return first..<all.count }
        guard high >= .zero, let last = all.position(at: high) else { return first..<first }
        // A segment that begins at the end of the range has nothing of it.
        let isAfter = all.timeRange(at: last).start >= high && last > first
        return first..<max(first, isAfter ? last : last + 1)
    }

    /// Returns the playlist followed by another one, with a discontinuity between them.
    ///
    /// The result has the larger target duration and version of the two. Relative URIs of the other playlist are
    /// unchanged if both playlists are in the same directory and the other playlist has no variables; otherwise they
    /// become absolute.
    public func appending(
        _ other: MediaPlaylist,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        try stitched(other, at: segments.count, limits)
    }

    /// Returns the playlist preceded by another one, with a discontinuity between them.
    public func prepending(
        _ other: MediaPlaylist,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        try stitched(other, at: 0, limits)
    }

    /// Returns the playlist with another one inserted at the segment boundary nearest to `time`.
    ///
    /// A discontinuity marks both transitions.
    ///
    /// - Throws: ``PlaylistEditError/timeOutside(edit:time:duration:)`` if the time is after the end of the playlist.
    public func inserting(
        _ other: MediaPlaylist,
        at time: MediaTime,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard time >= .zero, time <= duration else { throw outside("insert", time) }
        guard segments.position(at: time) != nil else { return try appending(other, limits: limits) }
        return try stitched(other, at: boundary(near: time), limits)
    }

    /// Returns the playlist without the segments that are entirely inside a range, with a discontinuity at the cut.
    ///
    /// - Throws: ``PlaylistEditError`` if no segment or all segments are inside the range.
    public func dropping(
        _ range: MediaTimeRange,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard let inside = positions(inside: range) else {
            throw .nothingLeft(filter: "drop-range \(range.editText)", available: ["no entire segment in the range"])
        }
        return try removing(Range(inside), of: range, edit: "drop-range \(range.editText)", limits)
    }

    /// Returns the playlist with the segments between the boundaries that are nearest to the ends of a range.
    ///
    /// At least one segment remains: the one that contains the start of the range, or the last one.
    ///
    /// - Parameters:
    ///   - range: The range; its end may exceed that of the playlist.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The shortened playlist, followed by `EXT-X-ENDLIST` if later segments are removed; a live playlist remains live as
    ///   with ``limited(to:limits:)``.
    /// - Throws: ``PlaylistEditError``.
    public func trimmed(
        toBoundariesNear range: MediaTimeRange,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        let positions = positions(trimmedToBoundariesNear: range)
        return try keepingWindow(positions, endingAt: range.end, limits)
    }

    /// Returns the playlist without the segments between the boundaries that are nearest to the ends of a range, with a
    /// discontinuity at the cut.
    ///
    /// The playlist is unchanged if one boundary is nearest to both ends.
    ///
    /// - Parameters:
    ///   - range: The range; its end may exceed that of the playlist.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist without the segments.
    /// - Throws: ``PlaylistEditError`` if no segment would remain.
    public func cutting(
        betweenBoundariesNear range: MediaTimeRange,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        let positions = positions(betweenBoundariesNear: range)
        return positions.isEmpty ? self : try removing(positions, of: range, edit: "cut \(range.editText)", limits)
    }

    /// Returns the playlist without the segments of a range, which are at the given positions.
    private func removing(
        _ positions: Range<Int>,
        of range: MediaTimeRange,
        edit: String,
        _ limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard positions.count < segments.count else { throw nothingLeft(edit) }
        try verifyTimesRemain()
        let host = try withoutDirectives(limits: limits)
        return try MediaPlaylistAssembly.assemble(
            primary: host,
            runs: [
                SegmentRun(host, 0..<positions.lowerBound, isPrimary: true),
                SegmentRun(host, positions.upperBound..<segments.count, isPrimary: true),
            ],
            isEnded: isEnded(afterRemoving: [range]),
            limits: limits
        )
    }

    /// Returns a Boolean value that indicates whether a live playlist ends when ranges are removed from it.
    ///
    /// The playlist ends if a range has no end. Otherwise, segments after the ranges can be published later.
    ///
    /// - Parameter ranges: The ranges.
    /// - Returns: The value; `nil` for a complete playlist, which ends with its segments.
    func isEnded(afterRemoving ranges: [MediaTimeRange]) -> Bool? {
        isLive ? ranges.contains { $0.end >= MediaTimeRange.unbounded.end } : nil
    }

    /// Returns the playlist for an edit that changes the numbers of later segments.
    ///
    /// The tags of low latency are removed from a live playlist. Otherwise, the server of the source would take the
    /// changed numbers in requests of players for its own numbers (RFC 8216bis §6.2.5).
    func withoutDirectives(limits: PlaylistLimits) throws(PlaylistEditError) -> MediaPlaylist {
        isLive ? try withoutLowLatency(limits: limits) : self
    }

    /// Returns the positions between the boundaries nearest to the ends of a range; at least one, if there are segments.
    func positions(trimmedToBoundariesNear range: MediaTimeRange) -> Range<Int> {
        let positions = positions(betweenBoundariesNear: range)
        guard positions.isEmpty, !segments.isEmpty else { return positions }
        let first = segments.position(at: range.start) ?? segments.count - 1
        return first..<(first + 1)
    }

    /// Returns the positions between the boundaries nearest to the ends of a range.
    func positions(betweenBoundariesNear range: MediaTimeRange) -> Range<Int> {
        let first = boundary(near: range.start)
        return first..<max(first, boundary(near: range.end))
    }

    /// Returns the position of the segment whose start is nearest to a time; the number of segments for their end.
    func boundary(near time: MediaTime) -> Int {
        guard time > .zero else { return 0 }
        guard let position = segments.position(at: time) else { return segments.count }
        let range = segments.timeRange(at: position)
        return time - range.start <= range.end - time ? position : position + 1
    }

    /// Returns the positions of the segments that are entirely inside a range, or `nil` if there is none.
    func positions(inside range: MediaTimeRange) -> ClosedRange<Int>? {
        let all = segments
        let inside = all.indices.filter {
            all.timeRange(at: $0).start >= range.start && all.timeRange(at: $0).end <= range.end
        }
        guard let first = inside.first, let last = inside.last else { return nil }
        return first...last
    }

    /// Returns the playlist repeated, with a discontinuity at each transition.
    ///
    /// - Parameters:
    ///   - count: How often the segments appear in the result, at least 1.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The repeated playlist.
    /// - Throws: ``PlaylistEditError/cannotStitch(reason:)`` for a live playlist and one without segments,
    ///   ``PlaylistEditError/tooLarge(_:)`` if the result exceeds a limit.
    public func repeated(
        _ count: Int,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard count > 1 else { return self }
        guard !isLive else { throw .cannotStitch(reason: "a live playlist cannot be repeated") }
        // Bounded: the divisor is greater than 1.
        guard segments.count <= limits.entryCount / count else { throw .tooLarge(.entryCount(limits.entryCount)) }
        let all = 0..<segments.count
        let copies = Array(repeating: SegmentRun(self, all, isPrimary: false), count: count - 1)
        return try MediaPlaylistAssembly.assemble(
            primary: self,
            runs: [SegmentRun(self, all, isPrimary: true)] + copies,
            limits: limits
        )
    }

    /// Returns the playlist with another playlist inserted before a segment or at the end.
    private func stitched(
        _ other: MediaPlaylist,
        at position: Int,
        _ limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        try stitched(other, at: SeamInsertion(position: position), limits)
    }

    /// Returns the playlist with another playlist inserted at a place.
    func stitched(
        _ other: MediaPlaylist,
        at place: SeamInsertion,
        _ limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        let position = place.position
        guard !other.segments.isEmpty else { throw .cannotStitch(reason: "the other playlist has no segments") }
        guard isIFramesOnly == other.isIFramesOnly else {
            throw .cannotStitch(reason: "one playlist contains I-frames only and the other does not")
        }
        guard position < segments.count || !isLive else {
            throw .cannotStitch(reason: "nothing can be appended to a live playlist")
        }
        try verifyTimesRemain()
        // Relative URIs remain relative if the URL of the playlist is not known.
        var sharesFolder = false
        if let address = context.address, let otherAddress = other.context.address {
            sharesFolder = address.isInSameFolder(as: otherAddress)
        }
        // The tags that apply to the parts of the other playlist as a whole are not those of the result.
        let whole = try other.withoutLowLatency(limits: limits)
        let resolved =
            sharesFolder && other.variables.isEmpty ? whole : try whole.withoutReferences(limits: limits)
        let guest = try resolved.distinguishingDateRanges(from: self, limits: limits)
        let host = try withoutDirectives(limits: limits)
        var inserted = SegmentRun(guest, 0..<guest.segments.count, isPrimary: false)
        inserted.discontinuities = place.before
        var rest = SegmentRun(host, position..<segments.count, isPrimary: true)
        rest.discontinuities = place.after
        return try MediaPlaylistAssembly.assemble(
            primary: host,
            runs: [SegmentRun(host, 0..<position, isPrimary: true), inserted, rest],
            limits: limits
        )
    }

    /// A Boolean value that indicates whether segments remain at their times when the playlist is loaded again.
    var timesRemain: Bool { !isLive || playlistType == .event }

    /// Throws an error if the times in the playlist change when it is loaded again, because old segments are removed: an edit at a
    /// time would then concern other segments, whose numbers would change (RFC 8216bis §6.2.2).
    func verifyTimesRemain() throws(PlaylistEditError) {
        guard !timesRemain else { return }
        throw .cannotStitch(
            reason:
                "a live playlist without EXT-X-PLAYLIST-TYPE has no fixed times; replace-breaks and interstitials edit it by rule"
        )
    }

    private func nothingLeft(_ filter: String) -> PlaylistEditError {
        let longest = segments.first.map { "a first segment of \(ClockText.seconds($0.duration))" } ?? "no segment"
        return .nothingLeft(filter: filter, available: [longest, "\(ClockText.seconds(duration)) in total"])
    }

    func outside(_ edit: String, _ time: MediaTime) -> PlaylistEditError {
        .timeOutside(edit: edit, time: time.description, duration: ClockText.number(duration))
    }
}
