import HLSPlaylist
import MediaTiming

/// The playlists that determine where the tracks of a presentation are cut together.
struct EditAlignment: Sendable {
    /// The media playlist of the video, before the edits.
    let video: MediaPlaylist
    /// The edits of this media playlist, in order.
    let edits: [PlaylistEdit]
    /// The number of edits up to the last one that cuts.
    let cutCount: Int
    /// The playlists that the edits insert into it, by name.
    let inserted: [String: MediaPlaylist]

    /// Returns the plan for the tracks other than the video.
    ///
    /// - Parameters:
    ///   - plan: The plan of the presentation.
    ///   - limits: The maximum sizes of the result of each edit.
    ///   - check: A closure that is called between edits, and throws an error to stop.
    /// - Returns: The plan; `nil` if an edit cannot be applied, which is reported when the variant is edited.
    /// - Throws: The error of `check`.
    func plan(for plan: EditPlan, limits: PlaylistLimits, check: () throws -> Void) throws -> EditPlan? {
        var aligned = plan.edits.filter { !$0.isFilter }
        var video = video
        for index in 0..<cutCount {
            try check()
            aligned[index] = aligned[index].aligned(with: video)
            guard index < cutCount - 1 else { break }
            let edit = EditPlan([edits[index]])
            guard let edited = try? edit.applied(to: video, sources: inserted, limits: limits) else { return nil }
            video = edited
        }
        return EditPlan(aligned)
    }
}

extension PlaylistEdit {
    /// A Boolean value that indicates whether the edit cuts at boundaries of segments, which differ between the tracks of
    /// a presentation.
    var cutsAtBoundaries: Bool { cutType != nil }

    /// The edits that cut at boundaries of segments.
    private enum CutType: String {
        case start
        case duration
        case dropRange = "drop-range"
        case insert
        case trim
        case cut
    }

    private var cutType: CutType? { CutType(rawValue: definition.name) }

    /// Returns the edit for the other tracks of a presentation, which cuts them at the boundaries nearest to the cuts of the
    /// video.
    ///
    /// - Parameter playlist: The media playlist of the video, before this edit.
    /// - Returns: The edit; the same edit if it does not cut at boundaries, or cannot be applied to the playlist.
    func aligned(with playlist: MediaPlaylist) -> PlaylistEdit {
        let segments = playlist.segments
        let end = MediaTimeRange.unbounded.end
        switch cutType {
        case .start:
            guard let time = ClockTime.parse(value), let position = segments.position(at: time) else { return self }
            return .trim(MediaTimeRange(start: segments.timeRange(at: position).start, end: end))
        case .duration:
            guard let time = ClockTime.parse(value) else { return self }
            let count = playlist.segmentCount(within: time)
            guard count > 0 else { return self }
            // The other tracks are not shortened either, whatever their durations are.
            guard count < segments.count else { return .trim(.unbounded) }
            return .trim(MediaTimeRange(start: .zero, end: segments.timeRange(at: count - 1).end))
        case .dropRange:
            guard let range = MediaTimeRange(partial: value), let inside = playlist.positions(inside: range) else {
                return self
            }
            return .cut(playlist.timeRange(of: inside.lowerBound..<(inside.upperBound + 1)))
        case .insert:
            guard let source, let at = value.lastIndex(of: "@"),
                let time = ClockTime.parse(value[value.index(after: at)...])
            else { return self }
            let position = playlist.boundary(near: time)
            guard position < segments.count else { return .append(source) }
            return .insert(source, at: segments.timeRange(at: position).start)
        case .trim:
            guard let range = MediaTimeRange(partial: value) else { return self }
            let positions = playlist.positions(trimmedToBoundariesNear: range)
            return positions.isEmpty ? self : .trim(playlist.timeRange(of: positions))
        case .cut:
            guard let range = MediaTimeRange(partial: value) else { return self }
            let positions = playlist.positions(betweenBoundariesNear: range)
            // A range without a duration removes nothing from the other tracks either.
            guard !positions.isEmpty else { return .cut(MediaTimeRange(start: range.start, end: range.start)) }
            return .cut(playlist.timeRange(of: positions))
        case nil: return self
        }
    }
}

extension MediaPlaylist {
    /// Returns the times of segments; the end is unbounded after the last segment, where other tracks may end later.
    fileprivate func timeRange(of positions: Range<Int>) -> MediaTimeRange {
        MediaTimeRange(
            start: segments.timeRange(at: positions.lowerBound).start,
            end: positions.upperBound == segments.count
                ? MediaTimeRange.unbounded.end : segments.timeRange(at: positions.upperBound - 1).end
        )
    }
}

extension MediaTimeRange {
    /// The range of all times in a playlist.
    static var unbounded: MediaTimeRange { MediaTimeRange(start: .zero, end: MediaTime(seconds: 1 << 40)) }

    /// Creates a range from text of the form `START...END`; a missing end is after that of any playlist.
    init?(partial text: String) {
        guard let range = PartialRange<MediaTime>(text) else { return nil }
        self.init(start: range.low ?? .zero, end: range.high ?? Self.unbounded.end)
    }
}
