import MediaTiming
import PlaybackReporting
import SegmentFormat
import StreamingEngine

/// A demuxed segment that is buffered until its presentation time.
struct DecodableSegment: Sendable {
    /// The packets of one track.
    struct Samples: Sendable {
        let format: TrackFormat
        /// The packets in decoding order.
        let packets: [MediaPacket]
        /// The earliest presentation time, in container time.
        let firstTimestamp: MediaTime
        /// The period after which the timestamps of the container wrap around; `nil` if they do not.
        let timestampPeriod: MediaTime?
        /// The approximate memory of the packets, in bytes.
        let byteCount: Int

        /// Creates the samples of a track; `nil` if the segment has none.
        init?(_ segment: DemuxedSegment, _ format: TrackFormat, timestampPeriod: MediaTime?) {
            let packets = segment.packets.filter { $0.trackID == format.id }
            guard let first = packets.first else { return nil }
            self.format = format
            self.packets = packets
            byteCount = packets.reduce(0) { $0 + $1.byteCount + MediaPacket.overheadSize }
            self.timestampPeriod = timestampPeriod
            // Damaged timestamps are far from those of the other packets.
            let middle = packets[packets.count / 2].presentationTime
            let likely = packets.lazy.map(\.presentationTime).filter {
                abs(($0 - middle).seconds) < Self.maximumDuration
            }
            firstTimestamp = likely.min() ?? first.presentationTime
        }

        /// The maximum distance of a valid timestamp from that of the middle packet, in seconds; no segment is longer.
        private static let maximumDuration = 120.0
    }

    let type: MediaType
    /// The time range in the timeline of the player item, as declared by the playlist.
    let range: MediaTimeRange
    let domain: PipelineSegment.Domain
    /// The offset to add to the timestamps; `nil` if it is not known in advance.
    var fileOffset: MediaTime?
    /// A Boolean value that indicates whether parts of the segment could not be read.
    var isDamaged = false
    /// A Boolean value that indicates whether bytes of the segment are certainly lost.
    var hasLostBytes = false
    /// A Boolean value that indicates whether transport packets of the leading track are missing, although all bytes of
    /// the segment belong to packets.
    var lacksPackets = false
    /// A Boolean value that indicates whether the samples of consecutive segments follow each other without
    /// interruption, as those of transport streams and of packed audio do.
    var hasContiguousSamples = false
    /// A Boolean value that indicates whether the segment is the last one of a stream, with another duration than the segment
    /// before.
    var declaresOwnDuration = false
    /// The time range of the samples that are certainly lost, in container time, and the media type that lacks them;
    /// `nil` if it is unknown or there are none.
    var lostSamples: (type: MediaType, range: MediaTimeRange)?
    let video: Samples?
    /// The audio that is played if no track is selected.
    let audio: Samples?
    /// The audio tracks of a segment of a media file; empty for a segment of a stream.
    var fileAudio: [FileTrack: Samples] = [:]

    /// Returns the audio of a track of a media file, or the audio that is played if no track is selected.
    ///
    /// - Parameter track: The selected track; `nil` if none is selected.
    /// - Returns: The samples; `nil` if the segment has none of the track.
    func audioSamples(of track: FileTrack?) -> Samples? {
        guard let track, !fileAudio.isEmpty else { return audio }
        return fileAudio[track]
    }

    /// The approximate memory of all audio tracks, in bytes.
    var audioByteCount: Int {
        fileAudio.isEmpty ? audio?.byteCount ?? 0 : fileAudio.values.reduce(0) { $0 + $1.byteCount }
    }

    /// Returns the media of the segment that is certainly lost, which is reported once for the segment.
    ///
    /// - Parameter offset: The offset of the timestamps.
    /// - Returns: The media type and the time range in the timeline of the player item; `nil` if no media is certainly
    ///   lost.
    func loss(offset: MediaTime) -> (type: MediaType, range: MediaTimeRange)? {
        let end = lostEnd(offset: offset)
        guard let lostSamples else {
            let parts = [lostMiddle(offset: offset), end].compactMap(\.self)
            return parts.max { $0.duration < $1.duration }.map { (type: type, range: $0) }
        }
        let moved = MediaTimeRange(start: lostSamples.range.start + offset, duration: lostSamples.range.duration)
        // Media may be longer than declared, but damaged timestamps are far from the segment.
        let isNear = isPlausible(moved.start, offset: offset)
        // The range of a part of a file is only approximate.
        let lost = (fileOffset != nil && isNear ? moved : range.intersection(moved)) ?? (isNear ? moved : range)
        // The fragments after the end of a segment that was cut off have left no trace.
        guard let end else { return (type: lostSamples.type, range: lost) }
        if lost.start <= end.end, end.start <= lost.end { return (type: type, range: lost.union(end)) }
        // The media between the two parts is intact.
        return end.duration > lost.duration ? (type: type, range: end) : (type: lostSamples.type, range: lost)
    }

    /// Returns the time range at the end of the segment whose media is lost.
    ///
    /// - Parameter offset: The offset of the timestamps.
    /// - Returns: The time range; `nil` if no bytes are lost, or if their media is not longer than half a second.
    func lostEnd(offset: MediaTime) -> MediaTimeRange? {
        guard hasLostBytes, let leading = video ?? audio else { return nil }
        let ends = leading.packets.lazy.map { $0.endTime + offset }.filter { isPlausible($0, offset: offset) }
        guard let end = ends.max(), range.end - end > Self.minimumLostDuration else { return nil }
        return MediaTimeRange(start: max(end, range.start), end: range.end)
    }

    /// Returns the longest time range between two samples of a transport stream or of packed audio whose media is lost.
    ///
    /// - Parameter offset: The offset of the timestamps.
    /// - Returns: The time range; `nil` if no bytes or packets are lost, or if their media is not longer than half a
    ///   second.
    func lostMiddle(offset: MediaTime) -> MediaTimeRange? {
        guard hasLostBytes || lacksPackets, hasContiguousSamples, let leading = video ?? audio else { return nil }
        let times = leading.packets.map { $0.presentationTime + offset }
            .filter { isPlausible($0, offset: offset) }.sorted()
        return Self.longestInterruption(ofSamplesAt: times)
    }

    /// Returns the longest time range without samples, if it is longer than half a second and four times as long as the
    /// usual distance of the samples.
    ///
    /// - Parameter times: The presentation times of the samples of a track, in ascending order.
    /// - Returns: The time range; `nil` if there is none, or if there are too few samples.
    static func longestInterruption(ofSamplesAt times: [MediaTime]) -> MediaTimeRange? {
        let distances = zip(times, times.dropFirst()).map { $1 - $0 }
        guard let usual = usualDistance(distances) else { return nil }
        let minimum = max(minimumLostDuration, usual * 4)
        let ranges = zip(times, times.dropFirst()).map { MediaTimeRange(start: $0 + usual, end: $1) }
        return ranges.filter { $0.duration > minimum }.max { $0.duration < $1.duration }
    }

    /// Returns the media that is missing between this segment and the following one, because the end of this segment or
    /// the start of the following one was cut off.
    ///
    /// A segment that was cut off between two packets looks like an intact one. Only the timestamps of the following
    /// segment tell that media is missing.
    ///
    /// - Parameters:
    ///   - following: The segment that follows in the playlist.
    ///   - offset: The offset of the timestamps of both segments.
    /// - Returns: The time range; `nil` if not more than half a second of media is missing, or if it is unknown because
    ///   the samples of the segments need not follow each other.
    func missingMedia(before following: DecodableSegment, offset: MediaTime) -> MediaTimeRange? {
        guard hasContiguousSamples, following.hasContiguousSamples, !hasLostBytes, type == following.type,
            domain.sequence == following.domain.sequence, let leading = video ?? audio,
            // A segment for trick play contains few packets.
            leading.packets.count >= Self.minimumPacketCount
        else { return nil }
        let starts = [following.video, following.audio].compactMap { $0.map { $0.firstTimestamp + offset } }
        guard let end = mediaEnd(offset: offset), let start = starts.min(),
            following.isPlausible(start, offset: offset)
        else { return nil }
        return start - end > minimumMissingDuration(leading) ? MediaTimeRange(start: end, end: start) : nil
    }

    /// A Boolean value that indicates whether media can be missing that ``ownLoss(offset:)`` finds.
    var mayLackMedia: Bool { hasLostMedia || declaresOwnDuration }

    /// Notes the media that the demultiplexer found to be missing.
    ///
    /// - Parameters:
    ///   - segment: The demuxed segment.
    ///   - playedAudio: The audio that is played; `nil` if none is.
    mutating func noteLoss(in segment: DemuxedSegment, playing playedAudio: Samples?) {
        if let leading = video ?? audio { lacksPackets = segment.discontinuousTracks.contains(leading.format.id) }
        let played = [video?.format, playedAudio?.format].compactMap(\.self)
        guard let track = played.first(where: { segment.lostRanges[$0.id] != nil }),
            let range = segment.lostRanges[track.id]
        else { return }
        lostSamples = (type: track.kind == .video ? type : .audio, range: range)
    }

    /// A Boolean value that indicates whether bytes, packets or samples of the segment are lost.
    private var hasLostMedia: Bool { hasLostBytes || lacksPackets || lostSamples != nil }

    /// Returns the media that is missing in the segment itself, whichever segments are before and after it.
    ///
    /// - Parameter offset: The offset of the timestamps.
    /// - Returns: The media type and the time range; `nil` if nothing is known to be missing.
    func ownLoss(offset: MediaTime) -> (type: MediaType, range: MediaTimeRange)? {
        if hasLostMedia, let lost = loss(offset: offset) { return lost }
        return missingEnd(offset: offset).map { (type, $0) }
    }

    /// Returns the media that is missing at the end of the last segment of a stream, because its end was cut off.
    ///
    /// No segment follows, so that only the playlist tells where the media should end.
    ///
    /// - Parameter offset: The offset of the timestamps.
    /// - Returns: The time range; `nil` if not more than half a second of media is missing, if the playlist does not agree
    ///   with the start of the media, or if the container allows samples to be missing.
    private func missingEnd(offset: MediaTime) -> MediaTimeRange? {
        guard declaresOwnDuration, hasContiguousSamples, !hasLostBytes, let leading = video ?? audio,
            leading.packets.count >= Self.minimumPacketCount,
            abs((leading.firstTimestamp + offset - range.start).seconds) < Self.minimumLostDuration.seconds,
            let end = mediaEnd(offset: offset), range.end - end > minimumMissingDuration(leading)
        else { return nil }
        return MediaTimeRange(start: max(end, range.start), end: range.end)
    }

    /// Returns the end of the last sample in the timeline of the player item; `nil` without samples.
    private func mediaEnd(offset: MediaTime) -> MediaTime? {
        [video, audio].compactMap(\.self).flatMap { samples in
            samples.packets.map { $0.endTime + offset }.filter { isPlausible($0, offset: offset) }
        }.max()
    }

    /// Returns the duration that must be exceeded by missing media, given the samples that determine the duration.
    private func minimumMissingDuration(_ leading: Samples) -> MediaTime {
        guard audio == nil else { return Self.minimumLostDuration }
        // Frames of video may be shown for a long time.
        let times = leading.packets.map(\.presentationTime).sorted()
        return zip(times, times.dropFirst()).reduce(Self.minimumLostDuration) { max($0, ($1.1 - $1.0) * 4) }
    }

    /// Returns the median of the distances between samples; `nil` if there are too few samples.
    private static func usualDistance(_ distances: [MediaTime]) -> MediaTime? {
        guard distances.count >= minimumPacketCount else { return nil }
        return distances.sorted()[distances.count / 2]
    }

    /// The minimum number of packets from which the distances between the samples are known.
    private static let minimumPacketCount = 8
    private static let minimumLostDuration = MediaTime(value: 1, timescale: 2)

    /// Returns the information from which the timestamps of the samples are mapped.
    ///
    /// Playlists declare the durations of video. Therefore, if the segment contains video, its first frame also
    /// determines the mapping of the audio.
    func mappingInput(for samples: Samples) -> TimestampMapping.Input {
        let leading = video ?? samples
        return TimestampMapping.Input(
            domain: domain,
            firstTimestamp: leading.firstTimestamp,
            range: range,
            hasVideo: leading.format.kind == .video,
            timestampPeriod: leading.timestampPeriod,
            isDamaged: isDamaged,
            fileOffset: fileOffset
        )
    }

    /// Returns whether a time in the timeline of the player item can belong to this segment, given the offset of its
    /// timestamps.
    func isPlausible(_ time: MediaTime, offset: MediaTime) -> Bool {
        // The times of file segments that are split at arbitrary positions are only approximate.
        guard fileOffset == nil else {
            let slack = MediaTime(seconds: 60)
            return time >= range.start - slack && time <= range.end + slack
        }
        let slack = MediaTime(value: 1, timescale: 2)
        let deviation = (video ?? audio).map { $0.firstTimestamp + offset - range.start } ?? .zero
        return time >= range.start + deviation - slack && time <= range.end + deviation + slack
    }
}
