public import MediaTiming

/// The indicators of a session: how soon it began, how it went, and what it cost.
///
/// What cannot be said is `nil`: no figure is negative, and none is divided by zero. The names in brackets are those of
/// `PerfMeasurements`, the sample code of AVFoundation that defined some of them.
public struct PlaybackMetrics: Sendable, Hashable {
    /// The time from the start of the session until the play head first moved forwards (`startupTime`).
    public var startupTime: Duration?
    /// The media time that was played (`totalDurationWatched`).
    public var watchedDuration = Duration.zero
    /// How often playing stopped for want of media.
    public var stallCount = 0
    /// How long it stood then, altogether.
    public var stallDuration = Duration.zero
    /// The average of the peak bit rates announced for what was played, each weighing as much as it was played.
    ///
    /// Over the time for which one is known; `nil` without any.
    public var timeWeightedBitrate: BitRate?
    /// The same over all that was played, so that time of which no rate is known counts as 0 bit/s (`timeWeightedIBR`).
    public var timeWeightedBitrateOfAll: BitRate?
    /// How often another variant came to be played; the first of the session does not count.
    public var variantSwitches = 0
    /// How often a switch up was taken back by a switch down before 30 s had been played.
    public var oscillations = 0
    /// How many frames came too late to be shown; `nil` where nothing was decoded.
    public var droppedFrames: Int?
    /// How many frames were decoded; `nil` where nothing was.
    public var decodedFrames: Int?
    /// How many of those were decoded for the sake of others only: what exact seeks cost; `nil` where nothing was decoded.
    public var discardedFrames: Int?
    /// The bytes of everything that came over the network.
    public var bytes = ByteCount.zero
    /// How many media segments came over the network.
    public var mediaRequests = 0
    /// How many failures there were, with and without recovery.
    public var errors = 0

    /// Makes indicators of a session in which nothing has happened.
    public init() {}

    /// How many stalls there are to an hour played (`stallRate`); `nil` where nothing was played.
    public var stallsPerHour: Double? {
        watchedDuration > .zero ? Double(stallCount) / (watchedDuration.inSeconds / 3_600) : nil
    }

    /// The time stalled to the time played, 0 or more (`stallWaitRatio`); `nil` where nothing was played.
    public var stallRatio: Double? {
        watchedDuration > .zero ? stallDuration.inSeconds / watchedDuration.inSeconds : nil
    }
}
