public import MediaTiming

/// A session in a few figures: the properties of `AVMetricPlayerItemPlaybackSummaryEvent`.
public struct PlaybackSummary: Sendable, Hashable {
    /// The failure that ended it; `nil` where none did.
    public let errorEvent: PlaybackErrorRecord?
    /// How many failures it went on after.
    public let recoverableErrorCount: Int
    /// How often playing stopped for want of media.
    public let stallCount: Int
    /// How often another variant came to be played.
    public let variantSwitchCount: Int
    /// The media time that was played.
    public let playbackDuration: Duration
    /// How many requests there were for anything: playlists, media and keys, from caches too.
    public let mediaResourceRequestCount: Int
    /// How long it stood for want of media.
    public let timeSpentRecoveringFromStall: Duration
    /// How long it took until the play head first moved; `nil` where it never did.
    public let timeSpentInInitialStartup: Duration?
    /// The average of the average bit rates announced, by time played; `nil` where none is known.
    public let timeWeightedAverageBitrate: BitRate?
    /// The average of the peak bit rates announced, by time played; `nil` where none is known.
    public let timeWeightedPeakBitrate: BitRate?

    /// Makes a summary.
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
