import HLSPlaylist
import MediaTransport

/// The date ranges and the segment boundaries of the playlists of an item.
struct PlaylistContents: Sendable {
    /// The date ranges of the main track.
    private(set) var dateRanges: [TimedDateRange] = []
    /// The date ranges that schedule interstitials, or request that their resources are loaded in advance.
    private(set) var interstitialRanges: [TimedDateRange] = []
    /// The segment boundaries of the required tracks.
    private(set) var segmentBoundaries = SegmentBoundaries()

    /// Updates the contents after a playlist was loaded.
    ///
    /// During trick play, the date ranges remain those of the playlist before it.
    ///
    /// - Parameters:
    ///   - kind: The track of the playlist.
    ///   - tracks: The tracks of the item, with the new playlist.
    mutating func update(afterLoadOf kind: TrackKind, _ tracks: TrackSet) {
        if kind == .main, !tracks.trickPlay.isActive, let timeline = tracks.main.timeline {
            dateRanges = TimedDateRange.ranges(of: timeline)
            let classes = [Interstitial.classIdentifier, DateRangePreload.classIdentifier]
            interstitialRanges = dateRanges.filter { range in range.classIdentifier.map(classes.contains) ?? false }
        }
        let timelines = tracks.required.compactMap { tracks.fullTimeline(of: $0) }
        segmentBoundaries = SegmentBoundaries(timelines, revision: segmentBoundaries.revision + 1)
    }
}
