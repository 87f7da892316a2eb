public import MediaTiming

extension AccessLog {
    /// The figures of one uninterrupted period of playback.
    ///
    /// The properties are those of `AVPlayerItemAccessLogEvent`, then those of Millstream alone; the name of the field in
    /// the text form is given in parentheses. An unknown value is `nil`, where AVFoundation has a negative number, and `-`
    /// in the text. No value is negative; a negative value is written as unknown.
    public struct Event: Sendable, Hashable {
        /// The URL of the media playlist of the variant that is played (`uri`).
        ///
        /// `nil` in an event that combines periods of several variants.
        public var uri: String?
        /// The IP address of the server that sent the last media segment (`s-ip`).
        public var serverAddress: String?
        /// The number of changes of ``serverAddress`` (`s-ip-changes`); `nil` as long as no address is known.
        public var numberOfServerAddressChanges: Int?
        /// The identifier of the playback session, as sent in request headers (`cs-guid`).
        public var playbackSessionID: String?
        /// The time at which playback began, since 1970-01-01 00:00:00 UTC (`date` and `time`); `nil` before that.
        public var playbackStartDate: Duration?
        /// The position on the timeline of the item at which playback began (`c-start-time`).
        public var playbackStartOffset: Duration?
        /// The playback type (`s-playback-type`).
        public var playbackType: PlaybackType?
        /// The time from the start of the session until the item was ready to play (`c-startup-time`).
        ///
        /// Only the first event of a session has it.
        public var startupTime: Duration?
        /// The media duration of the segments received over the network, of all media types (`c-duration-downloaded`).
        ///
        /// Audio and video in separate segments count separately.
        public var segmentsDownloadedDuration: Duration?
        /// The number of segments that took longer to load than their duration (`c-overdue`).
        public var downloadOverdue: Int?
        /// The number of video frames that were dropped because they were late (`c-frames-dropped`); `nil` if nothing
        /// was decoded.
        public var numberOfDroppedVideoFrames: Int?
        /// The number of complete media segments received over the network (`sc-count`).
        ///
        /// Segments from a cache, failed requests and abandoned transfers do not count.
        public var numberOfMediaRequests: Int?
        /// The number of those requests over a cellular network (`sc-wwan-count`); `nil` if the transport does not
        /// report it.
        public var mediaRequestsWWAN: Int?
        /// The media time that was played, at any rate and in either direction (`c-duration-watched`).
        public var durationWatched: Duration?
        /// The number of stalls, in which playback stopped because the buffer was empty (`c-stalls`).
        ///
        /// A stall counts in the period that it ends.
        public var numberOfStalls: Int?
        /// The number of bytes received over the network, including playlists and keys (`bytes`).
        public var numberOfBytesTransferred: ByteCount?
        /// The time in which at least one response body was being received (`c-transfer-duration`).
        public var transferDuration: Duration?
        /// The bits of media segments divided by the time in which at least one was requested (`c-observed-bitrate`).
        public var observedBitrate: BitRate?
        /// The peak bit rate of the variant according to the playlist (`sc-indicated-bitrate`).
        public var indicatedBitrate: BitRate?
        /// The average bit rate of the variant according to the playlist (`sc-indicated-avg-bitrate`).
        public var indicatedAverageBitrate: BitRate?
        /// The average bit rate of the loaded video segments, or of all segments if audio is muxed
        /// (`c-avg-video-bitrate`).
        public var averageVideoBitrate: BitRate?
        /// The average bit rate of the loaded audio segments; `nil` if audio is muxed with video
        /// (`c-avg-audio-bitrate`).
        public var averageAudioBitrate: BitRate?
        /// The standard deviation of the bit rates at which segments were received (`c-observed-bitrate-sd`).
        ///
        /// The population standard deviation; `nil` for fewer than two segments.
        public var observedBitrateStandardDeviation: BitRate?
        /// The highest bit rate at which a segment was received (`c-observed-max-bitrate`).
        public var observedMaxBitrate: BitRate?
        /// The lowest bit rate at which a segment was received (`c-observed-min-bitrate`).
        public var observedMinBitrate: BitRate?
        /// The estimated throughput at the decision to switch variants (`c-switch-bitrate`).
        ///
        /// Only in the event of a period that began with a switch.
        public var switchBitrate: BitRate?

        /// The number of media segments received over the network, the same as ``numberOfMediaRequests`` (`sc-count`).
        public var numberOfSegmentsDownloaded: Int? { numberOfMediaRequests }

        /// Creates an event without any values.
        public init() {}
    }

    /// The sums over all events of an access log.
    public struct Totals: Sendable, Hashable {
        /// The media time that was played: the sum of the positive values of ``AccessLog/Event/durationWatched``.
        public var durationWatched = Duration.zero
        /// The media duration of the segments received over the network.
        public var segmentsDownloadedDuration = Duration.zero
        /// The time in which response bodies were being received.
        public var transferDuration = Duration.zero
        /// The number of bytes received over the network.
        public var numberOfBytesTransferred = ByteCount.zero
        /// The number of media segments received over the network.
        public var numberOfMediaRequests = 0
        /// The number of stalls.
        public var numberOfStalls = 0
        /// The number of segments that took longer to load than their duration.
        public var downloadOverdue = 0
        /// The number of changes of the server address.
        public var numberOfServerAddressChanges = 0
        /// The number of video frames dropped because they were late; `nil` if nothing was decoded.
        public var numberOfDroppedVideoFrames: Int?
        /// The average of ``AccessLog/Event/indicatedBitrate``, weighted by the time played.
        ///
        /// Only time with a known bit rate counts; `nil` if there is none.
        public var timeWeightedIndicatedBitrate: BitRate?
        /// The average over all time played, in which time with an unknown bit rate counts as 0 bit/s.
        ///
        /// The sample code of AVFoundation uses this definition. The result is too low if an event has no bit rate.
        public var timeWeightedIndicatedBitrateIncludingUnknown: BitRate?

        /// Creates totals that are all zero or `nil`.
        public init() {}
    }
}
