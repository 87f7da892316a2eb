import MediaTiming
import NIOCore
import SegmentFormat
import StreamingEngine

/// The demuxers of the renditions that are played; each one retains information from the previous segments.
struct DemuxerPool {
    private struct Entry {
        let demuxer: SegmentDemuxer
        var sequence: Int64
        /// The file offset of the next segment if it is contiguous with the previous one.
        var nextOffset: Int64?
    }

    private var entries = BoundedCache<String, Entry>(limit: maximumSize, mostValues: capacity)

    /// The maximum number of demuxers.
    ///
    /// A player switches between few renditions; beyond this number, the least recently used demuxers are recreated
    /// when needed.
    private static let capacity = 16
    /// The maximum memory that the demuxers retain in total, in bytes; large enough for any single demuxer.
    static let maximumSize = 320 << 20

    /// Demuxes a segment.
    mutating func demux(
        _ piece: PipelineSegment,
        _ bytes: ByteBuffer,
        _ initialization: PipelineSegment.Initialization?
    ) throws(DecodingError) -> DemuxedSegment {
        let position = entry(for: piece, length: bytes.readableBytes)
        let demuxer = position.demuxer
        // The memory of the demuxer is known only after demuxing.
        defer { entries.insert(position, for: piece.discontinuityDomain.playlist, cost: demuxer.byteCount) }
        let startTime = piece.range.start + (piece.filePosition?.firstTimestamp ?? .zero)
        let key = piece.sampleProtection.flatMap {
            SampleKey(key: $0.key, initializationVector: $0.initializationVector)
        }
        // The functions for unsafe access have untyped errors.
        let result: Result<DemuxedSegment, DecodingError> = unsafe bytes.withUnsafeReadableBytes { bytes in
            unsafe (initialization?.bytes ?? []).withUnsafeBytes { header in
                do throws(DecodingError) {
                    return unsafe .success(
                        try demuxer.demux(
                            bytes,
                            initialization: header,
                            key: key,
                            startTime: startTime,
                            fileOffset: piece.filePosition?.offset,
                            timeRange: MediaTimeRange(start: startTime, duration: piece.range.duration),
                            isLast: piece.filePosition?.isLast ?? false,
                            earlierLength: piece.filePosition?.earlierLength ?? 0
                        )
                    )
                } catch {
                    return .failure(error)
                }
            }
        }
        var segment = try result.get()
        if let position = piece.filePosition, position.beginsWithinFrames, position.isLast,
            let rest = try? demuxer.finish()
        {
            segment.append(rest)
        }
        return segment
    }

    private mutating func entry(for segment: PipelineSegment, length: Int) -> Entry {
        var place =
            entries.value(for: segment.discontinuityDomain.playlist)
            ?? Entry(
                demuxer: SegmentDemuxer(
                    isContinuous: segment.filePosition?.beginsWithinFrames ?? false,
                    container: segment.filePosition?.container
                ),
                sequence: segment.discontinuityDomain.sequence
            )
        if place.sequence != segment.discontinuityDomain.sequence { place.demuxer.reset() }
        if let position = segment.filePosition, position.beginsWithinFrames {
            if place.nextOffset != position.offset {
                place.demuxer.reset(near: segment.range.start + position.firstTimestamp)
            }
            place.nextOffset = position.offset.addingSaturated(Int64(length))
        }
        place.sequence = segment.discontinuityDomain.sequence
        return place
    }
}

extension MediaContainer {
    /// The period after which the timestamps of a container wrap around; `nil` if they do not.
    ///
    /// It is 2^33 ticks of 90 kHz in transport streams, and in packed audio, whose timestamps are those of a transport
    /// stream.
    var timestampPeriod: MediaTime? {
        switch self {
        case .transportStream, .aac, .mpegAudio, .ac3, .enhancedAC3: MediaTime(value: 1 << 33, timescale: 90_000)
        case .isoBaseMedia, .id3, .flac, .ogg, .wave, .matroska, .webM, .webVTT, .ttml, .hlsPlaylist,
            .mediaPresentation, .html:
            nil
        }
    }
}
