import HLSPlaylist
package import MediaTiming

/// The seekable range of a presentation, with the minimum distance to the live edge.
package struct LiveWindow: Sendable, Hashable {
    /// The time range of all media in the playlist, including partial segments.
    package let range: MediaTimeRange
    /// The time range in which playback may begin.
    ///
    /// The whole range if the playlist has ended, or else up to ``holdBack`` before the live edge. If the window is
    /// shorter than that, the range is empty and at the start of the window.
    package let seekable: MediaTimeRange
    /// The minimum distance to the live edge; zero if the playlist has ended.
    package let holdBack: MediaTime

    /// The end of the last media in the playlist, in presentation time.
    package var edge: MediaTime { range.end }

    /// Creates the window of a timeline.
    ///
    /// - Parameters:
    ///   - timeline: The current timeline.
    ///   - isLowLatency: Whether partial segments are loaded, which allows a smaller distance to the live edge.
    ///     Default: false.
    package init(_ timeline: PresentationTimeline, isLowLatency: Bool = false) {
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

    /// Returns the minimum distance to the live edge.
    ///
    /// Three target durations, unless the server declares another value (RFC 8216bis §4.4.3.8), but at least one segment
    /// or two partial segments, because the next one is not available before it is complete. At most ten target
    /// durations, or ten minutes with partial segments.
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
    /// The window for a player that loads only whole segments; see ``LiveWindow/init(_:isLowLatency:)``.
    package var liveWindow: LiveWindow { LiveWindow(self) }
}
