public import HLSPlaylist
public import MediaTiming
public import PlaybackReporting

/// The state of a played item at one moment.
public struct PlaybackSnapshot: Sendable {
    /// The status of the item: unknown, ready to play, or failed.
    public var status = ItemStatus.unknown
    /// The error that playback failed with; `nil` unless ``status`` is failed.
    public var error: StreamingError?
    /// The type of the item: on demand, live, or a media file; `nil` while it is unknown.
    public var playbackType: PlaybackType?
    /// The mapping from clock time to media time, with the rate of the playhead.
    public var timebase = Timebase()
    /// The position of the playhead when the snapshot was made.
    public var position = MediaTime.zero
    /// The rate that the application requested; 0 is a pause.
    public var desiredRate = 0.0
    /// A value that indicates whether the item plays, waits, or is paused.
    public var timeControl = TimeControl.paused
    /// The duration of the item, which is that of its longest required track; `nil` while it is unknown, and for live
    /// streams.
    public var duration: MediaTime?
    /// The time ranges for which the media of all required tracks is loaded.
    public var loadedTimeRanges = MediaTimeRangeSet()
    /// The time ranges without media, which are played as silence and a still frame: gaps, and segments that could not
    /// be loaded.
    public var leftOutTimeRanges = MediaTimeRangeSet()
    /// The time range that can be sought; `nil` while it is unknown.
    public var seekableTimeRange: MediaTimeRange?
    /// A Boolean value that indicates whether playback is likely to continue without a stall.
    public var isPlaybackLikelyToKeepUp = false
    /// A Boolean value that indicates whether no media is buffered ahead of the playhead.
    public var isPlaybackBufferEmpty = true
    /// A Boolean value that indicates whether no more media is fetched until some of the buffer is played.
    public var isPlaybackBufferFull = false
    /// A Boolean value that indicates whether playback has reached the end.
    public var hasPlayedToEnd = false
    /// A Boolean value that indicates whether a seek is in progress; the seek to the start position is not counted.
    public var isSeeking = false
    /// The variants and rendition options of the item; `nil` before its playlist is loaded.
    public var presentation: Presentation?
    /// The options that are selected, by type of media.
    public var selection = MediaSelection()
    /// The variant at the playhead.
    public var playedVariant: VariantDescription?
    /// The variant that is fetched.
    public var fetchedVariant: VariantDescription?
    /// The tracks of the item, as its playlists declare them.
    public var tracks: [PlaybackTrack] = []
    /// The date at the playhead (EXT-X-PROGRAM-DATE-TIME); `nil` for a stream without dates.
    public var programDate: ProgramDateTime?
    /// The live edge: a media time, and the clock time at which the edge was there; `nil` if the stream is not live.
    public var liveEdge: Timebase?
    /// The distance from the live edge that the stream recommends; `nil` if the stream is not live.
    public var recommendedTimeOffsetFromLive: MediaTime?
    /// The date ranges of the playlist, in its order.
    public var dateRanges: [TimedDateRange] = []
    /// The date ranges that schedule interstitials or request that their resources are loaded in advance (RFC 8216bis
    /// appendices D and F).
    public var interstitialRanges: [TimedDateRange] = []
    /// The boundaries of the segments of the required tracks.
    public var segmentBorders = SegmentBoundaries()
    /// The abilities of the pipeline besides playback at normal rate, such as steps and other rates.
    public var abilities = MediaPipelineCapabilities()
    /// The number of frames since the start of playback, by outcome.
    public var frameCounts = FrameCounts()
    /// The estimated throughput of the network; `nil` while it is unknown.
    public var throughput: BitRate?

    /// Creates the snapshot of an item before it is opened.
    public init() {}
}
