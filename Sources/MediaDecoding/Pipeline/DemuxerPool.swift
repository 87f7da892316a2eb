import MediaTiming
import NIOCore
import SegmentFormat
import StreamingEngine

/// The demultiplexers of the renditions that are played: what they learn from one segment helps with the next.
struct DemuxerPool {
    private struct Place {
        let demuxer: SegmentDemuxer
        var sequence: Int64
        var lastUse: Int
    }

    private var places: [String: Place] = [:]
    private var uses = 0

    /// Players change between few renditions; of more than these, some begin anew.
    private static let capacity = 16

    /// Takes a piece apart.
    mutating func demux(
        _ piece: MediaPiece,
        _ bytes: ByteBuffer,
        _ initialization: MediaPiece.Initialization?
    ) throws(DecodingError) -> DemuxedSegment {
        let demuxer = demuxer(for: piece.domain)
        let key = piece.sampleProtection.flatMap {
            SampleKey(key: $0.key, initializationVector: $0.initializationVector)
        }
        // The closures of unsafe access throw anything; this throws one kind.
        let result: Result<DemuxedSegment, DecodingError> = bytes.withUnsafeReadableBytes { bytes in
            (initialization?.bytes ?? []).withUnsafeBytes { header in
                do throws(DecodingError) {
                    return .success(
                        try demuxer.demux(bytes, initialization: header, key: key, startTime: piece.range.start)
                    )
                } catch {
                    return .failure(error)
                }
            }
        }
        return try result.get()
    }

    private mutating func demuxer(for domain: MediaPiece.Domain) -> SegmentDemuxer {
        uses += 1
        if var place = places[domain.playlist] {
            if place.sequence != domain.sequence { place.demuxer.reset() }
            place.sequence = domain.sequence
            place.lastUse = uses
            places[domain.playlist] = place
            return place.demuxer
        }
        if places.count >= Self.capacity, let oldest = places.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            places[oldest.key] = nil
        }
        let demuxer = SegmentDemuxer()
        places[domain.playlist] = Place(demuxer: demuxer, sequence: domain.sequence, lastUse: uses)
        return demuxer
    }
}

extension MediaContainer {
    /// After how much time the timestamps of a container begin anew: 2^33 ticks of 90 kHz in transport streams, and in what
    /// takes its times from them.
    var timestampWrap: MediaTime? {
        switch self {
        case .transportStream, .aac, .mpegAudio, .ac3, .enhancedAC3: MediaTime(value: 1 << 33, timescale: 90_000)
        default: nil
        }
    }
}
