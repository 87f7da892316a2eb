public import HLSPlaylist
public import MediaTiming
public import PlaybackReporting

/// Everything that can be said of an item that is played, at one moment.
public struct PlaybackSnapshot: Sendable {
    /// Whether it can be played.
    public var status = ItemStatus.unknown
    /// Why it cannot; `nil` where ``status`` is not failed.
    public var error: StreamingError?
    /// Whether it plays on demand, live or from a file; `nil` while that is not known.
    public var playbackType: PlaybackType?
    /// Where the play head is, and how it moves.
    public var timebase = Timebase()
    /// Where the play head was when this was said.
    public var position = MediaTime.zero
    /// The rate that was asked for.
    public var desiredRate = 0.0
    /// Whether it plays, waits or stands.
    public var timeControl = TimeControl.paused
    /// How long it is; `nil` while that is not known, and of what is live.
    public var duration: MediaTime?
    /// What is buffered so that it can be played: sound and pictures both.
    public var loadedTimeRanges = MediaTimeRangeSet()
    /// What is passed over in silence and with a still picture: gaps, and what could not be had.
    public var leftOutTimeRanges = MediaTimeRangeSet()
    /// Where the play head can go; `nil` while that is not known.
    public var seekableTimeRange: MediaTimeRange?
    /// Whether what lies ahead suffices to play on.
    public var isPlaybackLikelyToKeepUp = false
    /// Whether nothing lies ahead.
    public var isPlaybackBufferEmpty = true
    /// Whether no more is fetched before some of it is played.
    public var isPlaybackBufferFull = false
    /// Whether the play head stands at the end.
    public var hasPlayedToEnd = false
    /// Whether a seek is under way.
    public var isSeeking = false
    /// What can be played, and in which qualities and languages; `nil` before it was loaded.
    public var presentation: Presentation?
    /// The options that are played.
    public var selection = MediaSelection()
    /// The variant at the play head.
    public var playedVariant: VariantDescription?
    /// The variant that is fetched.
    public var fetchedVariant: VariantDescription?
    /// What it consists of.
    public var tracks: [PlaybackTrack] = []
    /// The date at the play head as the stream says it; `nil` where it does not.
    public var programDate: ProgramDateTime?
    /// When the live edge is, in the time of the item, and when that was so; `nil` of what is not live.
    public var liveEdge: Timebase?
    /// How far from the live edge the stream wants to be played; `nil` of what is not live.
    public var recommendedTimeOffsetFromLive: MediaTime?
    /// The date ranges of the playlist, in its order.
    public var dateRanges: [TimedDateRange] = []
    /// Those of them that say what is played in between, and what of it is to be loaded ahead (RFC 8216bis appendices D and F).
    public var interstitialRanges: [TimedDateRange] = []
    /// Where the segments meet that it is played from.
    public var segmentBorders = SegmentBorders()
    /// What can be done besides playing forwards.
    public var abilities = MediaPipelineAbilities()
    /// Frames so far.
    public var frameCounts = FrameCounts()
    /// What the network is thought to carry.
    public var throughput: BitRate?

    /// Makes the snapshot of an item of which nothing is known.
    public init() {}
}
