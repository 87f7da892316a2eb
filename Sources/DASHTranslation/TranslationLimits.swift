/// The limits on the size of a translation; a presentation that exceeds one is rejected or shortened with a report.
package struct TranslationLimits: Sendable, Hashable {
    /// The maximum number of media playlists; further representations are reported as lost.
    ///
    /// 200 by default, more than any packager writes for one presentation.
    package var playlistCount: Int
    /// The maximum number of segments in all playlists together; 2 million by default.
    ///
    /// The entries of timelines and lists count once for each playlist that reads them.
    package var segmentCount: Int64
    /// The maximum number of bytes in all playlists together; 256 MiB by default.
    package var byteCount: Int
    /// The maximum number of events that become date ranges; 1,000 by default, because each playlist repeats them.
    package var eventCount: Int
    /// The maximum number of segments of a period whose events become date ranges, the last ones; 1,000 by default.
    package var eventSegmentCount: Int
    /// The maximum number of losses that are listed; the rest is counted.
    ///
    /// 1,000 by default.
    package var lossCount: Int

    /// Creates limits with the given values.
    package init(
        playlistCount: Int = 200,
        segmentCount: Int64 = 2_000_000,
        byteCount: Int = 256 << 20,
        eventCount: Int = 1_000,
        eventSegmentCount: Int = 1_000,
        lossCount: Int = 1_000
    ) {
        self.playlistCount = playlistCount
        self.segmentCount = segmentCount
        self.byteCount = byteCount
        self.eventCount = eventCount
        self.eventSegmentCount = eventSegmentCount
        self.lossCount = lossCount
    }
}
