public import MediaTiming

extension AccessLog {
    /// One uninterrupted period of play: the properties of `AVPlayerItemAccessLogEvent`, with the field of the text of each.
    ///
    /// What is not known is `nil`, where AVFoundation has a negative number, and `-` in the text. No figure is negative: a
    /// negative one counts as not known when it is written.
    public struct Event: Sendable, Hashable {
        /// The address of the playlist of the variant that is played (`uri`).
        ///
        /// `nil` in an event that stands for periods of several variants.
        public var uri: String?
        /// The numeric address of the server that sent the last media segment (`s-ip`).
        public var serverAddress: String?
        /// How often ``serverAddress`` changed (`s-ip-changes`); `nil` until there is one.
        public var numberOfServerAddressChanges: Int?
        /// The session, as headers name it (`cs-guid`).
        public var playbackSessionID: String?
        /// When playing began, as the time since 1970-01-01 00:00:00 UTC (`date` and `time`); `nil` until it does.
        public var playbackStartDate: Duration?
        /// Where on the timeline of the item it began (`c-start-time`).
        public var playbackStartOffset: Duration?
        /// What kind of thing is played (`s-playback-type`).
        public var playbackType: PlaybackType?
        /// The time from the start of the session until the item could be played (`c-startup-time`).
        ///
        /// Only the first event of a session has it.
        public var startupTime: Duration?
        /// The media time of the segments that came over the network, of every kind of media (`c-duration-downloaded`).
        ///
        /// Picture and sound in segments of their own count both.
        public var segmentsDownloadedDuration: Duration?
        /// How many segments took longer to load than they play (`c-overdue`).
        public var downloadOverdue: Int?
        /// How many frames came too late to be shown (`c-frames-dropped`); `nil` where nothing was decoded.
        public var numberOfDroppedVideoFrames: Int?
        /// How many media segments came over the network (`sc-count`).
        ///
        /// Those from a cache, those that failed and those given up on the way do not count.
        public var numberOfMediaRequests: Int?
        /// How many of those went over a cellular network (`sc-wwan-count`); `nil` where nobody can tell.
        public var mediaRequestsWWAN: Int?
        /// The media time that was played, at any speed and in either direction (`c-duration-watched`).
        public var durationWatched: Duration?
        /// How often playing stopped for want of media (`c-stalls`).
        ///
        /// A stall ends the period in which it counts.
        public var numberOfStalls: Int?
        /// The bytes of everything that came over the network: media, playlists and keys (`bytes`).
        public var numberOfBytesTransferred: ByteCount?
        /// The time during which bytes came, from the first to the last of each answer, however many at once
        /// (`c-transfer-duration`).
        public var transferDuration: Duration?
        /// The bits of media segments over the time during which at least one was asked for (`c-observed-bitrate`).
        public var observedBitrate: BitRate?
        /// The peak bit rate that the playlist announces for the variant (`sc-indicated-bitrate`).
        public var indicatedBitrate: BitRate?
        /// The average bit rate that it announces (`sc-indicated-avg-bitrate`).
        public var indicatedAverageBitrate: BitRate?
        /// The bit rate of the picture by the segments loaded, or of all where picture and sound are in one
        /// (`c-avg-video-bitrate`).
        public var averageVideoBitrate: BitRate?
        /// The bit rate of the sound by the segments loaded; `nil` where it is in one with the picture
        /// (`c-avg-audio-bitrate`).
        public var averageAudioBitrate: BitRate?
        /// How far the rates of single segments lie from their mean (`c-observed-bitrate-sd`).
        ///
        /// The standard deviation of the population; `nil` for fewer than two segments.
        public var observedBitrateStandardDeviation: BitRate?
        /// The greatest rate at which a segment came (`c-observed-max-bitrate`).
        public var observedMaxBitrate: BitRate?
        /// The least rate at which a segment came (`c-observed-min-bitrate`).
        public var observedMinBitrate: BitRate?
        /// What the network was thought to carry when it was decided to switch (`c-switch-bitrate`).
        ///
        /// Only in the event of a period that began with a switch.
        public var switchBitrate: BitRate?

        /// How many media segments came over the network: another name of ``numberOfMediaRequests`` (`sc-count`).
        public var numberOfSegmentsDownloaded: Int? { numberOfMediaRequests }

        /// Makes an event of which nothing is known.
        public init() {}
    }
}
