package import HLSPlaylist
package import MediaTiming

/// The segment boundaries of an item, in all playlists from which it is played.
package struct SegmentBoundaries: Sendable {
    private let timelines: [PresentationTimeline]
    /// A number that changes whenever a playlist is loaded.
    package let revision: Int

    /// Creates an instance without boundaries, for an item without a known playlist.
    package init() { self.init([]) }

    init(_ timelines: [PresentationTimeline], revision: Int = 0) {
        self.timelines = timelines
        self.revision = revision
    }

    /// Returns the segment boundary nearest to a time (RFC 8216bis §D.2, X-SNAP).
    ///
    /// - Parameters:
    ///   - time: A time of the item.
    ///   - latest: Whether to return the latest of the nearest boundaries in the playlists, instead of the earliest.
    /// - Returns: The boundary, or `nil` if no segments are known.
    package func nearest(to time: MediaTime, latest: Bool) -> MediaTime? {
        let boundaries = timelines.compactMap { Self.nearest(to: time, in: $0) }
        return latest ? boundaries.max() : boundaries.min()
    }

    /// Returns the time of a date, or `nil` if the main playlist has no media with that date.
    package func time(of date: ProgramDateTime) -> MediaTime? {
        guard let position = timelines.first?.position(of: date), position.relation == .inside else { return nil }
        return position.time
    }

    private static func nearest(to time: MediaTime, in timeline: PresentationTimeline) -> MediaTime? {
        guard !timeline.segments.isEmpty else { return nil }
        guard let position = timeline.position(atOrAfter: time) else { return timeline.end }
        let range = timeline.range(at: position)
        guard range.start < time else { return range.start }
        return time - range.start <= range.end - time ? range.start : range.end
    }
}
