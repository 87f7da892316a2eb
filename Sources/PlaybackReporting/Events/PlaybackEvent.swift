public import MediaTiming

/// Something that happened while an item was played: what logs, indicators and applications are made of.
///
/// Every decision of the engine is one of these, with its cause and the numbers that it stood on.
public struct PlaybackEvent: Sendable, Hashable {
    /// When it happened, on the clock of the session; see ``PlaybackSession/date(at:)``.
    public let time: Duration
    /// Where the play head was; `nil` before there was one.
    public let mediaTime: MediaTime?
    /// What happened.
    public let kind: Kind

    /// Makes an event.
    public init(time: Duration, mediaTime: MediaTime?, kind: Kind) {
        self.time = time
        self.mediaTime = mediaTime
        self.kind = kind
    }

    /// What happened.
    public enum Kind: Sendable, Hashable {
        /// The item can be played, or never will.
        case statusChanged(ItemStatus)
        /// Whether it plays on demand, live or from a file is known.
        case playbackTypeKnown(PlaybackType)
        /// The play head begins to move, stops, or moves at another speed.
        case rateChanged(RateChange)
        /// Whether it plays, waits or stands.
        case timeControlChanged(TimeControl)
        /// A request that the network, a cache or a file answered, or failed to.
        case resourceRequest(ResourceRequest)
        /// Media is there that was not: a segment went to the decoder.
        case segmentLoaded(LoadedSegment)
        /// A segment is left out, because it is marked as a gap or could not be had.
        case segmentSkipped(SkippedSegment)
        /// What is buffered suffices to play on at the asked rate.
        case likelyToKeepUp(KeepUp)
        /// Playing stopped although nobody asked for it: there was nothing left to play.
        case stalled
        /// Playing goes on after a stall that took so long.
        case stallEnded(after: Duration)
        /// The play head is to be elsewhere.
        case seekStarted(to: MediaTime)
        /// The play head is there, or another seek came before it was.
        case seekEnded(SeekOutcome)
        /// The play head is elsewhere than the passing of time explains.
        case timeJumped(from: MediaTime?, to: MediaTime)
        /// Another variant was chosen; what is fetched from now on comes from it.
        case variantSwitchStarted(VariantSwitch)
        /// Another variant is what is played now, or could not be had.
        case variantSwitched(VariantSwitch, succeeded: Bool)
        /// Another rendition of a kind was chosen, by a person or by rules.
        case selectionChanged(SelectionChange)
        /// The tracks of the item are others.
        case tracksChanged([PlaybackTrack])
        /// The window of a live stream moved; `nil` where nothing can be sought.
        case seekableRangeChanged(MediaTimeRange?)
        /// The play head reached a message that came with the media.
        case timedMetadata(TimedMetadata)
        /// Frames were decoded and dropped since the last such event.
        case frames(FrameCounts)
        /// Something failed; playing goes on where `recovered` says so.
        case error(PlaybackErrorRecord)
        /// The play head reached the end.
        case playedToEnd
        /// Playing ended before the end, and why.
        case failedToPlayToEnd(PlaybackErrorRecord)
        /// The session is over; nothing follows.
        case ended
    }
}

/// Whether an item can be played.
public enum ItemStatus: String, Sendable, Hashable, CaseIterable {
    /// Not known yet.
    case unknown
    /// It can.
    case readyToPlay
    /// It never will.
    case failed
}

/// What kind of thing is played.
public enum PlaybackType: String, Sendable, Hashable, CaseIterable {
    /// A stream on demand.
    case vod = "VOD"
    /// A stream that goes on.
    case live = "LIVE"
    /// A file.
    case file = "FILE"
}

/// Another speed of the play head.
public struct RateChange: Sendable, Hashable {
    /// The speed now; 0 stands still.
    public let rate: Double
    /// The speed before.
    public let previousRate: Double
    /// Why.
    public let reason: Reason
    /// The bit rates of the variant that plays.
    public let variant: VariantDescription?

    /// Why a rate changed.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// It was asked for.
        case setRateCalled
        /// What was asked for cannot be done.
        case setRateFailed
        /// The end was reached.
        case playedToEnd
        /// Nothing was left to play, or there is enough again.
        case buffering
        /// The application went to the background.
        case appBackgrounded
        /// Another application has the sound now.
        case audioSessionInterrupted
        /// Fast playing met the live edge.
        case playheadReachedLiveEdge
        /// Playing backwards met the start.
        case reversePlaybackReachedStartOfSeekableRange
        /// A live stream is brought back to its distance from the edge.
        case liveOffsetCorrection
        /// The session ended.
        case ended
    }

    /// Makes a change.
    public init(rate: Double, previousRate: Double, reason: Reason, variant: VariantDescription? = nil) {
        self.rate = rate
        self.previousRate = previousRate
        self.reason = reason
        self.variant = variant
    }
}

/// Whether a player plays, waits or stands.
public enum TimeControl: Sendable, Hashable {
    /// It stands, as asked.
    case paused
    /// It would play, but waits.
    case waiting(WaitingReason)
    /// It plays.
    case playing

    /// Why a player waits.
    public enum WaitingReason: String, Sendable, Hashable, CaseIterable {
        /// There is not enough to play through.
        case toMinimizeStalls
        /// Whether there is enough is not known yet.
        case evaluatingBufferingRate
        /// There is nothing to play.
        case noItemToPlay
        /// Something else is played in between.
        case duringInterstitialEvent
        /// It begins together with others, at a moment that has not come.
        case forCoordinatedPlayback
    }
}

/// A variant, as logs name it.
public struct VariantDescription: Sendable, Hashable {
    /// A name that stays the same over a session.
    public let id: String
    /// The address of its playlist.
    public let address: String
    /// The peak bit rate that the playlist announces.
    public let peakBitRate: BitRate
    /// The average bit rate that it announces; `nil` where it does not.
    public let averageBitRate: BitRate?
    /// The width of the picture in pixels.
    public let width: Int?
    /// The height of the picture in pixels.
    public let height: Int?

    /// Makes a description.
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

/// How many frames passed the decoder.
public struct FrameCounts: Sendable, Hashable {
    /// How many came out.
    public var decoded: Int
    /// How many of those came too late to be shown.
    public var dropped: Int
    /// How many of those were decoded for the sake of others only, which is what an exact seek costs.
    public var discarded: Int

    /// Makes counts.
    public init(decoded: Int = 0, dropped: Int = 0, discarded: Int = 0) {
        self.decoded = decoded
        self.dropped = dropped
        self.discarded = discarded
    }
}
