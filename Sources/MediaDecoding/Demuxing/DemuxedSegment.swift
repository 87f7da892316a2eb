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
    /// The samples of subtitle tracks that belong to earlier segments and are in progress at the start of this one.
    var earlierSubtitles: [MediaPacket] = []
    /// The timed metadata of the segment.
    var metadata: [TimedMetadata] = []
    /// Descriptions of the damage that was found, at most 16; empty if the segment is intact.
    var problems: [String] = []
    /// The bytes of the segment, and those that belong to no transport packet or box.
    var byteLoss = MediaLoss()
    /// The samples of the tracks of movie fragments, and those of which only zeros are left, by track identifier.
    var sampleLosses: [Int: MediaLoss] = [:]
    /// The longest contiguous time ranges whose samples are certainly lost, by track identifier, in container time; a
    /// track without an entry may be intact.
    private(set) var lostRanges: [Int: MediaTimeRange] = [:]
    /// A Boolean value that indicates whether the segment ends within a box after more than one sample, or within a
    /// transport packet after several samples.
    var isTruncated = false
    /// The identifiers of the tracks of a transport stream whose continuity counters tell that packets are missing.
    var discontinuousTracks: Set<Int> = []

    var isDamaged: Bool { !problems.isEmpty }

    mutating func recordProblem(_ problem: String) {
        if problems.count < 16, !problems.contains(problem) { problems.append(problem) }
    }

    /// Records that samples of a track in a time range are lost.
    ///
    /// If intact samples separate the range from the one that was recorded before, the longer one of the two is kept.
    mutating func recordLostRange(_ range: MediaTimeRange, ofTrack id: Int) {
        guard let known = lostRanges[id] else {
            lostRanges[id] = range
            return
        }
        if range.start <= known.end, range.end >= known.start {
            lostRanges[id] = known.union(range)
        } else if range.duration > known.duration {
            lostRanges[id] = range
        }
    }

    /// Moves the subtitles before an offset of the input to ``earlierSubtitles``, and removes the other packets before it.
    ///
    /// - Parameters:
    ///   - offset: The offset at which the segment begins.
    ///   - start: The start time of the segment. A packet with an unknown offset is an earlier one if its time is
    ///     before the start.
    mutating func separateEarlierSubtitles(before offset: Int64, start: MediaTime) {
        let subtitles = Set(tracks.filter { $0.kind == .subtitles }.map(\.id))
        let all = packets
        packets = []
        for packet in all {
            let isEarlier = packet.inputOffset.map { $0 < offset } ?? (packet.presentationTime < start)
            if !isEarlier {
                packets.append(packet)
            } else if subtitles.contains(packet.trackID) {
                earlierSubtitles.append(packet)
            }
        }
    }

    /// Adds the packets of the media that directly follows, and the time ranges that are lost in that media.
    mutating func append(_ rest: DemuxedSegment) {
        packets += rest.packets
        if tracks.isEmpty { tracks = rest.tracks }
        for (id, range) in rest.lostRanges { recordLostRange(range, ofTrack: id) }
    }

    func track(withID id: Int) -> TrackFormat? { tracks.first { $0.id == id } }

    /// Records the bytes of packed audio that belong to no frame, and the time range of the audio that is lost with
    /// them.
    ///
    /// - Parameters:
    ///   - loss: The lost part of the segment.
    ///   - byteCount: The size of the segment, in bytes.
    mutating func recordPackedAudioLoss(_ loss: PackedAudioLoss, of byteCount: Int) {
        byteLoss.add(loss.byteCount, of: byteCount)
        guard loss.byteCount > 0 else { return }
        recordProblem("\(loss.byteCount) of its \(byteCount) bytes belong to no audio frame")
        guard let first = packets.first else { return }
        let (start, end) = (first.presentationTime + loss.start, first.presentationTime + loss.end)
        recordLostRange(MediaTimeRange(start: start, end: end), ofTrack: first.trackID)
    }

    /// Returns a description of the damage of a track of which most of the media is certainly lost.
    ///
    /// - Parameter track: The track; `nil` if only damage of all tracks is relevant.
    /// - Returns: The description; `nil` if at least half of the media is not lost.
    func lossDescription(of track: TrackFormat?) -> String? {
        if byteLoss.isMostOfMedia {
            let unit =
                switch container {
                case .transportStream: "transport packet"
                case .aac, .mpegAudio, .ac3, .enhancedAC3: "audio frame"
                case .isoBaseMedia, .id3, .flac, .ogg, .wave, .matroska, .webM, .webVTT, .ttml, .hlsPlaylist,
                    .mediaPresentation, .html, nil:
                    "box"
                }
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
