import HLSPlaylist
public import MediaTiming

/// What of a presentation can be sought, and how near to its live edge playback may come.
public struct LiveWindow: Sendable, Hashable {
    /// All media that is listed, complete segments and parts.
    public let range: MediaTimeRange
    /// The stretch in which playback may begin: all of it where the playlist has ended, else up to ``holdBack`` before
    /// the live edge.
    ///
    /// Empty, at the beginning, where the window is shorter than that.
    public let seekable: MediaTimeRange
    /// The distance to the live edge that playback has to keep; zero where the playlist has ended.
    public let holdBack: MediaTime

    /// When the last media that is listed ends, in presentation time.
    public var edge: MediaTime { range.end }

    /// Makes the window of a timeline.
    ///
    /// - Parameters:
    ///   - timeline: The timeline as it was loaded last.
    ///   - isLowLatency: Whether parts are loaded, so that playback may come nearer to the edge. Defaults to no.
    public init(_ timeline: PresentationTimeline, isLowLatency: Bool = false) {
        guard timeline.isLive else {
            range = timeline.range
            seekable = timeline.range
            holdBack = .zero
            return
        }
        let usesParts = isLowLatency && timeline.playlist.effectivePartTarget != nil
        let edge = usesParts ? timeline.edge : timeline.end
        range = MediaTimeRange(start: timeline.start, end: edge)
        holdBack = Self.holdBack(timeline.playlist, usesParts: usesParts)
        seekable = MediaTimeRange(start: timeline.start, end: max(timeline.start, edge - holdBack))
    }

    /// How far from the edge to stay.
    ///
    /// Three target durations, unless the server says (RFC 8216bis §4.4.3.8); but never less than one segment, or two parts:
    /// nearer to the edge there is nothing to play while the next one is made.
    static func holdBack(_ playlist: MediaPlaylist, usesParts: Bool) -> MediaTime {
        let control = playlist.serverControl
        if usesParts, let partTarget = playlist.effectivePartTarget {
            let most = MediaTime(seconds: 600)
            return min(max(control?.partHoldBack ?? partTarget * 3, partTarget * 2), most)
        }
        let target = playlist.effectiveTargetDuration
        return min(max(control?.holdBack ?? target * 3, target), target * 10)
    }
}

extension PresentationTimeline {
    /// What of it can be sought by a player that loads whole segments; see ``LiveWindow/init(_:isLowLatency:)``.
    public var liveWindow: LiveWindow { LiveWindow(self) }
}
