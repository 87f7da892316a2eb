import HLSPlaylist
import MediaTiming

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
    }

    private var cutType: CutType? { CutType(rawValue: definition.name) }

    /// Returns the edit for the other tracks of a presentation: it cuts at the boundaries that are nearest to those at
    /// which this edit cuts the given playlist.
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
            let isLast = inside.upperBound == segments.count - 1
            return .cut(
                MediaTimeRange(
                    start: segments.timeRange(at: inside.lowerBound).start,
                    end: isLast ? end : segments.timeRange(at: inside.upperBound).end
                )
            )
        case .insert:
            guard let source, let at = value.lastIndex(of: "@"),
                let time = ClockTime.parse(value[value.index(after: at)...])
            else { return self }
            let position = playlist.boundary(near: time)
            guard position < segments.count else { return self }
            return .insert(source, at: segments.timeRange(at: position).start)
        case nil: return self
        }
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
