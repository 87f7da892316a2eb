import FuzzTargets
import MediaDecoding
import MediaTiming
import NIOCore
import PlaybackReporting
import SegmentFormat
import StreamingEngine

/// The number, the size and the times of the samples of a segment, which do not depend on the key.
struct SampleSummary: Hashable {
    /// The samples of a track.
    struct Track: Hashable {
        /// The identifier of the track.
        let id: UInt32
        /// The number of samples.
        let sampleCount: Int
        /// The total size of the samples, in bytes.
        let byteCount: Int
        /// The time range of the samples.
        let range: MediaTimeRange
        /// The presentation times of the key frames.
        let keyFrameTimes: [MediaTime]
    }

    /// The tracks with samples.
    let tracks: [Track]
    /// The descriptions of the damage that was found.
    let problems: [String]
}

/// A demultiplexer of the consecutive segments of a playlist or of a file, as the playback pipeline uses it, which traps if a
/// result exceeds the documented limits.
struct CheckedDemultiplexer {
    /// The maximum number of tracks of a segment.
    private static let maximumTrackCount = 32
    /// The maximum number of problems of a segment, besides those of single tracks.
    private static let maximumProblemCount = 16
    /// The number of bytes by which the samples of a file that FFmpeg reads alone may exceed three times the size of the file.
    ///
    /// They end with the first sample with which they exceed twice its size and 16 MiB.
    private static let additionalContainerSize = 16 << 20
    /// The number of bytes by which the frames that the parsers of FFmpeg return may exceed their input.
    private static let additionalFrameSize = 4_096

    private var probe = MediaProbe()
    /// The number of bytes of all segments so far, from which those that were held back are returned later.
    private var inputSize = 0

    /// Demultiplexes the next segment and checks the result.
    ///
    /// - Parameters:
    ///   - bytes: The segment.
    ///   - initialization: The bytes that are required before the segment.
    ///   - timeRange: The time range of the segment in its playlist.
    ///   - position: The position in a file; `nil` for a segment of a stream.
    ///   - protection: The key of the samples.
    /// - Returns: The samples, or `nil` if the segment cannot be read.
    @discardableResult
    mutating func read(
        _ bytes: [UInt8],
        initialization: [UInt8]? = nil,
        timeRange: MediaTimeRange = MediaTimeRange(start: .zero, duration: .zero),
        position: PipelineSegment.FilePosition? = nil,
        protection: PipelineSegment.SampleProtection? = nil
    ) -> SampleSummary? {
        inputSize += bytes.count
        let header = initialization.map { PipelineSegment.Initialization(id: "header", bytes: $0) }
        let segment = PipelineSegment(
            type: .muxed,
            content: .media(ByteBuffer(bytes: bytes), initialization: header),
            range: timeRange,
            discontinuityDomain: PipelineSegment.Domain(playlist: "playlist", sequence: 0),
            sampleProtection: protection,
            position: position
        )
        guard let contents = try? probe.read(segment) else { return nil }
        check(contents.byteCount == bytes.count, "a segment has another size than its bytes")
        check(contents.tracks.count <= Self.maximumTrackCount, "a segment has more tracks than the limit")
        check(
            contents.problems.count <= Self.maximumProblemCount + Self.maximumTrackCount,
            "a segment has more problems than the limit"
        )
        for track in contents.tracks { Self.checkSamples(of: track) }
        checkSize(of: contents, bytes, (initialization?.count ?? 0) + inputSize)
        return SampleSummary(
            tracks: contents.tracks.map { track in
                SampleSummary.Track(
                    id: track.format.id,
                    sampleCount: track.sampleCount,
                    byteCount: track.byteCount,
                    range: track.range,
                    keyFrameTimes: track.keyFrameTimes
                )
            },
            problems: contents.problems
        )
    }

    /// Checks the number and the times of the samples of a track.
    private static func checkSamples(of track: MediaProbe.Track) {
        check(track.sampleCount > 0, "a track without samples is reported")
        check(track.byteCount >= track.sampleCount, "a sample is empty")
        check(track.range.duration >= .zero, "a track has a negative duration")
        check(track.keyFrameTimes.count <= track.sampleCount, "a track has more key frames than samples")
        var last = track.range.start
        for time in track.keyFrameTimes {
            check(time >= last, "key frames are not in order, or precede their track")
            last = time
        }
    }

    /// Checks that the samples of a segment are not much larger than the bytes from which they are read.
    ///
    /// - Parameters:
    ///   - contents: The contents of the segment.
    ///   - bytes: The segment.
    ///   - totalSize: The number of bytes of all segments so far, and of the initialization section.
    private func checkSize(of contents: MediaProbe.Contents, _ bytes: [UInt8], _ totalSize: Int) {
        // Damaged movies may declare several tracks with one identifier.
        let sizes = Dictionary(contents.tracks.map { ($0.format.id, $0.byteCount) }) { max($0, $1) }
        let size = sizes.values.reduce(0, +)
        let limit: Int
        switch contents.container {
        case .isoBaseMedia:
            let hasFragments = Box.first(.moof, in: bytes.span) != nil
            let isMovie = Box.first(.moov, in: bytes.span) != nil && !hasFragments
            // The tables of a movie can name the same bytes several times; the samples of fragments do not overlap.
            let movieLimit = isMovie ? Self.additionalContainerSize : 0
            limit = hasFragments ? bytes.count : 4 * bytes.count + movieLimit
        case .transportStream, .aac, .mpegAudio, .ac3, .enhancedAC3, .flac:
            // The tables of a transport stream are repeated before the packets that were held back.
            limit = 2 * totalSize + Self.additionalFrameSize
        case .ogg, .wave, .matroska, .webM:
            limit = 3 * totalSize + Self.additionalContainerSize
        case .id3, .webVTT, .ttml, .hlsPlaylist, .mediaPresentation, .html, nil:
            limit = 0
        }
        check(size <= limit, "the samples are larger than the bytes from which they are read")
    }
}
