import HLSPlaylist
import MediaTiming

extension MediaPlaylist {
    /// The media sequence numbers of the segments in the playlist.
    var segmentSequences: Range<Int64> {
        let first = mediaSequence +| skippedSegmentCount
        return first..<(first +| Int64(segments.count))
    }

    /// The target duration that is used for timing, 1 s to 120 s.
    ///
    /// If the required tag is missing, it is the longest duration of the last eight segments (§4.4.3.1).
    var effectiveTargetDuration: MediaTime {
        let longest = segments.indices.suffix(8).map { segments.timeRange(at: $0).duration }.max()
        let declared = targetDuration ?? longest.map { MediaTime(seconds: $0.roundedSeconds) } ?? MediaTime(seconds: 6)
        return min(max(declared, MediaTime(seconds: 1)), MediaTime(seconds: 120))
    }

    /// The part target duration, 50 ms to 10 s; `nil` if there are no partial segments (§4.4.3.7).
    var effectivePartTarget: MediaTime? {
        guard let partTargetDuration, partTargetDuration > .zero else { return nil }
        return min(max(partTargetDuration, MediaTime(value: 1, timescale: 20)), MediaTime(seconds: 10))
    }
}
