public import MediaTiming

/// The metrics of a session: startup time, quality, stalls, and resources used.
///
/// An unknown value is `nil`; no value is negative or the result of a division by zero. The names in parentheses are
/// those of `PerfMeasurements`, the sample code of AVFoundation that defines some of them.
public struct PlaybackMetrics: Sendable, Hashable {
    /// The time from the start of the session until playback first began (`startupTime`).
    public var startupTime: Duration?
    /// The media time that was played (`totalDurationWatched`).
    ///
    /// Time in ``skippedDuration`` does not count, so that the sum of both is the media time that the playhead passed.
    public var watchedDuration = Duration.zero
    /// The media time that the playhead passed without video or audio that belongs there, because segments are marked as
    /// gaps, or could not be loaded or decoded.
    ///
    /// Time in which only one of two tracks has media counts too. Media that is known to be damaged only after it was
    /// passed counts from then on, unless playback stalled, a seek began or another variant was played in between.
    public var skippedDuration = Duration.zero
    /// The number of segments, and of damaged parts of segments, that were left out; each one has an event
    /// ``PlaybackEvent/Kind/segmentSkipped(_:)``.
    public var skippedSegments = 0
    /// The number of stalls, in which playback stopped because the buffer was empty.
    public var stallCount = 0
    /// The total duration of the stalls.
    public var stallDuration = Duration.zero
    /// The average peak bit rate of the played variants according to the playlist, weighted by the time played.
    ///
    /// Only time with a known bit rate counts; `nil` if there is none.
    public var timeWeightedBitrate: BitRate?
    /// The average over all time played, in which time with an unknown bit rate counts as 0 bit/s (`timeWeightedIBR`).
    public var timeWeightedBitrateIncludingUnknown: BitRate?
    /// The number of times that another variant began to be played; the first one does not count.
    public var variantSwitches = 0
    /// The number of switches up that were reversed by a switch down within 30 s of played media.
    public var oscillations = 0
    /// The number of video frames dropped because they were late; `nil` if nothing was decoded.
    public var droppedFrames: Int?
    /// The number of decoded video frames; `nil` if nothing was decoded.
    public var decodedFrames: Int?
    /// The number of frames that were decoded only to decode others, the cost of exact seeks; `nil` if nothing was
    /// decoded.
    public var discardedFrames: Int?
    /// The number of bytes received over the network, or read from a file, with playlists, indexes and what was received
    /// more than once.
    public var bytes = ByteCount.zero
    /// The number of media segments received over the network, or read from files, completely.
    public var mediaRequests = 0
    /// The number of errors, with and without recovery.
    public var errors = 0
    /// The distance of the playhead from the live edge at the end of playback; `nil` if the stream is not live.
    ///
    /// The observer of the playhead sets this property, because the events of playback do not have the distance.
    public var liveLatency: Duration?
    /// The date of the media at the playhead at the end of playback (EXT-X-PROGRAM-DATE-TIME); `nil` if the stream has no
    /// dates.
    ///
    /// The observer of the playhead sets this property.
    public var programDateTime: String?

    /// Creates the metrics of a session without any events.
    public init() {}

    /// The number of stalls per hour of played media (`stallRate`), or `nil` if nothing was played.
    public var stallsPerHour: Double? {
        watchedDuration > .zero ? Double(stallCount) / (watchedDuration.inSeconds / 3_600) : nil
    }

    /// The duration of stalls divided by the time played (`stallWaitRatio`), or `nil` if nothing was played.
    public var stallRatio: Double? {
        watchedDuration > .zero ? stallDuration.inSeconds / watchedDuration.inSeconds : nil
    }
}
