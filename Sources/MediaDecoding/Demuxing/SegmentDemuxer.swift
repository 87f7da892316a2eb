import MediaTiming
import SegmentFormat

/// A demuxer for the segments of one rendition, each of them complete or split at arbitrary positions.
///
/// Times are container time. The 33-bit timestamps of transport streams and packed audio are unwrapped to be close to
/// the preceding time. Use it from one thread at a time.
final class SegmentDemuxer {
    /// The maximum number of tracks of a segment; further tracks are ignored.
    static let maximumTrackCount = 32
    /// The maximum number of packets of a segment; further packets are ignored.
    static let maximumPacketCount = 1_000_000
    /// The minimum number of packets of a segment for normal playback, of which the end is not cut off intentionally.
    private static let minimumPacketCountOfSegments = 8

    private let isContinuous: Bool
    private let fileContainer: MediaContainer?
    private var lastContainer: MediaContainer?
    private var cachedMovie: (header: [UInt8], initialization: MovieInitialization)?
    /// The sample index of ``movie``, created when the first of its segments is demuxed.
    private var progressiveIndex: ProgressiveIndex?
    private var nextDecodeTimes: [UInt32: Int64] = [:]
    private var timestampUnwrapper: TimestampUnwrapper
    private var packedAudioParser: PackedAudioParser?
    private var transportStreamBuffer = TransportStreamBuffer()
    private var missingPackets = MissingPacketFinder()

    /// Creates a demuxer.
    ///
    /// - Parameters:
    ///   - isContinuous: A Boolean value that indicates whether the input is split at arbitrary positions and
    ///     contiguous until the next call of ``reset(near:)``.
    ///   - container: The container format of the file that the segments belong to; `nil` to recognize it from the bytes,
    ///     which may resemble another format in the middle of a file.
    ///   - reference: A time that 33-bit timestamps are assumed to be close to; without one, they are used unchanged.
    init(isContinuous: Bool = false, container: MediaContainer? = nil, near reference: MediaTime? = nil) {
        self.isContinuous = isContinuous
        // The first frame of a file may follow a tag of any length, so that the format of its audio is unknown.
        fileContainer = container == .id3 ? nil : container
        timestampUnwrapper = Self.makeTimestampUnwrapper(near: reference)
    }

    private static func makeTimestampUnwrapper(near reference: MediaTime?) -> TimestampUnwrapper {
        TimestampUnwrapper(near: reference.map { $0.units(in: .ninetyKilohertz) })
    }

    /// Discards the state from previous segments, as required at a discontinuity or after a seek.
    func reset(near reference: MediaTime? = nil) {
        timestampUnwrapper = Self.makeTimestampUnwrapper(near: reference)
        nextDecodeTimes = [:]
        packedAudioParser = nil
        transportStreamBuffer = TransportStreamBuffer()
        missingPackets = MissingPacketFinder()
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
    ///   - timeRange: The time range of such a segment, as returned by ``Movie/segments(minimumDuration:in:)``; consecutive segments
    ///     yield each sample once. Without it, all samples that the bytes contain are returned.
    ///   - isLast: A Boolean value that indicates whether the segment is the last one of a file, whose audio ends with
    ///     `timeRange`.
    ///   - earlierLength: The number of bytes at the start that precede the segment in a Matroska file. Only the
    ///     subtitles in these bytes are returned, as ``DemuxedSegment/earlierSubtitles``.
    /// - Returns: The readable contents and a description of any damage.
    /// - Throws: ``DecodingError`` if no track could be read.
    func demux(
        _ bytes: UnsafeRawBufferPointer,
        initialization: UnsafeRawBufferPointer? = nil,
        key: SampleKey? = nil,
        startTime: MediaTime? = nil,
        fileOffset: Int64? = nil,
        timeRange: MediaTimeRange? = nil,
        isLast: Bool = false,
        earlierLength: Int64 = 0
    ) throws(DecodingError) -> DemuxedSegment {
        let header = unsafe initialization.flatMap { unsafe $0.isEmpty ? nil : $0 }
        // The middle of a file may resemble the start of another format.
        let currentContainer = isContinuous ? lastContainer : nil
        let container =
            unsafe Self.container(header) ?? fileContainer ?? currentContainer ?? Self.container(bytes)
            ?? lastContainer
        guard let container else {
            throw DecodingError(status: .notReadable, operation: "the media format of the segment is unknown")
        }
        var result: DemuxedSegment
        switch container {
        case .isoBaseMedia:
            result = try unsafe demuxMovieSegment(
                bytes,
                header: header,
                key: key,
                fileOffset: fileOffset,
                timeRange: timeRange
            )
        case .transportStream:
            result = try unsafe demuxTransport(bytes, header: header, key: key)
        case .aac, .mpegAudio, .ac3, .enhancedAC3, .flac:
            result = try unsafe demuxPackedAudio(
                bytes,
                header: header,
                container: container,
                key: key,
                startTime: startTime,
                endTime: isLast && !isContinuous && container == .mpegAudio ? timeRange?.end : nil
            )
            // A file may end with tags, which are not audio.
            if fileOffset == nil, !isContinuous, container != .flac {
                let loss = unsafe PackedAudioLoss(bytes.bindMemory(to: UInt8.self).span)
                result.recordPackedAudioLoss(loss, of: bytes.count)
            }
        case .ogg, .wave, .matroska, .webM:
            let reader = try unsafe ContainerReader(
                MediaInput([header, bytes].compactMap { unsafe $0 }),
                format: container
            )
            var reading = ContainerPacketCollector(reader, container: container)
            reading.timeOffset = container == .wave ? startTime ?? .zero : .zero
            result = try reading.readAll()
            if earlierLength > 0 {
                let headerLength = Int64(unsafe header?.count ?? 0)
                result.separateEarlierSubtitles(before: headerLength +| earlierLength, start: startTime ?? .zero)
            }
        default:
            throw DecodingError(
                status: .unsupported,
                operation: "the segment is \(container.nameWithArticle), not media"
            )
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
        if var reading = packedAudioParser {
            packedAudioParser = nil
            return try reading.finish()
        }
        if let rest = transportStreamBuffer.finish() { return try demuxTransportChunk(rest, key: nil) }
        return DemuxedSegment()
    }

    /// The approximate memory that is retained for later segments, in bytes.
    var byteCount: Int {
        (cachedMovie.map { $0.header.count * 2 } ?? 0) + (progressiveIndex?.byteCount ?? 0)
            + transportStreamBuffer.byteCount
    }

    private static func container(_ bytes: UnsafeRawBufferPointer?) -> MediaContainer? {
        unsafe bytes.flatMap { unsafe MediaContainer($0.bindMemory(to: UInt8.self).span) }
    }
}

extension SegmentDemuxer {
    private func demuxMovieSegment(
        _ bytes: UnsafeRawBufferPointer,
        header: UnsafeRawBufferPointer?,
        key: SampleKey?,
        fileOffset: Int64?,
        timeRange: MediaTimeRange?
    ) throws(DecodingError) -> DemuxedSegment {
        let span = unsafe bytes.bindMemory(to: UInt8.self).span
        let hasFragment = Box.first(.moof, in: span) != nil
        let headerBox = Box.first(.moov, in: span)
        let hasHeader = headerBox != nil
        if let fileOffset, let header = unsafe header, !hasFragment {
            let movie = try unsafe self.movieInitialization(header)
            if movie.hasSamples {
                return try demuxProgressiveSegment(
                    span,
                    initialization: movie,
                    fileOffset: fileOffset,
                    timeRange: timeRange
                )
            }
        }
        if hasHeader, !hasFragment {
            try unsafe Self.validateSampleCount(of: bytes)
            let reader = try unsafe ContainerReader(MediaInput([bytes]), format: .isoBaseMedia)
            var reading = ContainerPacketCollector(reader, container: .isoBaseMedia)
            return try reading.readAll()
        }
        if let headerBox {
            _ = try unsafe self.movieInitialization(
                UnsafeRawBufferPointer(rebasing: bytes[..<headerBox.range.upperBound])
            )
        } else if let header = unsafe header {
            _ = try unsafe self.movieInitialization(header)
        }
        guard let cachedMovie else {
            throw DecodingError(status: .notReadable, operation: "the segment requires an initialization")
        }
        var reading = FragmentReader(cachedMovie.initialization, key: key, nextDecodeTimes: nextDecodeTimes)
        let result = try reading.read(span)
        nextDecodeTimes = reading.nextDecodeTimes
        return result
    }

    /// Rejects a movie for which FFmpeg would build an index of more samples than the movie can contain.
    private static func validateSampleCount(of bytes: UnsafeRawBufferPointer) throws(DecodingError) {
        let (movie, _) = unsafe try MovieInitialization.movie(bytes)
        let count = unsafe movie.indexEntryCount(bytes.bindMemory(to: UInt8.self).span)
        guard count <= max(65_536, 8 *| Int64(bytes.count)) else {
            throw DecodingError(
                status: .notReadable,
                operation: "the movie declares \(count) samples but has only \(bytes.count) bytes"
            )
        }
    }

    /// Returns the parsed initialization and retains it for later segments.
    private func movieInitialization(_ header: UnsafeRawBufferPointer) throws(DecodingError) -> MovieInitialization {
        if let cachedMovie, unsafe cachedMovie.header.withUnsafeBytes({ unsafe $0.hasSameBytes(as: header) }) {
            return cachedMovie.initialization
        }
        let initialization = try unsafe MovieInitialization(header)
        cachedMovie = unsafe (Array(header), initialization)
        progressiveIndex = nil
        nextDecodeTimes = [:]
        return initialization
    }

    private func demuxProgressiveSegment(
        _ bytes: Span<UInt8>,
        initialization: MovieInitialization,
        fileOffset: Int64,
        timeRange: MediaTimeRange?
    ) throws(DecodingError) -> DemuxedSegment {
        let index: ProgressiveIndex
        if let progressiveIndex {
            index = progressiveIndex
        } else {
            index = try ProgressiveIndex(initialization.movie, cachedMovie?.header ?? [])
            progressiveIndex = index
        }
        var reading = ProgressiveReader(
            initialization,
            index,
            fileOffset: fileOffset,
            timeRange: timeRange
        )
        return try reading.read(bytes)
    }

    private func demuxTransport(
        _ bytes: UnsafeRawBufferPointer,
        header: UnsafeRawBufferPointer?,
        key: SampleKey?
    ) throws(DecodingError) -> DemuxedSegment {
        guard isContinuous else {
            var result = try unsafe demuxTransportStream([header, bytes].compactMap { unsafe $0 }, key: key)
            let span = unsafe bytes.bindMemory(to: UInt8.self).span
            if let layout = TransportPacketLayout(span) {
                let loss = layout.loss(in: span)
                result.byteLoss.add(loss.skippedByteCount, of: span.count)
                result.discontinuousTracks = Set(loss.discontinuousPIDs.map { Int($0) })
                // The byte range of a key frame for trick play contains few packets, and may end anywhere.
                result.isTruncated =
                    result.packets.count >= Self.minimumPacketCountOfSegments && layout.endsWithinPacket(span)
            }
            return result
        }
        guard let whole = unsafe transportStreamBuffer.append(bytes) else {
            var nothing = DemuxedSegment()
            nothing.container = .transportStream
            return nothing
        }
        return try demuxTransportChunk(whole, key: key)
    }

    /// Demuxes the next packets of the stream, and records the media that is missing in them or directly before them.
    private func demuxTransportChunk(_ packets: [UInt8], key: SampleKey?) throws(DecodingError) -> DemuxedSegment {
        var result = try demuxTransportStream([packets], key: key)
        missingPackets.recordLosses(in: &result, packets: packets.span)
        return result
    }

    private func demuxTransportStream(_ parts: [[UInt8]], key: SampleKey?) throws(DecodingError) -> DemuxedSegment {
        let all = parts.count == 1 ? parts[0] : parts.flatMap { $0 }
        return try unsafe all.withUnsafeBytes { bytes in
            Result { () throws(DecodingError) in try unsafe demuxTransportStream([bytes], key: key) }
        }.get()
    }

    private func demuxTransportStream(
        _ parts: [UnsafeRawBufferPointer],
        key: SampleKey?
    ) throws(DecodingError) -> DemuxedSegment {
        let reader = try unsafe ContainerReader(MediaInput(parts), format: .transportStream)
        var reading = ContainerPacketCollector(reader, container: .transportStream)
        reading.timestampUnwrapper = timestampUnwrapper
        if let key, let bytes = unsafe parts.last {
            reading.decryptor = try SampleAESDecryptor(key)
            reading.encryptedTracks = unsafe Self.encryptedTracks(bytes)
        }
        let result = try reading.readAll()
        if let wrap = reading.timestampUnwrapper { self.timestampUnwrapper = wrap }
        return result
    }

    private static func encryptedTracks(_ bytes: UnsafeRawBufferPointer) -> Set<Int> {
        guard let summary = unsafe TransportStreamSummary(bytes.bindMemory(to: UInt8.self).span) else { return [] }
        return Set(summary.programs.flatMap(\.streams).filter(\.isSampleEncrypted).map { Int($0.pid) })
    }

    private func demuxPackedAudio(
        _ bytes: UnsafeRawBufferPointer,
        header: UnsafeRawBufferPointer?,
        container: MediaContainer,
        key: SampleKey?,
        startTime: MediaTime?,
        endTime: MediaTime?
    ) throws(DecodingError) -> DemuxedSegment {
        if let going = packedAudioParser, going.container == container {
            packedAudioParser = nil
            return try unsafe demuxPackedAudio(bytes, parser: going)
        }
        var parameters: CodecParameters?
        if let header = unsafe header {
            parameters = try unsafe PackedAudioParser.codecParameters(header: header, container: container)
        }
        var reading = try PackedAudioParser(container, parameters: parameters)
        reading.timestampUnwrapper = timestampUnwrapper
        reading.startTime = startTime
        // The segments of a file that is known completely end with it, whatever its description declares.
        reading.appliesDeclaredEnd = isContinuous
        reading.endTime = endTime?.units(in: PackedAudioParser.timeBase)
        if let key { reading.decryptor = try SampleAESDecryptor(key) }
        return try unsafe demuxPackedAudio(bytes, parser: reading)
    }

    private func demuxPackedAudio(
        _ bytes: UnsafeRawBufferPointer,
        parser begun: PackedAudioParser
    ) throws(DecodingError) -> DemuxedSegment {
        var reading = begun
        var result = try unsafe reading.append(bytes)
        timestampUnwrapper = reading.timestampUnwrapper
        if isContinuous {
            packedAudioParser = reading
        } else {
            let rest = try reading.finish()
            result.packets += rest.packets
            result.tracks = rest.tracks
            if result.packets.isEmpty { result.recordProblem("the segment contains no complete audio frame") }
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
