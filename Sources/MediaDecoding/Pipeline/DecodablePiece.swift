import MediaTiming
import PlaybackReporting
import SegmentFormat
import StreamingEngine

/// A piece that was taken apart, and waits until its time comes.
struct DecodablePiece: Sendable {
    /// The packets of one track.
    struct Samples: Sendable {
        let format: TrackFormat
        /// In the order of decoding.
        let packets: [MediaPacket]
        /// The earliest presentation time, in the container's time.
        let firstTimestamp: MediaTime
        /// After how much time the container's timestamps begin anew.
        let wrap: MediaTime?
        /// About how much memory the packets take, in bytes.
        let byteCount: Int

        /// Picks the packets of a track; `nil` where there are none.
        init?(_ segment: DemuxedSegment, _ format: TrackFormat, wrap: MediaTime?) {
            let packets = segment.packets.filter { $0.trackID == format.id }
            guard let first = packets.first else { return nil }
            self.format = format
            self.packets = packets
            byteCount = packets.reduce(0) { $0 + $1.byteCount + MediaPacket.overhead }
            self.wrap = wrap
            // Damaged timestamps are far from those of the others.
            let middle = packets[packets.count / 2].presentationTime
            let likely = packets.lazy.map(\.presentationTime).filter { abs(($0 - middle).seconds) < Self.longest }
            firstTimestamp = likely.min() ?? first.presentationTime
        }

        /// No segment is longer than this, in seconds.
        private static let longest = 120.0
    }

    let type: MediaType
    /// Where the playlist has it.
    let range: MediaTimeRange
    let domain: MediaPiece.Domain
    /// What is to be added to its timestamps, where that is known.
    var knownOffset: MediaTime?
    /// Whether not all of it could be read.
    var isDamaged = false
    let video: Samples?
    let audio: Samples?

    /// Where the timestamps of some samples lie in the playlist's eyes.
    ///
    /// Playlists are made by the lengths of pictures, so where there are any their first one counts for sound, too.
    func stretch(_ samples: Samples) -> TimestampMapping.Stretch {
        let leading = video ?? samples
        return TimestampMapping.Stretch(
            domain: domain,
            firstTimestamp: leading.firstTimestamp,
            range: range,
            hasPictures: leading.format.kind == .video,
            wrap: leading.wrap,
            isDamaged: isDamaged,
            known: knownOffset
        )
    }

    /// Whether something at a time can belong to this, with an offset that its timestamps have.
    func isPlausible(_ time: MediaTime, offset: MediaTime) -> Bool {
        // Files that are cut anywhere tell their times roughly.
        guard knownOffset == nil else {
            let slack = MediaTime(seconds: 60)
            return time >= range.start - slack && time <= range.end + slack
        }
        let slack = MediaTime(value: 1, timescale: 2)
        let deviation = (video ?? audio).map { $0.firstTimestamp + offset - range.start } ?? .zero
        return time >= range.start + deviation - slack && time <= range.end + deviation + slack
    }
}
