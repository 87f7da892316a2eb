import MediaTiming

extension ReloadSchedule {
    /// How a live playlist is kept fresh.
    package struct Options: Sendable, Hashable {
        /// Whether parts are wanted as they come.
        ///
        /// Defaults to yes; it has no effect where there are none.
        package var isLowLatency = true
        /// Whether requests may be held by the server until there is news.
        ///
        /// Defaults to yes.
        package var usesBlockingReloads = true
        /// Whether the server may leave out what is known.
        ///
        /// Defaults to yes.
        package var usesDeltaUpdates = true

        /// The least time between the beginnings of two requests that the server answers at once.
        ///
        /// Defaults to 500 ms, half of the smallest target duration: a server that declares less is not asked more
        /// often.
        package var shortestInterval: Duration = .milliseconds(500)
        /// The least time between the beginnings of two requests that the server holds.
        ///
        /// Defaults to 100 ms, half of the shortest part that is of use.
        package var shortestBlockingInterval: Duration = .milliseconds(100)
        /// After how many target durations without the news that was due the playlist counts as stuck.
        ///
        /// Defaults to 1.5. News is due one target duration after the last, and a player holds back three: so half a target
        /// duration is left to go elsewhere before the picture stands still.
        package var stuckAfter = 1.5
        /// After how many target durations without the news that was due there is no hope.
        ///
        /// Defaults to 10.
        package var abandonAfter = 10.0
        /// The least time without news before there is no hope.
        ///
        /// Defaults to 30 s: short segments are no reason to be hasty.
        package var shortestPatience: Duration = .seconds(30)

        /// Makes the options that are the defaults.
        package init() {}
    }
}
