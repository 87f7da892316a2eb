public import HLSPlaylist
public import MediaTiming

/// Where playback begins when nobody has asked for a place.
public struct StartPosition: Sendable, Hashable {
    /// What decided.
    public enum Reason: Sendable, Hashable {
        /// Playback begins at the beginning.
        case beginning
        /// The playlist names a place: `EXT-X-START` (RFC 8216bis §4.4.2.2).
        case playlist
        /// Live playback begins as near to the edge as it may.
        case liveEdge
        /// The application has asked for a distance to the live edge.
        case configuredOffset
    }

    /// When to begin, in presentation time, inside the window.
    public let time: MediaTime
    /// Whether media before ``time`` must not be shown; else ``time`` is where a segment or a part begins.
    public let isPrecise: Bool
    /// What decided.
    public let reason: Reason

    /// Finds the place.
    ///
    /// - Parameters:
    ///   - timeline: The timeline of the variant that is played.
    ///   - declared: The start of the multivariant playlist; it goes before that of the media playlist (§4.4.2). Defaults
    ///     to `nil`: only the media playlist's own counts.
    ///   - liveOffset: The distance to the live edge that the application wants, at least the hold-back of the window;
    ///     `nil`, the default, for that of the playlist. It has no part in what has ended.
    ///   - isLowLatency: Whether parts are loaded. Defaults to no.
    public init(
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
            // Counted from the end of the last segment, parts or not (§4.4.2.2).
            let border = start.offset < .zero ? timeline.end : timeline.start
            self.init(timeline, at: border + start.offset, in: window, isPrecise: start.isPrecise, .playlist)
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
        self.time = isPrecise ? time : Self.border(before: time, in: timeline)
        self.isPrecise = isPrecise
        self.reason = reason
    }

    /// Where the segment begins that is shown at a time, or the last part before it that can be decoded by itself.
    private static func border(before time: MediaTime, in timeline: PresentationTimeline) -> MediaTime {
        let parts: [PartReference]
        let start: MediaTime
        if let segment = timeline.segment(at: time) {
            (parts, start) = (segment.parts, segment.start)
        } else if time >= timeline.end, let pending = timeline.pendingSegment {
            (parts, start) = (pending.parts, pending.start)
        } else if time >= timeline.end, let last = timeline.segments.last {
            // The end of the last segment: what is shown there is its last picture.
            return last.start
        } else {
            return time
        }
        return parts.last { $0.isIndependent && $0.range.start <= time }?.range.start ?? start
    }
}
