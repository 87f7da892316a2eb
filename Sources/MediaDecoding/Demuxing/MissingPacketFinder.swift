import MediaTiming
import SegmentFormat

/// A detector of missing media in a transport stream that is received in chunks.
///
/// The continuity counters show that packets are missing, and the timestamps of each track show the time range. The
/// timestamps alone are not sufficient, because a picture may be shown for a long time. A track may have lost a multiple
/// of 16 packets, which its own counter does not show, so the counters of all streams count.
struct MissingPacketFinder {
    /// The number of presentation times of each track that are retained for the next chunk.
    ///
    /// Several times are needed, because pictures are not in the order of their presentation.
    private static let retainedTimeCount = 32
    /// The maximum distance of a valid presentation time from those of the chunk, in seconds; damaged timestamps are farther
    /// away.
    private static let maximumDistance = 120.0

    private var continuity = TransportContinuity()
    /// The latest presentation times of the previous chunk, by track identifier, in ascending order.
    private var lastTimes: [Int: [MediaTime]] = [:]

    /// Records the media that is missing in a chunk, or between the chunk and the one before.
    ///
    /// - Parameters:
    ///   - chunk: The demuxed chunk, in which the lost time ranges are recorded.
    ///   - packets: The packets of the chunk, of 188 bytes each.
    mutating func recordLosses(in chunk: inout DemuxedSegment, packets: Span<UInt8>) {
        let isIncomplete = !continuity.takeDiscontinuousPIDs(in: packets).isEmpty
        for track in chunk.tracks where track.kind == .video || track.kind == .audio {
            let new = chunk.packets.filter { $0.trackID == track.id }.map(\.presentationTime).sorted()
            guard !new.isEmpty else { continue }
            let middle = new[new.count / 2]
            let times = ((lastTimes[track.id] ?? []) + new)
                .filter { abs(($0 - middle).seconds) < Self.maximumDistance }.sorted()
            lastTimes[track.id] = Array(times.suffix(Self.retainedTimeCount))
            guard isIncomplete, let range = DecodableSegment.longestInterruption(ofSamplesAt: times) else { continue }
            chunk.recordLostRange(range, ofTrack: track.id)
            // Without the times before the range, the range is not recorded again for the next chunk.
            lastTimes[track.id] = times.suffix(Self.retainedTimeCount).filter { $0 >= range.end }
        }
    }
}
