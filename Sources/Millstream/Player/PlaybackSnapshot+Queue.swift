import MediaTiming
import PlaybackReporting
import StreamingEngine

extension PlaybackSnapshot {
    /// The maximum distance between the end of the loaded media and the end of the item, since tracks of an item can
    /// end at different times.
    private static let endTolerance = MediaTime(seconds: 1)

    /// A Boolean value that indicates whether everything up to the end is loaded, so that the network is free for the
    /// next item.
    var isLoadedToEnd: Bool {
        guard status == .readyToPlay, playbackType != .live, let duration else { return false }
        if hasPlayedToEnd { return true }
        // Media before the playhead is removed from the buffer after a while, so the anchor of the timebase may no
        // longer be loaded.
        let position = max(position, timebase.mediaTime)
        var loadedTimeRanges = loadedTimeRanges
        for range in leftOutTimeRanges.ranges { loadedTimeRanges.insert(range) }
        // The playhead may be slightly before the first frame.
        let range =
            loadedTimeRanges.range(containing: position)
            ?? loadedTimeRanges.ranges.first { $0.start > position && $0.start - position <= Self.endTolerance }
        guard let range else { return false }
        return range.end + Self.endTolerance >= duration
    }
}
