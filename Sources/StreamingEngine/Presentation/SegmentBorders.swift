public import HLSPlaylist
public import MediaTiming

/// Where the segments of an item meet, in all of the playlists that it is played from.
public struct SegmentBorders: Sendable {
    private let timelines: [PresentationTimeline]
    /// Another one each time that a playlist came.
    package let revision: Int

    /// Those of an item of which nothing is known.
    public init() { self.init([]) }

    init(_ timelines: [PresentationTimeline], revision: Int = 0) {
        self.timelines = timelines
        self.revision = revision
    }

    /// The border nearest to a time (RFC 8216bis §D.2, X-SNAP).
    ///
    /// - Parameters:
    ///   - time: On the timeline of the item.
    ///   - latest: Whether of several playlists, each with a nearest border of its own, the latest is taken; else the earliest.
    /// - Returns: The border; `nil` where no segments are known.
    public func nearest(to time: MediaTime, latest: Bool) -> MediaTime? {
        let borders = timelines.compactMap { Self.nearest(to: time, in: $0) }
        return latest ? borders.max() : borders.min()
    }

    /// Where a date lies; `nil` where the playlists have no media of that date.
    public func time(of date: ProgramDateTime) -> MediaTime? {
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
