public import HLSPlaylist
public import MediaTiming
public import PlaybackReporting
import SegmentFormat
public import StreamingEngine

extension PlayerItem {
    /// The status of an item: whether it can be played.
    public typealias Status = ItemStatus

    /// The state of an item at one moment; each property can also be read from the item itself.
    public struct State: Sendable {
        /// The last snapshot of the engine.
        var playback = PlaybackSnapshot()
        var configuration = ItemConfiguration()

        /// The status of the item; unknown until an engine has loaded it, which requires that the item is in a player.
        public var status: Status { playback.status }
        /// The error because of which the item cannot be played; `nil` unless ``status`` is `failed`.
        public var error: StreamingError? { playback.error }
        /// The playback type: on demand, live or file; `nil` until it is known.
        public var playbackType: PlaybackType? { playback.playbackType }
        /// The duration; `nil`, which means indefinite, before the item is ready and for a live stream.
        public var duration: MediaTime? { playback.duration }
        /// The buffered time ranges, which can contain gaps.
        public var loadedTimeRanges: MediaTimeRangeSet { playback.loadedTimeRanges }
        /// The time ranges to which the playhead can seek: the whole item on demand, or the current window of a live
        /// stream.
        public var seekableTimeRanges: MediaTimeRangeSet {
            MediaTimeRangeSet(playback.seekableTimeRange.map { [$0] } ?? [])
        }
        /// A Boolean value that indicates whether the buffer suffices to play without a stall.
        public var isPlaybackLikelyToKeepUp: Bool { playback.isPlaybackLikelyToKeepUp }
        /// A Boolean value that indicates whether no media is buffered ahead of the playhead.
        public var isPlaybackBufferEmpty: Bool { playback.isPlaybackBufferEmpty }
        /// A Boolean value that indicates whether the buffer is full, so that loading continues only after some of it
        /// has been played.
        public var isPlaybackBufferFull: Bool { playback.isPlaybackBufferFull }
        /// The timebase of the playhead: its position and rate.
        public var timebase: Timebase { playback.timebase }
        /// A Boolean value that indicates whether the item has been played to its end.
        public var hasPlayedToEnd: Bool { playback.hasPlayedToEnd }
        /// The tracks of the item, which can change with the variant.
        public var tracks: [PlayerItemTrack] { PlayerItemTrack.tracks(of: self) }
        /// The title, the artist, the album and the artwork of a media file, as far as it has them; empty for a stream,
        /// and before the index of the file is loaded.
        ///
        /// Metadata that is part of the media, such as the ID3 tags of a stream, is in ``PlayerItem/timedMetadata``.
        public var commonMetadata: [MetadataItem] { MetadataItem.items(of: playback.metadata) }
        /// The title of the content: that of a media file, or the session data `com.apple.hls.title` of a stream
        /// (RFC 8216bis §4.4.6.4); `nil` if it has none, and before it is loaded.
        public var title: String? { playback.metadata.title ?? playback.presentation?.title }
        /// The size of the video that is shown, in square pixels: that of the decoded frames, or the resolution in the
        /// playlist before the first frame; `nil` if both are unknown, or if there is no video.
        public var presentationSize: Resolution? {
            if let size = playback.videoSize { return Resolution(width: size.width, height: size.height) }
            guard let variant = playback.playedVariant, let width = variant.width, let height = variant.height
            else { return nil }
            return Resolution(width: width, height: height)
        }
        /// The variant at the playhead; `nil` before one is played.
        public var playedVariant: VariantDescription? { playback.playedVariant }
        /// The variant whose segments are loaded; `nil` before one is chosen.
        public var loadedVariant: VariantDescription? { playback.fetchedVariant }
        /// The estimated throughput of the network; `nil` while it is unknown.
        public var throughput: BitRate? { playback.throughput }
        /// The response that playback waits for; `nil` if nothing is requested.
        package var wait: PlaybackWait? { playback.wait }
        /// The numbers of video frames that were decoded and dropped in the current session.
        public var frameCounts: FrameCounts { playback.frameCounts }
        /// A Boolean value that indicates whether a seek is in progress.
        public var isSeeking: Bool { playback.isSeeking }
        /// The current media selection, including choices that are not yet played.
        public var currentMediaSelection: MediaSelection { configuration.selection(over: playback) }
        /// The distance from the live edge that the stream recommends; `nil` if it is not live.
        public var recommendedTimeOffsetFromLive: MediaTime? { playback.recommendedTimeOffsetFromLive }
        /// Returns the distance of the playhead from the live edge of the stream.
        ///
        /// - Parameter now: The time of the player's clock.
        /// - Returns: The distance; `nil` if the stream is not live.
        public func timeOffsetFromLive(at now: Duration) -> MediaTime? {
            guard playbackType == .live, let edge = playback.liveEdge else { return nil }
            return max(.zero, edge.mediaTime(at: now) - timebase.mediaTime(at: now))
        }
        /// The current date ranges of the stream, in the order of its playlist.
        public var dateRanges: [TimedDateRange] { playback.dateRanges }
        /// The kinds of playback that the item supports besides playback at normal speed.
        public var abilities: PlaybackAbilities { PlaybackAbilities(playback) }
        /// A Boolean value that indicates whether the item supports the rate -1.
        public var canPlayReverse: Bool { abilities.canPlayReverse }
        /// A Boolean value that indicates whether the item supports rates below -1.
        public var canPlayFastReverse: Bool { abilities.canPlayFastReverse }
        /// A Boolean value that indicates whether the item supports rates between -1 and 0.
        public var canPlaySlowReverse: Bool { abilities.canPlaySlowReverse }
        /// A Boolean value that indicates whether the item supports rates above 1.
        public var canPlayFastForward: Bool { abilities.canPlayFastForward }
        /// A Boolean value that indicates whether the item supports rates between 0 and 1.
        public var canPlaySlowForward: Bool { abilities.canPlaySlowForward }
        /// A Boolean value that indicates whether the item supports stepping forward by frames.
        public var canStepForward: Bool { abilities.canStepForward }
        /// A Boolean value that indicates whether the item supports stepping backward by frames.
        public var canStepBackward: Bool { abilities.canStepBackward }
    }
}
