import MediaTiming
import PlaybackReporting
import SegmentFormat
import StreamingEngine

/// The tracks, packets and metadata of a demuxed segment.
struct DemuxedSegment: Sendable {
    /// The container format; `nil` if nothing could be read.
    var container: MediaContainer?
    /// The tracks, at most ``SegmentDemuxer/maximumTrackCount``.
    var tracks: [TrackFormat] = []
    /// The packets, at most ``SegmentDemuxer/maximumPacketCount``; those of one track are in decoding order.
    var packets: [MediaPacket] = []
    /// The timed metadata of the segment.
    var metadata: [TimedMetadata] = []
    /// Descriptions of the damage that was found, at most 16; empty if the segment is intact.
    var problems: [String] = []

    var isDamaged: Bool { !problems.isEmpty }

    mutating func recordProblem(_ problem: String) {
        if problems.count < 16, !problems.contains(problem) { problems.append(problem) }
    }

    func track(withID id: Int) -> TrackFormat? { tracks.first { $0.id == id } }

    /// Returns the tracks of a media type by their identification within the media file of the segment.
    func fileTracks(_ kind: MediaTrack.MediaType) -> [FileTrack: TrackFormat] {
        let found = tracks.filter { $0.kind == kind }.enumerated().map { position, format in
            (FileTrack(id: format.id, position: position, in: container), format)
        }
        return Dictionary(found) { first, _ in first }
    }

    /// Returns the range from the earliest presentation time to the latest end of the packets of one track, or of all
    /// tracks; `nil` without packets.
    func timeRange(of trackID: Int? = nil) -> MediaTimeRange? {
        var range: (start: MediaTime, end: MediaTime)?
        for packet in packets where trackID == nil || packet.trackID == trackID {
            let (start, end) = (packet.presentationTime, packet.endTime)
            range = (min(range?.start ?? start, start), max(range?.end ?? end, end))
        }
        return range.map { MediaTimeRange(start: $0.start, end: $0.end) }
    }
}
