import MediaTiming
import SegmentFormat

/// A demuxer for the segments of one rendition, each of them complete or split at arbitrary positions.
///
/// Times are container time. The 33-bit timestamps of transport streams and packed audio are unwrapped to be close to
/// the preceding time. Use it from one thread at a time.
final class SegmentDemuxer {
    /// The maximum number of tracks of a segment; further tracks are ignored.
    static let mostTracks = 32
    /// The maximum number of packets of a segment; further packets are ignored.
    static let mostPackets = 1_000_000

    private let isContinuous: Bool
    private var lastContainer: MediaContainer?
    private var movie: (header: [UInt8], initialization: MovieInitialization)?
    /// The sample index of ``movie``, created when the first of its segments is demuxed.
    private var progressive: ProgressiveIndex?
    private var nextTimes: [UInt32: Int64] = [:]
    private var wrap: TimestampWrap
    private var packedAudio: PackedAudioReading?
    private var transportCutting = TransportCutting()

    /// Creates a demuxer.
    ///
    /// - Parameters:
    ///   - isContinuous: A Boolean value that indicates whether the input is split at arbitrary positions and
    ///     contiguous until the next call of ``reset(near:)``.
    ///   - reference: A time that 33-bit timestamps are assumed to be close to; without one, they are used unchanged.
    init(isContinuous: Bool = false, near reference: MediaTime? = nil) {
        self.isContinuous = isContinuous
        wrap = Self.wrap(near: reference)
    }

    private static func wrap(near reference: MediaTime?) -> TimestampWrap {
        TimestampWrap(near: reference.map { $0.units(in: .ninetyKilohertz) })
    }

    /// Discards the state from previous segments, as required at a discontinuity or after a seek.
    func reset(near reference: MediaTime? = nil) {
        wrap = Self.wrap(near: reference)
        nextTimes = [:]
        packedAudio = nil
        transportCutting = TransportCutting()
    }

    /// Demuxes a segment of a stream or of a file.
    ///
    /// - Parameters:
    ///   - bytes: The segment; read only until this function returns.
    ///   - initialization: The bytes that the segment requires before it: `ftyp` and `moov`, PAT and PMT, or the header
    ///     of a file.
    ///   - key: The key for media whose samples are encrypted individually.
    ///   - startTime: The time of the first sample, for media without timestamps: packed audio without an ID3
    ///     timestamp, and WAVE.
    ///   - fileOffset: The offset of the bytes in their file, for segments of a movie without fragments, because its
    ///     initialization contains file offsets of samples.
    ///   - timeRange: The time range of such a segment, as returned by ``Movie/pieces(of:in:)``; consecutive segments
    ///     yield each sample once. Without it, all samples that the bytes contain are returned.
    /// - Returns: The readable contents and a description of any damage.
    /// - Throws: ``DecodingError`` if no track could be read.
    func demux(
        _ bytes: UnsafeRawBufferPointer,
        initialization: UnsafeRawBufferPointer? = nil,
        key: SampleKey? = nil,
        startTime: MediaTime? = nil,
        fileOffset: Int64? = nil,
        timeRange: MediaTimeRange? = nil
    ) throws(DecodingError) -> DemuxedSegment {
        let header = unsafe initialization.flatMap { unsafe $0.isEmpty ? nil : $0 }
        // The middle of a file may resemble the start of another format.
        let going = isContinuous ? lastContainer : nil
        let container = unsafe Self.container(header) ?? going ?? Self.container(bytes) ?? lastContainer
        guard let container else { throw DecodingError(.notReadable, "the segment is no media that is known here") }
        let result: DemuxedSegment
        switch container {
        case .isoBaseMedia:
            result = try unsafe movieSegment(bytes, header, key, fileOffset, timeRange)
        case .transportStream:
            result = try unsafe transport(bytes, header, key)
        case .aac, .mpegAudio, .ac3, .enhancedAC3, .flac:
            result = try unsafe packed(bytes, header, container, key, startTime)
        case .ogg, .wave, .matroska, .webM:
            let reader = try unsafe ContainerReader(
                MediaInput([header, bytes].compactMap { unsafe $0 }),
                format: container
            )
            var reading = ContainerReading(reader, container: container)
            reading.shift = container == .wave ? startTime ?? .zero : .zero
            result = try reading.readAll()
        default:
            throw DecodingError(.unsupported, "\(container.rawValue) is not decoded here")
        }
        // A segment without packets, which may only resemble another format, must not determine the format of the next
        // one.
        if isContinuous || !result.packets.isEmpty { lastContainer = container }
        return result
    }

    /// Returns the remaining packets of input that is split at arbitrary positions.
    ///
    /// - Returns: The last packets.
    /// - Throws: ``DecodingError`` if the remaining bytes cannot be read.
    func finish() throws(DecodingError) -> DemuxedSegment {
        if var reading = packedAudio {
            packedAudio = nil
            return try reading.finish()
        }
        if let rest = transportCutting.finish() { return try transportStream([rest], key: nil) }
        return DemuxedSegment()
    }

    /// The approximate memory that is retained for later segments, in bytes.
    var byteCount: Int {
        (movie.map { $0.header.count * 2 } ?? 0) + (progressive?.byteCount ?? 0) + transportCutting.byteCount
    }

    private static func container(_ bytes: UnsafeRawBufferPointer?) -> MediaContainer? {
        unsafe bytes.flatMap { unsafe MediaContainer($0.bindMemory(to: UInt8.self).span) }
    }
}

extension SegmentDemuxer {
    private func movieSegment(
        _ bytes: UnsafeRawBufferPointer,
        _ header: UnsafeRawBufferPointer?,
        _ key: SampleKey?,
        _ fileOffset: Int64?,
        _ timeRange: MediaTimeRange?
    ) throws(DecodingError) -> DemuxedSegment {
        let span = unsafe bytes.bindMemory(to: UInt8.self).span
        let hasFragment = Box.first(.moof, in: span) != nil
        let headerBox = Box.first(.moov, in: span)
        let hasHeader = headerBox != nil
        if let fileOffset, let header = unsafe header, !hasFragment {
            let movie = try unsafe self.movie(header)
            if movie.hasSamples { return try progressivePiece(span, movie, fileOffset, timeRange) }
        }
        if hasHeader, !hasFragment {
            try unsafe Self.checkIndex(of: bytes)
            let reader = try unsafe ContainerReader(MediaInput([bytes]), format: .isoBaseMedia)
            var reading = ContainerReading(reader, container: .isoBaseMedia)
            return try reading.readAll()
        }
        if let headerBox {
            _ = try unsafe self.movie(UnsafeRawBufferPointer(rebasing: bytes[..<headerBox.range.upperBound]))
        } else if let header = unsafe header {
            _ = try unsafe self.movie(header)
        }
        guard let movie else { throw DecodingError(.notReadable, "the segment needs an initialization") }
        var reading = FragmentReading(movie.initialization, key: key, nextTimes: nextTimes)
        let result = try reading.read(span)
        nextTimes = reading.nextTimes
        return result
    }

    /// Rejects a movie for which FFmpeg would build an index of more samples than the movie can contain.
    private static func checkIndex(of bytes: UnsafeRawBufferPointer) throws(DecodingError) {
        let (movie, _) = unsafe try MovieInitialization.movie(bytes)
        let count = unsafe movie.indexEntryCount(bytes.bindMemory(to: UInt8.self).span)
        guard count <= max(65_536, 8 *| Int64(bytes.count)) else {
            throw DecodingError(.notReadable, "the movie lists \(count) samples, and has \(bytes.count) bytes")
        }
    }

    /// Returns the parsed initialization and retains it for later segments.
    private func movie(_ header: UnsafeRawBufferPointer) throws(DecodingError) -> MovieInitialization {
        if let movie, unsafe movie.header.withUnsafeBytes({ unsafe $0.hasSameBytes(as: header) }) {
            return movie.initialization
        }
        let initialization = try unsafe MovieInitialization(header)
        movie = unsafe (Array(header), initialization)
        progressive = nil
        nextTimes = [:]
        return initialization
    }

    private func progressivePiece(
        _ bytes: Span<UInt8>,
        _ initialization: MovieInitialization,
        _ fileOffset: Int64,
        _ timeRange: MediaTimeRange?
    ) throws(DecodingError) -> DemuxedSegment {
        let index: ProgressiveIndex
        if let progressive {
            index = progressive
        } else {
            index = try ProgressiveIndex(initialization.movie, movie?.header ?? [])
            progressive = index
        }
        var reading = ProgressiveReading(
            initialization,
            index,
            fileOffset: fileOffset,
            timeRange: timeRange
        )
        return try reading.read(bytes)
    }

    private func transport(
        _ bytes: UnsafeRawBufferPointer,
        _ header: UnsafeRawBufferPointer?,
        _ key: SampleKey?
    ) throws(DecodingError) -> DemuxedSegment {
        guard isContinuous else {
            return try unsafe transportStream([header, bytes].compactMap { unsafe $0 }, key: key)
        }
        guard let whole = unsafe transportCutting.add(bytes) else {
            var nothing = DemuxedSegment()
            nothing.container = .transportStream
            return nothing
        }
        return try transportStream([whole], key: key)
    }

    private func transportStream(_ parts: [[UInt8]], key: SampleKey?) throws(DecodingError) -> DemuxedSegment {
        let all = parts.count == 1 ? parts[0] : parts.flatMap { $0 }
        return try unsafe all.withUnsafeBytes { bytes in
            Result { () throws(DecodingError) in try unsafe transportStream([bytes], key: key) }
        }.get()
    }

    private func transportStream(
        _ parts: [UnsafeRawBufferPointer],
        key: SampleKey?
    ) throws(DecodingError) -> DemuxedSegment {
        let reader = try unsafe ContainerReader(MediaInput(parts), format: .transportStream)
        var reading = ContainerReading(reader, container: .transportStream)
        reading.wrap = wrap
        if let key, let bytes = unsafe parts.last {
            reading.opening = try SampleAES(key)
            reading.encryptedTracks = unsafe Self.encryptedTracks(bytes)
        }
        let result = try reading.readAll()
        if let wrap = reading.wrap { self.wrap = wrap }
        return result
    }

    private static func encryptedTracks(_ bytes: UnsafeRawBufferPointer) -> Set<Int> {
        guard let summary = unsafe TransportStreamSummary(bytes.bindMemory(to: UInt8.self).span) else { return [] }
        return Set(summary.programs.flatMap(\.streams).filter(\.isSampleEncrypted).map { Int($0.pid) })
    }

    private func packed(
        _ bytes: UnsafeRawBufferPointer,
        _ header: UnsafeRawBufferPointer?,
        _ container: MediaContainer,
        _ key: SampleKey?,
        _ startTime: MediaTime?
    ) throws(DecodingError) -> DemuxedSegment {
        if let going = packedAudio, going.container == container {
            packedAudio = nil
            return try unsafe packed(bytes, going)
        }
        var parameters: CodecParameters?
        if let header = unsafe header { parameters = try unsafe PackedAudioReading.parameters(header, container) }
        var reading = try PackedAudioReading(container, parameters: parameters)
        reading.wrap = wrap
        reading.startTime = startTime
        if let key { reading.opening = try SampleAES(key) }
        return try unsafe packed(bytes, reading)
    }

    private func packed(
        _ bytes: UnsafeRawBufferPointer,
        _ begun: PackedAudioReading
    ) throws(DecodingError) -> DemuxedSegment {
        var reading = begun
        var result = try unsafe reading.add(bytes)
        wrap = reading.wrap
        if isContinuous {
            packedAudio = reading
        } else {
            let rest = try reading.finish()
            result.packets += rest.packets
            result.tracks = rest.tracks
            if result.packets.isEmpty { result.note("there is no whole frame of sound") }
        }
        return result
    }
}

extension UnsafeRawBufferPointer {
    /// Compares eight bytes at a time, because the header of a long movie has megabytes and is compared for each of its
    /// segments.
    fileprivate func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        var index = 0
        while index <= count - 8 {
            let (left, right) = unsafe (
                loadUnaligned(fromByteOffset: index, as: UInt64.self),
                other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            )
            if left != right { return false }
            index += 8
        }
        return unsafe self[index...].elementsEqual(other[index...])
    }
}
