package import HLSPlaylist
package import MediaTiming
package import PlaybackReporting
package import SegmentFormat

/// The state of a played item at one moment.
package struct PlaybackSnapshot: Sendable {
    /// The status of the item: unknown, ready to play, or failed.
    package var status = ItemStatus.unknown
    /// The error that playback failed with; `nil` unless ``status`` is failed.
    package var error: StreamingError?
    /// The type of the item: on demand, live, or a media file; `nil` while it is unknown.
    package var playbackType: PlaybackType?
    /// The mapping from clock time to media time, with the rate of the playhead.
    package var timebase = Timebase()
    /// The position of the playhead when the snapshot was made.
    package var position = MediaTime.zero
    /// The rate that the application requested; 0 is a pause.
    package var desiredRate = 0.0
    /// A value that indicates whether the item plays, waits, or is paused.
    package var timeControl = TimeControl.paused
    /// The duration of the item, which is that of its longest required track; `nil` while it is unknown, and for live
    /// streams.
    package var duration: MediaTime?
    /// The time ranges for which the media of all required tracks is loaded.
    package var loadedTimeRanges = MediaTimeRangeSet()
    /// The time ranges without media, which are played as silence and a still frame: gaps, and segments that could not
    /// be loaded.
    package var leftOutTimeRanges = MediaTimeRangeSet()
    /// The time range that can be sought; `nil` while it is unknown.
    package var seekableTimeRange: MediaTimeRange?
    /// A Boolean value that indicates whether playback is likely to continue without a stall.
    package var isPlaybackLikelyToKeepUp = false
    /// A Boolean value that indicates whether no media is buffered ahead of the playhead.
    package var isPlaybackBufferEmpty = true
    /// A Boolean value that indicates whether no more media is fetched until some of the buffer is played.
    package var isPlaybackBufferFull = false
    /// A Boolean value that indicates whether playback has reached the end.
    package var hasPlayedToEnd = false
    /// A Boolean value that indicates whether a seek is in progress; the seek to the start position is not counted.
    package var isSeeking = false
    /// The variants and rendition options of the item; `nil` before its playlist is loaded.
    package var presentation: Presentation?
    /// The options that are selected, by type of media.
    package var selection = MediaSelection()
    /// The variant at the playhead.
    package var playedVariant: VariantDescription?
    /// The variant that is fetched.
    package var fetchedVariant: VariantDescription?
    /// The tracks of the item, as its playlists declare them.
    package var tracks: [PlaybackTrack] = []
    /// The title, the artist, the album and the artwork of a media file; empty for a stream.
    package var metadata = MediaFileMetadata()
    /// The date at the playhead (EXT-X-PROGRAM-DATE-TIME); `nil` for a stream without dates.
    package var programDate: ProgramDateTime?
    /// The live edge: a media time, and the clock time at which the edge was there; `nil` if the stream is not live.
    package var liveEdge: Timebase?
    /// The distance from the live edge that the stream recommends; `nil` if the stream is not live.
    package var recommendedTimeOffsetFromLive: MediaTime?
    /// The date ranges of the playlist, in its order.
    package var dateRanges: [TimedDateRange] = []
    /// The date ranges that schedule interstitials or request that their resources are loaded in advance (RFC 8216bis
    /// appendices D and F).
    package var interstitialRanges: [TimedDateRange] = []
    /// The boundaries of the segments of the required tracks.
    package var segmentBorders = SegmentBoundaries()
    /// The abilities of the pipeline besides playback at normal rate, such as steps and other rates.
    package var abilities = MediaPipelineCapabilities()
    /// The number of frames since the start of playback, by outcome.
    package var frameCounts = FrameCounts()
    /// The size at which the current video frame is shown, in square pixels; `nil` if no video was decoded.
    package var videoSize: VideoSize?
    /// The average bit rate of the buffered audio and video; `nil` while nothing is buffered.
    package var bufferedBitRate: BitRate?
    /// The estimated throughput of the network; `nil` while it is unknown.
    package var throughput: BitRate?
    /// The response that playback waits for; `nil` while it does not wait, and if nothing is requested.
    package var wait: PlaybackWait?

    /// Creates the snapshot of an item before it is opened.
    package init() {}
}
