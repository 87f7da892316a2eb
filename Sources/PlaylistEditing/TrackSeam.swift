import HLSPlaylist
import MediaTiming

/// A place at which the reference track of a presentation is cut, or at which another playlist is inserted into it.
///
/// The other tracks are edited at the same place, but their segments have other boundaries. Players combine the tracks
/// by discontinuity sequence numbers (RFC 8216bis §6.2.4), so each track has as many discontinuities there as the
/// reference track, even if none of its segments is removed.
public struct TrackSeam: Sendable, Hashable {
    /// The time range that is removed from the reference track, between boundaries of its segments; empty if a playlist
    /// is inserted.
    let range: MediaTimeRange
    /// The discontinuity sequence number of the last segment before the range in the unedited reference track.
    let before: Int64
    /// The discontinuity sequence number of the first segment after the range in the unedited reference track.
    let after: Int64

    /// Creates a seam.
    ///
    /// - Parameters:
    ///   - range: The times that are removed from the reference track.
    ///   - before: The discontinuity sequence number before the range.
    ///   - after: The discontinuity sequence number after the range.
    init(_ range: MediaTimeRange, before: Int64, after: Int64) {
        self.range = range
        self.before = before
        self.after = after
    }

    /// The discontinuity sequence numbers, as the last part of both text forms.
    private var numbers: String { "/\(before)/\(after)" }
    /// The form for a removed range, such as `10...20/0/1`.
    var rangeText: String { range.editText + numbers }
    /// The form for an inserted playlist, such as `10/0/1`.
    var timeText: String { "\(range.start)" + numbers }

    /// Creates a seam from the form for a removed range or for an inserted playlist.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - readRange: A closure that returns the range for the text before the numbers.
    private init?(_ text: Substring, range readRange: (String) -> MediaTimeRange?) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let range = readRange(String(parts[0])), let before = Int64(parts[1]),
            let after = Int64(parts[2]), before >= 0, before <= after
        else { return nil }
        self.init(range, before: before, after: after)
    }

    /// Creates a seam from the form for a removed range.
    init?(rangeText text: Substring) { self.init(text) { MediaTimeRange(partial: $0) } }

    /// Creates a seam from the form for an inserted playlist.
    init?(timeText text: Substring) {
        self.init(text) { part in ClockTime.parse(part).map { MediaTimeRange(start: $0, end: $0) } }
    }
}

extension MediaPlaylist {
    /// Returns the seam at which segments are removed from this track, or a playlist is inserted into it.
    ///
    /// - Parameter positions: The positions of the removed segments; an empty range for an insertion.
    /// - Returns: The seam.
    func seam(removing positions: Range<Int>) -> TrackSeam {
        let all = segments
        let time = positions.lowerBound < all.count ? all.timeRange(at: positions.lowerBound).start : duration
        let range = positions.isEmpty ? MediaTimeRange(start: time, end: time) : timeRange(of: positions)
        let before = positions.lowerBound > 0 ? all[positions.lowerBound - 1].discontinuitySequence : nil
        let after = positions.upperBound < all.count ? all[positions.upperBound].discontinuitySequence : nil
        let first = max(before ?? after ?? discontinuitySequence, 0)
        return TrackSeam(range, before: first, after: max(after ?? first, first))
    }

    /// Returns the seams at which ranges are removed from this track.
    ///
    /// - Parameter ranges: The ranges, in order, whose ends are boundaries of segments.
    /// - Returns: The seams.
    func seams(removing ranges: [MediaTimeRange]) -> [TrackSeam] {
        ranges.map { seam(removing: positions(betweenBoundariesNear: $0)) }
    }

    /// Returns the playlist with cuts at the seams of the reference track.
    ///
    /// Each cut is at the boundary nearest to its seam. The number of removed segments is chosen so that the times of
    /// both tracks differ by at most half a segment.
    ///
    /// - Parameters:
    ///   - seams: The places at which the reference track is cut.
    ///   - edit: The text of the edit, for messages.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist; at least one segment remains if one remains in the reference track.
    /// - Throws: ``PlaylistEditError``.
    func cut(
        at seams: [TrackSeam],
        edit: @autoclosure () -> String,
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard !seams.isEmpty, !segments.isEmpty else { return self }
        try verifyTimesRemain()
        let host = try withoutDirectives(limits: limits)
        let runs = SeamLayout(seams, in: host).runs
        guard let first = runs.first else {
            throw .nothingLeft(filter: edit(), available: ["\(segments.count) segments"])
        }
        let isWhole = first.positions.count == segments.count && first.discontinuities == nil
        guard runs.count > 1 || !isWhole else { return self }
        return try MediaPlaylistAssembly.assemble(
            primary: host,
            runs: runs,
            isEnded: isEnded(afterRemoving: seams.map(\.range)),
            limits: limits
        )
    }

    /// Returns the playlist with another playlist inserted at the place that corresponds to a seam of the reference
    /// track.
    ///
    /// - Parameters:
    ///   - other: The playlist.
    ///   - seam: The place in the reference track at which the other playlist is inserted.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist.
    /// - Throws: ``PlaylistEditError``.
    func inserting(
        _ other: MediaPlaylist,
        at seam: TrackSeam,
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        // An event may not have published the segments at that time yet.
        guard !isLive || seam.range.start <= duration else { throw outside("insert", seam.range.start) }
        return try stitched(other, at: SeamInsertion(at: seam, in: self), limits)
    }
}

/// The discontinuity sequence numbers of a track, which can match those of the reference track.
private struct SeamSections {
    private let segments: MediaSegments
    /// The discontinuity sequence number of the track before its first segment.
    let start: Int64
    /// A Boolean value that indicates whether the numbers of the track match those of the reference track.
    ///
    /// RFC 8216bis §6.2.4 requires that they match. If they do not, each seam is one discontinuity.
    let isMatching: Bool

    init(_ seams: [TrackSeam], in playlist: MediaPlaylist) {
        segments = playlist.segments
        start = playlist.discontinuitySequence
        let highest = seams.map(\.after).max() ?? 0
        let lowest = seams.map(\.before).min() ?? 0
        isMatching = start <= lowest && (segments.last.map { $0.discontinuitySequence >= highest } ?? false)
    }

    /// Returns the discontinuity sequence number of a segment; at position -1, the number before the first segment.
    func number(at position: Int) -> Int64 {
        position < 0 ? start : segments[position].discontinuitySequence
    }

    /// Returns the position of the first segment whose number is at least the given one.
    func firstPosition(of number: Int64) -> Int {
        segments.partitioningIndex { $0.discontinuitySequence >= number }
    }

    /// Returns the position of the first segment whose number is greater than the given one.
    func endPosition(of number: Int64) -> Int {
        segments.partitioningIndex { $0.discontinuitySequence > number }
    }
}

/// The place in a track at which another playlist is inserted.
struct SeamInsertion {
    /// The position of the first segment after the other playlist.
    let position: Int
    /// The discontinuities before the other playlist; `nil` if they follow from the position.
    private(set) var before: SegmentRun.Discontinuities?
    /// The discontinuities after the other playlist; `nil` if they follow from the position.
    private(set) var after: SegmentRun.Discontinuities?

    /// Creates the place before a segment.
    init(position: Int) {
        self.position = position
    }

    /// Creates the place at the boundary that is nearest to the seam and in the same discontinuity.
    ///
    /// - Parameters:
    ///   - seam: The place in the reference track.
    ///   - playlist: The playlist of the track.
    init(at seam: TrackSeam, in playlist: MediaPlaylist) {
        guard seam.range.start > .zero else {
            self.init(position: 0)
            return
        }
        let sections = SeamSections([seam], in: playlist)
        var boundary = playlist.boundary(near: seam.range.start)
        var (missing, additional): (Int64, Int64) = (0, 0)
        if sections.isMatching {
            boundary = max(min(boundary, sections.endPosition(of: seam.before)), sections.firstPosition(of: seam.after))
            missing = max(seam.before -| sections.number(at: boundary - 1), 0)
            if boundary < playlist.segments.count { additional = max(sections.number(at: boundary) -| seam.after, 0) }
        }
        self.init(position: boundary)
        // If the numbers match, they differ by at most the number of discontinuities of the track.
        let preceding = sections.number(at: boundary - 1)
        before = SegmentRun.Discontinuities(count: Int(clamping: missing +| 1), preceding: preceding)
        after = SegmentRun.Discontinuities(count: Int(clamping: additional +| 1), preceding: preceding)
    }
}

/// The segments that remain after a track is cut at the seams of the reference track.
private struct SeamLayout {
    private let playlist: MediaPlaylist
    private let segments: MediaSegments
    private let sections: SeamSections
    /// The segments that remain, in order.
    private(set) var runs: [SegmentRun] = []
    /// The position of the first segment of the next run.
    private var next = 0
    /// The duration that is removed from this track so far, minus the duration that is removed from the reference
    /// track.
    private var lead = MediaTime.zero
    /// The number of seams since the last run.
    private var pendingSeamCount = 0
    /// The number of discontinuities that are removed so far, minus the number that the seams add.
    private var shift: Int64 = 0
    /// The discontinuity sequence number of the last segment in the result; before the first run, the number before the
    /// first segment.
    private var number: Int64

    /// Creates the layout.
    ///
    /// - Parameters:
    ///   - seams: The places at which the reference track is cut.
    ///   - playlist: The playlist of the track.
    init(_ seams: [TrackSeam], in playlist: MediaPlaylist) {
        self.playlist = playlist
        segments = playlist.segments
        sections = SeamSections(seams, in: playlist)
        number = sections.start
        let sorted = seams.sorted { $0.range.start < $1.range.start }
        for seam in sorted { add(seam) }
        appendRun(upTo: segments.count)
        guard runs.isEmpty, let time = Self.firstRemainingTime(of: sorted) else { return }
        // A track with long segments retains at least one segment.
        let position = segments.position(at: time) ?? segments.count - 1
        runs = [SegmentRun(playlist, position..<(position + 1), isPrimary: true)]
    }

    private mutating func add(_ seam: TrackSeam) {
        let range = seam.range
        let isLeading = range.start <= .zero
        var first = 0
        if !isLeading {
            first = playlist.boundary(near: range.start + lead)
            if sections.isMatching { first = min(first, sections.endPosition(of: seam.before)) }
            first = max(first, next)
        }
        appendRun(upTo: first)
        guard range.end < MediaTimeRange.unbounded.end else {
            next = segments.count
            return
        }
        let start = time(of: first)
        var last = playlist.boundary(near: range.end + (start - range.start) - lead)
        if sections.isMatching { last = max(last, sections.firstPosition(of: seam.after)) }
        next = max(next, max(first, last))
        lead = lead + (time(of: next) - start) - range.duration
        if isLeading {
            if sections.isMatching { number = max(number, seam.after) }
        } else {
            pendingSeamCount +|= 1
            shift +|= seam.after -| seam.before -| 1
        }
    }

    private mutating func appendRun(upTo end: Int) {
        guard next < end else { return }
        var run = SegmentRun(playlist, next..<end, isPrimary: true)
        if pendingSeamCount > 0 {
            // If the numbers match, they differ by at most the number of discontinuities of the track.
            let matching = Int(clamping: sections.number(at: next) -| shift -| number)
            run.discontinuities = SegmentRun.Discontinuities(
                count: sections.isMatching ? matching : pendingSeamCount,
                preceding: number
            )
        }
        runs.append(run)
        number = sections.isMatching ? sections.number(at: end - 1) -| shift : number
        pendingSeamCount = 0
        next = end
    }

    /// Returns the start time of a segment; for the position after the last segment, the end of the playlist.
    private func time(of position: Int) -> MediaTime {
        position < segments.count ? segments.timeRange(at: position).start : playlist.duration
    }

    /// Returns the first remaining time of the reference track; `nil` if nothing of it remains.
    private static func firstRemainingTime(of seams: [TrackSeam]) -> MediaTime? {
        var time = MediaTime.zero
        for seam in seams {
            guard seam.range.start <= time else { break }
            time = max(time, seam.range.end)
        }
        return time < MediaTimeRange.unbounded.end ? time : nil
    }
}
