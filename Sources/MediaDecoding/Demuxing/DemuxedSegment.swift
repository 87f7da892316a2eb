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
    /// The bytes of the segment, and those that belong to no transport packet or box.
    var byteLoss = MediaLoss()
    /// The samples of the tracks of movie fragments, and those of which only zeros are left, by track identifier.
    var sampleLosses: [Int: MediaLoss] = [:]

    var isDamaged: Bool { !problems.isEmpty }

    mutating func recordProblem(_ problem: String) {
        if problems.count < 16, !problems.contains(problem) { problems.append(problem) }
    }

    func track(withID id: Int) -> TrackFormat? { tracks.first { $0.id == id } }

    /// Returns a description of the damage of a track of which most of the media is certainly lost.
    ///
    /// - Parameter track: The track; `nil` if only damage of all tracks is relevant.
    /// - Returns: The description; `nil` if at least half of the media is not lost.
    func lossDescription(of track: TrackFormat?) -> String? {
        if byteLoss.isMostOfMedia {
            let unit = container == .transportStream ? "transport packet" : "box"
            return "\(byteLoss.lost) of its \(byteLoss.total) bytes belong to no \(unit)"
        }
        guard let track, let loss = sampleLosses[track.id], loss.isMostOfMedia else { return nil }
        return "\(loss.lost) of its \(loss.total) \(track.kind.rawValue) samples contain only zeros"
    }

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
