package import MediaTiming
import NIOCore
package import SegmentFormat
package import StreamingEngine

/// A probe that reads the tracks, timestamps and key frames of consecutive segments of one playlist or file.
package struct MediaProbe {
    /// The contents of one segment.
    package struct Contents: Sendable {
        /// The container format; `nil` if nothing could be read.
        package let container: MediaContainer?
        /// The size of the segment in bytes, without its initialization section.
        package let byteCount: Int
        /// The tracks with samples in the segment.
        package let tracks: [Track]
        /// The descriptions of the damage that was found; empty if the segment is intact.
        package let problems: [String]
    }

    /// A track in a segment.
    package struct Track: Sendable {
        /// The properties of the track.
        package let format: MediaTrack
        /// The number of samples.
        package let sampleCount: Int
        /// The total size of the samples in bytes.
        package let byteCount: Int
        /// The time range from the first presentation time to the end of the last sample, in container time.
        package let range: MediaTimeRange
        /// The first decode time, in container time.
        package let firstDecodeTime: MediaTime
        /// The presentation times of the key frames, in container time, in ascending order; empty for audio, of which
        /// each sample is one.
        package let keyFrameTimes: [MediaTime]
    }

    private var demuxers = DemuxerPool()

    /// Creates a probe.
    package init() {}

    /// Reads the next segment.
    ///
    /// - Parameter segment: The segment; a gap has no contents.
    /// - Returns: The contents of the segment.
    /// - Throws: ``DecodingError`` if no track could be read.
    package mutating func read(_ segment: PipelineSegment) throws(DecodingError) -> Contents {
        guard case .media(let bytes, let initialization) = segment.content else {
            return Contents(container: nil, byteCount: 0, tracks: [], problems: [])
        }
        let head = Array(bytes.readableBytesView.prefix(1024))
        if let text = MediaContainer(head.span), text == .webVTT || text == .ttml {
            return Contents(container: text, byteCount: bytes.readableBytes, tracks: [], problems: [])
        }
        let demuxed = try demuxers.demux(segment, bytes, initialization)
        return Contents(
            container: demuxed.container,
            byteCount: bytes.readableBytes,
            tracks: demuxed.tracks.compactMap { Track($0, in: demuxed) },
            problems: demuxed.problems + Self.missingMedia(in: demuxed)
        )
    }

    /// Returns descriptions of the media that is missing in a transport stream, with times of the container.
    ///
    /// The continuity counters show that packets are missing, and the timestamps show the time range.
    private static func missingMedia(in segment: DemuxedSegment) -> [String] {
        guard segment.container == .transportStream else { return [] }
        return segment.tracks.filter { $0.kind == .video || $0.kind == .audio }.compactMap { track in
            let range = segment.lostRanges[track.id] ?? interruption(of: track, in: segment)
            return range.map { "\(track.kind.rawValue) of \(ClockText.seconds($0)) is missing" }
        }
    }

    /// Returns the longest interruption of a track that has lost packets; `nil` if there is none.
    private static func interruption(of track: TrackFormat, in segment: DemuxedSegment) -> MediaTimeRange? {
        guard segment.discontinuousTracks.contains(track.id) else { return nil }
        let times = segment.packets.filter { $0.trackID == track.id }.map(\.presentationTime).sorted()
        return DecodableSegment.longestInterruption(ofSamplesAt: times)
    }
}

extension MediaProbe.Track {
    fileprivate init?(_ format: TrackFormat, in segment: DemuxedSegment) {
        let packets = segment.packets.filter { $0.trackID == format.id }
        guard let range = segment.timeRange(of: format.id), let first = packets.first else { return nil }
        let isVideo = format.kind == .video
        self.format = MediaTrack(
            id: UInt32(clamping: format.id),
            mediaType: format.kind,
            codec: format.codec,
            language: format.language,
            width: isVideo && format.width > 0 ? format.width : nil,
            height: isVideo && format.height > 0 ? format.height : nil,
            orientation: format.orientation,
            channelCount: format.channelCount > 0 ? format.channelCount : nil,
            sampleRate: format.sampleRate > 0 ? format.sampleRate : nil,
            encryptionScheme: format.encryptionScheme
        )
        sampleCount = packets.count
        byteCount = packets.reduce(0) { $0 +| $1.byteCount }
        self.range = range
        firstDecodeTime = first.decodeTime
        keyFrameTimes = isVideo ? packets.filter(\.isKeyFrame).map(\.presentationTime).sorted() : []
    }
}
