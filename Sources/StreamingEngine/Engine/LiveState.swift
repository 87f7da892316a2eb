import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting

/// The seekable window of a live stream, and the distance from the live edge.
struct LiveState: Sendable {
    /// The range of positions to which the playhead can seek; `nil` while it is unknown.
    private(set) var seekableRange: MediaTimeRange?
    /// The distance from the live edge that the stream recommends; `nil` if the stream is not live.
    private(set) var recommendedOffset: MediaTime?
    private var control = LiveOffsetControl()

    /// Applies the playlist of the main track.
    mutating func update(_ timeline: PresentationTimeline?, _ sink: inout EffectSink) {
        guard let timeline else { return }
        let window = timeline.liveWindow
        recommendedOffset = timeline.isLive ? window.holdBack : nil
        let range = timeline.segments.isEmpty ? nil : window.seekable
        guard range != seekableRange else { return }
        seekableRange = range
        sink.report(.seekableRangeChanged(range))
    }

    /// Returns the live edge, which advances with the clock between reloads; `nil` if the stream is not live.
    static func edge(of playlist: LoadedPlaylist?) -> Timebase? {
        guard let playlist, playlist.timeline.isLive else { return nil }
        return Timebase(mediaTime: playlist.timeline.end, time: playlist.requestStart, rate: 1)
    }

    /// Returns the position nearest to the target to which the playhead can seek.
    ///
    /// - Parameters:
    ///   - target: The requested position.
    ///   - playlist: The playlist of the main track.
    ///   - end: The end of playback; `nil` while it is unknown.
    ///   - now: The time.
    /// - Returns: The position, within the window and the end of playback.
    func clamped(
        _ target: MediaTime,
        in playlist: LoadedPlaylist?,
        endOfPlayback end: MediaTime?,
        at now: Duration
    ) -> MediaTime {
        guard let playlist else { return max(target, .zero) }
        let timeline = playlist.timeline
        let window = seekableRange ?? timeline.range
        var last = end ?? timeline.end
        if timeline.isLive {
            // The window advances while its playlist is being loaded.
            let age = min(MediaTime(now - playlist.requestStart), timeline.targetDuration)
            last = max(window.end, min(timeline.end, window.end + age))
        }
        return min(max(target, window.start), max(last, window.start))
    }

    /// Returns the rate adjustment that restores the distance from the live edge.
    ///
    /// - Parameters:
    ///   - offset: The distance from the live edge; `nil` if it must not be corrected.
    ///   - asked: The distance that the application requested.
    ///   - ahead: The duration of media that is buffered ahead of the playhead.
    ///   - segment: The duration of segments.
    /// - Returns: The factor for the rate; 1 for no correction.
    mutating func rateFactor(
        offset: MediaTime?,
        asked: MediaTime?,
        ahead: Duration,
        segment: Duration
    ) -> Double {
        guard let offset, let recommendedOffset else {
            // The option was disabled, the stream has ended, or the rate is not 1.
            control = LiveOffsetControl()
            return 1
        }
        return control.rateFactor(
            offset: offset,
            target: max(asked ?? recommendedOffset, recommendedOffset),
            bufferedDuration: ahead,
            minimumBuffer: segment
        )
    }
}

/// A counter that reports the number of frames once a second and at the end.
struct FrameReporter: Sendable {
    private var reported = FrameCounts()
    private var lastReport = Duration.zero
    /// A Boolean value that indicates whether frames were skipped intentionally since the last report.
    private var hasSkippedFrames = false

    /// Returns the number of frames since the last report; `nil` if no report is due.
    ///
    /// - Parameters:
    ///   - counts: The number of frames since the start.
    ///   - rate: The rate; above 1 and below 0, frames are skipped intentionally.
    ///   - isFinal: Whether playback has ended.
    ///   - now: The time.
    /// - Returns: The number of new frames, and whether none of them was skipped intentionally.
    mutating func report(
        _ counts: FrameCounts,
        rate: Double,
        isFinal: Bool,
        at now: Duration
    ) -> (frames: FrameCounts, areAllShown: Bool)? {
        let isUsual = 0...1 ~= rate
        hasSkippedFrames = hasSkippedFrames || !isUsual
        guard counts != reported, isFinal || now - lastReport >= .seconds(1) else { return nil }
        let new = FrameCounts(
            decoded: counts.decoded - reported.decoded,
            dropped: counts.dropped - reported.dropped,
            discarded: counts.discarded - reported.discarded
        )
        reported = counts
        lastReport = now
        defer { hasSkippedFrames = !isUsual }
        return (new, !hasSkippedFrames)
    }
}
