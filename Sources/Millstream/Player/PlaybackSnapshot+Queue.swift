import MediaTiming
import PlaybackReporting
import StreamingEngine

extension PlaybackSnapshot {
    /// Tracks of one item end at different times: what is nearer to the end than this counts as loaded.
    private static let endTolerance = MediaTime(seconds: 1)

    /// Whether everything up to the end is loaded, so that the network is free for the next item.
    var isLoadedToEnd: Bool {
        guard status == .readyToPlay, playbackType != .live, let duration else { return false }
        if hasPlayedToEnd { return true }
        // What lies behind the play head is forgotten after a while, and with it where it set out.
        let position = max(position, timebase.mediaTime)
        var loadedTimeRanges = loadedTimeRanges
        for range in leftOutTimeRanges.ranges { loadedTimeRanges.insert(range) }
        // The play head may stand a little before the first picture.
        let range =
            loadedTimeRanges.range(containing: position)
            ?? loadedTimeRanges.ranges.first { $0.start > position && $0.start - position <= Self.endTolerance }
        guard let range else { return false }
        return range.end + Self.endTolerance >= duration
    }
}
