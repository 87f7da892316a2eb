import MediaTiming
import PlaybackReporting
import SegmentFormat

/// What a segment held.
struct DemuxedSegment: Sendable {
    /// What its container was; `nil` where nothing could be read.
    var container: MediaContainer?
    /// Its tracks, at most ``SegmentDemuxer/mostTracks``.
    var tracks: [TrackFormat] = []
    /// Its packets: those of one track in the order of decoding; at most ``SegmentDemuxer/mostPackets``.
    var packets: [MediaPacket] = []
    /// Messages that came with it.
    var metadata: [TimedMetadata] = []
    /// What was not right about the bytes, for people; at most 16 lines, none without damage.
    var problems: [String] = []

    var isDamaged: Bool { !problems.isEmpty }

    mutating func note(_ problem: String) {
        if problems.count < 16, !problems.contains(problem) { problems.append(problem) }
    }

    func track(_ id: Int) -> TrackFormat? { tracks.first { $0.id == id } }

    /// From the earliest presentation time to the latest end, of one track or of all; `nil` without packets.
    func timeRange(of trackID: Int? = nil) -> MediaTimeRange? {
        var range: (start: MediaTime, end: MediaTime)?
        for packet in packets where trackID == nil || packet.trackID == trackID {
            let (start, end) = (packet.presentationTime, packet.endTime)
            range = (min(range?.start ?? start, start), max(range?.end ?? end, end))
        }
        return range.map { MediaTimeRange(start: $0.start, end: $0.end) }
    }
}
