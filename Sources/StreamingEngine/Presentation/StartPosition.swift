package import HLSPlaylist
package import MediaTiming

/// The position at which playback begins by default.
package struct StartPosition: Sendable, Hashable {
    /// The reason for a start position.
    package enum Reason: Sendable, Hashable {
        /// Playback begins at the start of the stream.
        case beginning
        /// The playlist contains a start position: `EXT-X-START` (RFC 8216bis §4.4.2.2).
        case playlist
        /// Live playback begins at the minimum distance to the live edge.
        case liveEdge
        /// The application configured a distance to the live edge.
        case configuredOffset
    }

    /// The presentation time, which is within the seekable range.
    package let time: MediaTime
    /// A Boolean value that indicates whether media before ``time`` must not be shown.
    ///
    /// Otherwise ``time`` is the start of a segment or partial segment.
    package let isPrecise: Bool
    /// The reason for the position.
    package let reason: Reason

    /// Creates the start position in a presentation.
    ///
    /// - Parameters:
    ///   - timeline: The timeline of the played variant.
    ///   - declared: The start position of the multivariant playlist, which has priority over that of the media
    ///     playlist (§4.4.2). Default: `nil`, to use the start position of the media playlist.
    ///   - liveOffset: The distance to the live edge that the application configured, which is raised to the hold-back
    ///     of the window. Default: `nil`, for the distance of the playlist. It is ignored if the playlist has ended.
    ///   - isLowLatency: A Boolean value that indicates whether partial segments are loaded. Default: false.
    package init(
        in timeline: PresentationTimeline,
        declared: PlaylistStart? = nil,
        liveOffset: MediaTime? = nil,
        isLowLatency: Bool = false
    ) {
        let window = LiveWindow(timeline, isLowLatency: isLowLatency)
        if timeline.isLive, let liveOffset {
            let wanted = window.edge - max(liveOffset, window.holdBack)
            self.init(timeline, at: wanted, in: window, isPrecise: false, .configuredOffset)
        } else if let start = declared ?? timeline.playlist.start {
            // A negative offset is relative to the end of the last segment, with or without partial segments
            // (§4.4.2.2).
            let boundary = start.offset < .zero ? timeline.end : timeline.start
            self.init(timeline, at: boundary + start.offset, in: window, isPrecise: start.isPrecise, .playlist)
        } else if timeline.isLive {
            self.init(timeline, at: window.edge - window.holdBack, in: window, isPrecise: false, .liveEdge)
        } else {
            self.init(timeline, at: window.range.start, in: window, isPrecise: false, .beginning)
        }
    }

    private init(
        _ timeline: PresentationTimeline,
        at wanted: MediaTime,
        in window: LiveWindow,
        isPrecise: Bool,
        _ reason: Reason
    ) {
        let time = min(max(wanted, window.seekable.start), window.seekable.end)
        self.time = isPrecise ? time : Self.boundary(before: time, in: timeline)
        self.isPrecise = isPrecise
        self.reason = reason
    }

    /// Returns the start of the segment at a time, or of the last independent partial segment before it.
    private static func boundary(before time: MediaTime, in timeline: PresentationTimeline) -> MediaTime {
        let parts: [PartReference]
        let start: MediaTime
        if let segment = timeline.segment(at: time) {
            (parts, start) = (segment.parts, segment.start)
        } else if time >= timeline.end, let pending = timeline.pendingSegment {
            (parts, start) = (pending.parts, pending.start)
        } else if time >= timeline.end, let last = timeline.segments.last {
            // At the end of the stream, the position is the start of the last segment.
            return last.start
        } else {
            return time
        }
        return parts.last { $0.isIndependent && $0.range.start <= time }?.range.start ?? start
    }
}
