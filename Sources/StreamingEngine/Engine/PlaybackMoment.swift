import HLSPlaylist
import MediaTiming

/// The state of playback at the time of an event, as far as the tracks depend on it.
struct PlaybackMoment: Sendable {
    /// The seek that is in progress.
    struct Seek: Sendable {
        let target: MediaTime
        /// A Boolean value that indicates whether playback begins with it.
        let isStart: Bool
    }

    /// The options that the tracks depend on.
    struct Limits: Sendable {
        /// The end of playback forwards; `nil` for the end of the item.
        var forwardEnd: MediaTime?
        /// The end of playback backwards; `nil` for the start of the item.
        var reverseEnd: MediaTime?
        /// The media time that is buffered ahead of the playhead.
        var bufferDuration: MediaTime
        /// The maximum size of the buffer, in bytes.
        var bufferBytes: Int64
        /// The time to go on trying while nothing can be reached.
        var patience: Duration
        /// The distance from the live edge that the application asked for.
        var liveOffset: MediaTime?
        /// What becomes of the buffer when another variant is pinned.
        var pinning: VariantSwitchMode

        init(_ options: StreamingOptions) {
            let asked = options.preferredForwardBufferDuration
            forwardEnd = options.forwardPlaybackEndTime
            reverseEnd = options.reversePlaybackEndTime
            bufferDuration = MediaTime(asked > .zero ? asked : .seconds(30))
            bufferBytes = options.bufferByteLimit.bytes
            patience = options.patience
            liveOffset = options.timeOffsetFromLive
            pinning = options.pinning
        }
    }

    let now: Duration
    /// The position of the playhead.
    let position: MediaTime
    /// A Boolean value that indicates whether playback has begun somewhere.
    let isPositioned: Bool
    let seek: Seek?
    /// The rate that was asked for.
    let desiredRate: Double
    /// The rate of the playhead.
    let rate: Double
    let timebase: Timebase
    let limits: Limits

    /// A Boolean value that indicates whether media before the playhead is needed; a seek needs what follows its target.
    var isBackward: Bool { desiredRate < 0 && seek == nil }
    /// A Boolean value that indicates whether the playhead has a position, and no seek is in progress.
    var isSettled: Bool { isPositioned && seek == nil }

    /// Returns when the playhead reaches a media time; `nil` if it does not move there.
    ///
    /// Times are rounded: at a high rate, the playhead may be a little short of it when the time has come.
    func time(reaching target: MediaTime) -> Duration? {
        timebase.time(reaching: target).map { max($0, now + .milliseconds(1)) }
    }

    /// The media that is needed to show something at a time: at the end of what is listed, that just before it.
    static func mediaTime(shownAt time: MediaTime, in timeline: PresentationTimeline) -> MediaTime {
        guard !timeline.isLive else { return time }
        return min(time, max(timeline.range.start, timeline.end - MediaTime(value: 1, timescale: 20)))
    }
}
