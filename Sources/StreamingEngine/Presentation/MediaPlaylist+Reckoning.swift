import HLSPlaylist
import MediaTiming

extension MediaPlaylist {
    /// The media sequence numbers of the segments that it lists.
    var segmentSequences: Range<Int64> {
        let first = mediaSequence +| skippedSegmentCount
        return first..<(first +| Int64(segments.count))
    }

    /// The target duration that times are reckoned with, 1 s to 120 s.
    ///
    /// Where the required tag is missing, the longest of the last segments stands for it (§4.4.3.1).
    var effectiveTargetDuration: MediaTime {
        let longest = segments.indices.suffix(8).map { segments.timeRange(at: $0).duration }.max()
        let declared = targetDuration ?? longest.map { MediaTime(seconds: $0.roundedSeconds) } ?? MediaTime(seconds: 6)
        return min(max(declared, MediaTime(seconds: 1)), MediaTime(seconds: 120))
    }

    /// The part target duration, 50 ms to 10 s; `nil` where it has no parts (§4.4.3.7).
    var effectivePartTarget: MediaTime? {
        guard let partTargetDuration, partTargetDuration > .zero else { return nil }
        return min(max(partTargetDuration, MediaTime(value: 1, timescale: 20)), MediaTime(seconds: 10))
    }
}
