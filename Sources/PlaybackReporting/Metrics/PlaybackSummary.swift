public import MediaTiming

/// The summary of a session, with the properties of `AVMetricPlayerItemPlaybackSummaryEvent`.
public struct PlaybackSummary: Sendable, Hashable {
    /// The error that ended playback, or `nil` if there was none.
    public let errorEvent: PlaybackErrorRecord?
    /// The number of errors after which playback continued.
    public let recoverableErrorCount: Int
    /// The number of stalls.
    public let stallCount: Int
    /// The number of times that another variant began to be played.
    public let variantSwitchCount: Int
    /// The media time that was played.
    public let playbackDuration: Duration
    /// The number of requests for playlists, media and keys, including those answered from a cache.
    public let mediaResourceRequestCount: Int
    /// The total duration of the stalls.
    public let timeSpentRecoveringFromStall: Duration
    /// The time until playback first began, or `nil` if it never did.
    public let timeSpentInInitialStartup: Duration?
    /// The average of the average bit rates of the variants, weighted by time played; `nil` if none is known.
    public let timeWeightedAverageBitrate: BitRate?
    /// The average of the peak bit rates of the variants, weighted by time played; `nil` if none is known.
    public let timeWeightedPeakBitrate: BitRate?

    /// Creates a summary.
    public init(
        errorEvent: PlaybackErrorRecord?,
        recoverableErrorCount: Int,
        stallCount: Int,
        variantSwitchCount: Int,
        playbackDuration: Duration,
        mediaResourceRequestCount: Int,
        timeSpentRecoveringFromStall: Duration,
        timeSpentInInitialStartup: Duration?,
        timeWeightedAverageBitrate: BitRate?,
        timeWeightedPeakBitrate: BitRate?
    ) {
        self.errorEvent = errorEvent
        self.recoverableErrorCount = recoverableErrorCount
        self.stallCount = stallCount
        self.variantSwitchCount = variantSwitchCount
        self.playbackDuration = playbackDuration
        self.mediaResourceRequestCount = mediaResourceRequestCount
        self.timeSpentRecoveringFromStall = timeSpentRecoveringFromStall
        self.timeSpentInInitialStartup = timeSpentInInitialStartup
        self.timeWeightedAverageBitrate = timeWeightedAverageBitrate
        self.timeWeightedPeakBitrate = timeWeightedPeakBitrate
    }
}
