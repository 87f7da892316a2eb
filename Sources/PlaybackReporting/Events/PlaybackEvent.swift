public import MediaTiming

/// An event of a playback session, from which logs and metrics are computed and which applications can observe.
///
/// Every decision of the engine is reported as an event, with its cause and the figures on which it is based.
public struct PlaybackEvent: Sendable, Hashable {
    /// The time of the event on the clock of the session; see ``PlaybackSession/date(at:)``.
    public let time: Duration
    /// The playback position, or `nil` if there is none yet.
    public let mediaTime: MediaTime?
    /// The kind of the event, with its details.
    public let kind: Kind

    /// Creates an event.
    public init(time: Duration, mediaTime: MediaTime?, kind: Kind) {
        self.time = time
        self.mediaTime = mediaTime
        self.kind = kind
    }

    /// The kinds of playback events.
    public enum Kind: Sendable, Hashable {
        /// The item became ready to play, or failed.
        case statusChanged(ItemStatus)
        /// The playback type has been determined: on demand, live or a file.
        case playbackTypeKnown(PlaybackType)
        /// The playback rate changed, including start and stop.
        case rateChanged(RateChange)
        /// The player began to play, to wait or to pause.
        case timeControlChanged(TimeControl)
        /// A request completed or failed, by the network, a cache or a file.
        case resourceRequest(ResourceRequest)
        /// A segment was loaded and appended to the decoder.
        case segmentLoaded(LoadedSegment)
        /// A segment was skipped, because it is marked as a gap or was unavailable.
        case segmentSkipped(SkippedSegment)
        /// The buffered media suffices to continue at the requested rate.
        case likelyToKeepUp(LikelyToKeepUpReport)
        /// Playback stopped unintentionally because the buffer is empty.
        case stalled
        /// Playback resumed after a stall of the given duration.
        case stallEnded(after: Duration)
        /// A seek to the given position began.
        case seekStarted(to: MediaTime)
        /// A seek completed, or was replaced by another one.
        case seekEnded(SeekRecord)
        /// The playback position changed discontinuously.
        case timeJumped(from: MediaTime?, to: MediaTime)
        /// Another variant was selected, from which segments are loaded from now on.
        case variantSwitchStarted(VariantSwitch)
        /// Another variant began to be played, or could not be loaded.
        case variantSwitched(VariantSwitch, succeeded: Bool)
        /// The variant is loaded from another pathway from now on (RFC 8216bis §7), given by the identifiers of pathways.
        case pathwayChanged(from: String, to: String)
        /// Another media option was selected, by the viewer, the application or automatically.
        case selectionChanged(SelectionChange)
        /// The tracks of the item changed.
        case tracksChanged([PlaybackTrack])
        /// The seekable range of a live stream changed; `nil` if seeking is not possible.
        case seekableRangeChanged(MediaTimeRange?)
        /// The playback position reached timed metadata in the media.
        case timedMetadata(TimedMetadata)
        /// Frames were decoded or dropped since the last such event.
        case frames(FrameCounts)
        /// An error occurred; ``PlaybackErrorRecord/didRecover`` indicates whether playback continues.
        case error(PlaybackErrorRecord)
        /// The playback position reached the end.
        case playedToEnd
        /// Playback ended before the end because of an error.
        case failedToPlayToEnd(PlaybackErrorRecord)
        /// The session ended; no further events follow.
        case ended
    }
}

/// The status of an item.
public enum ItemStatus: String, Sendable, Hashable, CaseIterable {
    /// The status is not known yet.
    case unknown
    /// The item is ready to play.
    case readyToPlay
    /// The item cannot be played.
    case failed
}

/// The playback type of an item.
public enum PlaybackType: String, Sendable, Hashable, CaseIterable {
    /// A video-on-demand stream.
    case vod = "VOD"
    /// A live stream.
    case live = "LIVE"
    /// A media file.
    case file = "FILE"
}

/// A change of the playback rate.
public struct RateChange: Sendable, Hashable {
    /// The new rate; 0 while playback is stopped.
    public let rate: Double
    /// The previous rate.
    public let previousRate: Double
    /// The reason for the change.
    public let reason: Reason
    /// The variant that is played, or `nil` if it is unknown.
    public let variant: VariantDescription?

    /// The reason for a change of the rate.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The rate was set by the application or the viewer.
        case setRateCalled
        /// The requested rate is not possible.
        case setRateFailed
        /// Playback reached the end.
        case playedToEnd
        /// The buffer became empty, or became sufficient again.
        case buffering
        /// The application entered the background.
        case appBackgrounded
        /// Another application interrupted the audio session.
        case audioSessionInterrupted
        /// Playback at a higher rate reached the live edge.
        case playheadReachedLiveEdge
        /// Reverse playback reached the start of the seekable range.
        case reversePlaybackReachedStartOfSeekableRange
        /// The distance to the live edge is being corrected.
        case liveOffsetCorrection
        /// The session ended or failed.
        case ended
    }

    /// Creates a rate change.
    public init(rate: Double, previousRate: Double, reason: Reason, variant: VariantDescription? = nil) {
        self.rate = rate
        self.previousRate = previousRate
        self.reason = reason
        self.variant = variant
    }
}

/// The state of a player: paused, waiting or playing.
public enum TimeControl: Sendable, Hashable {
    /// Playback is paused as requested.
    case paused
    /// Playback was requested, but is waiting.
    case waiting(WaitingReason)
    /// Playback is in progress.
    case playing

    /// The reason for which a player waits.
    public enum WaitingReason: String, Sendable, Hashable, CaseIterable {
        /// The buffer does not suffice to play without stalls.
        case toMinimizeStalls
        /// It is not known yet whether the buffer suffices.
        case evaluatingBufferingRate
        /// There is no item to play.
        case noItemToPlay
        /// An interstitial is played.
        case duringInterstitialEvent
        /// A start that is coordinated with other players is scheduled.
        case forCoordinatedPlayback
    }
}

/// The identification of a variant in events and logs.
public struct VariantDescription: Sendable, Hashable {
    /// An identifier that does not change within a session.
    public let id: String
    /// The URL of the variant's playlist.
    public let address: String
    /// The peak bit rate according to the playlist.
    public let peakBitRate: BitRate
    /// The average bit rate according to the playlist, or `nil` if it is not given.
    public let averageBitRate: BitRate?
    /// The width of the video in pixels.
    public let width: Int?
    /// The height of the video in pixels.
    public let height: Int?

    /// Creates a description of a variant.
    public init(
        id: String,
        address: String,
        peakBitRate: BitRate,
        averageBitRate: BitRate? = nil,
        width: Int? = nil,
        height: Int? = nil
    ) {
        self.id = id
        self.address = address
        self.peakBitRate = peakBitRate
        self.averageBitRate = averageBitRate
        self.width = width
        self.height = height
    }
}

/// The numbers of video frames that the decoder processed.
public struct FrameCounts: Sendable, Hashable {
    /// The number of decoded frames.
    public var decoded: Int
    /// The number of decoded frames that were dropped because they were late.
    public var dropped: Int
    /// The number of decoded frames that were needed only to decode others, which is the cost of exact seeks.
    public var discarded: Int

    /// Creates frame counts.
    public init(decoded: Int = 0, dropped: Int = 0, discarded: Int = 0) {
        self.decoded = decoded
        self.dropped = dropped
        self.discarded = discarded
    }
}
