import MediaTiming

extension ReloadSchedule {
    /// The options for reloading a live playlist.
    package struct Options: Sendable, Hashable {
        /// A Boolean value that indicates whether partial segments are loaded as they become available.
        ///
        /// If `false`, a playlist with partial segments is reloaded like one without them: at most once for each target
        /// duration, because updates that only add partial segments would be requested for nothing.
        ///
        /// Default: false. It has no effect if the playlist has no partial segments.
        package var isLowLatency = false
        /// A Boolean value that indicates whether blocking playlist reloads are used.
        ///
        /// Default: true.
        package var usesBlockingReloads = true
        /// A Boolean value that indicates whether playlist delta updates are used.
        ///
        /// Default: true.
        package var usesDeltaUpdates = true

        /// The minimum time between the starts of two requests without blocking.
        ///
        /// Default: 500 ms, half of the smallest target duration: if a server declares less, it is not requested more
        /// often.
        package var minimumInterval: Duration = .milliseconds(500)
        /// The minimum time between the starts of two blocking requests for partial segments.
        ///
        /// Default: 100 ms, half of the shortest useful duration of a partial segment.
        package var minimumBlockingInterval: Duration = .milliseconds(100)
        /// The delay of an expected update, in target durations, after which the playlist counts as stuck.
        ///
        /// Default: 1.5. An update is expected one target duration after the last, and a player holds back three; so
        /// half a target duration remains to switch to another playlist before playback stalls.
        package var stuckThreshold = 1.5
        /// The delay of an expected update, in target durations, after which the playlist is abandoned.
        ///
        /// Default: 10.
        package var abandonmentThreshold = 10.0
        /// The minimum time without an update after which the playlist is abandoned.
        ///
        /// Default: 30 s, so that playlists with short segments are not abandoned too early.
        package var minimumAbandonmentDelay: Duration = .seconds(30)

        /// Creates the default options.
        package init() {}
    }
}
