import HLSPlaylist
import MediaTiming

/// The state of playback at the time of an event, on which decisions about the tracks depend.
struct PlaybackMoment: Sendable {
    /// The seek that is in progress.
    struct Seek: Sendable {
        let target: MediaTime
        /// A Boolean value that indicates whether the seek moves the playhead to the start position.
        let isStart: Bool
    }

    /// The options that the tracks depend on.
    struct Limits: Sendable {
        /// The media time at which forward playback ends; `nil` for the end of the item.
        var forwardEnd: MediaTime?
        /// The media time at which reverse playback ends; `nil` for the start of the item.
        var reverseEnd: MediaTime?
        /// The requested duration of media that is buffered ahead of the playhead; zero to let the engine choose it.
        var bufferDuration: MediaTime
        /// The maximum size of the buffer, in bytes.
        var bufferBytes: Int64
        /// The maximum time for which requests are repeated while no server can be reached.
        var patience: Duration
        /// The distance from the live edge that the application requested; `nil` for that of the stream.
        var liveOffset: MediaTime?
        /// The part of the buffer that is replaced when another variant is pinned.
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
    /// A Boolean value that indicates whether the playhead has a position.
    let isPositioned: Bool
    let seek: Seek?
    /// The rate that the application requested.
    private(set) var desiredRate: Double
    /// A Boolean value that indicates whether playback is paused because reverse playback reached the start.
    private(set) var isPausedAtStart: Bool
    /// The rate of the playhead.
    let rate: Double
    let timebase: Timebase
    let limits: Limits
    /// The bytes of the segments that are being loaded.
    var unfinishedBytes: Int64 = 0

    /// A Boolean value that indicates whether media is fetched in reverse order.
    ///
    /// During a seek it is not, since media after the target is needed. At the start after reverse playback it is, so that
    /// no media is fetched until playback continues.
    var isBackward: Bool { (desiredRate < 0 || isPausedAtStart) && seek == nil }
    /// A Boolean value that indicates whether the playhead has a position, and no seek is in progress.
    var isSettled: Bool { isPositioned && seek == nil }

    /// Returns the moment at which the application requests another rate, which is not 0.
    func requesting(rate: Double) -> PlaybackMoment {
        var turned = self
        turned.desiredRate = rate
        turned.isPausedAtStart = false
        return turned
    }

    /// Returns the time at which the playhead reaches a media time; `nil` if it does not move toward it.
    ///
    /// The time is at least one millisecond ahead: because of rounding, the playhead may not have reached the media
    /// time at a high rate.
    func time(reaching target: MediaTime) -> Duration? {
        timebase.time(reaching: target).map { max($0, now + .milliseconds(1)) }
    }

    /// Returns the media time that must be loaded to show a frame at a time.
    ///
    /// For an item on demand, it is limited to 50 ms before the end, so that the last frame is shown at the end.
    static func mediaTime(shownAt time: MediaTime, in timeline: PresentationTimeline) -> MediaTime {
        guard !timeline.isLive else { return time }
        return min(time, max(timeline.range.start, timeline.end - MediaTime(value: 1, timescale: 20)))
    }
}
