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

        /// Picks the packets of a track; `nil` where there are none.
        init?(_ segment: DemuxedSegment, _ format: TrackFormat, wrap: MediaTime?) {
            let packets = segment.packets.filter { $0.trackID == format.id }
            guard let first = packets.first else { return nil }
            self.format = format
            self.packets = packets
            self.wrap = wrap
            firstTimestamp = packets.reduce(first.presentationTime) { min($0, $1.presentationTime) }
        }
    }

    let type: MediaType
    /// Where the playlist has it.
    let range: MediaTimeRange
    let domain: MediaPiece.Domain
    let video: Samples?
    let audio: Samples?

    /// Where the timestamps of some samples lie in the playlist's eyes.
    func stretch(_ samples: Samples) -> TimestampMapping.Stretch {
        TimestampMapping.Stretch(
            domain: domain,
            firstTimestamp: samples.firstTimestamp,
            range: range,
            hasPictures: samples.format.kind == .video,
            wrap: samples.wrap
        )
    }
}
