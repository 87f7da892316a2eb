package import FuzzTargets
import MediaTiming
import SegmentFormat
import StreamingEngine

extension FuzzTarget {
    /// The demultiplexers of the playback pipeline and the decryption of samples, in listing order.
    ///
    /// FFmpeg reads the headers of movies, the packets of transport streams and the frames of packed audio for them. Formats that
    /// FFmpeg alone demultiplexes, such as Ogg and Matroska, are not included.
    package static let decoding: [FuzzTarget] = [
        FuzzTarget(
            "movie-packets",
            "samples of movies and of movie fragments",
            maximumLength: 8_192,
            furtherSeeds: ["mp4", "fragments"],
            run: readMovie
        ),
        FuzzTarget(
            "mpeg-ts-packets",
            "samples of transport streams, whole and in chunks",
            maximumLength: 8_192,
            replayCount: 200,
            furtherSeeds: ["mpeg-ts"],
            run: readStream
        ),
        FuzzTarget(
            "packed-audio-packets",
            "frames of packed audio, whole and in chunks",
            furtherSeeds: ["packed-audio"],
            run: readStream
        ),
        FuzzTarget(
            "sample-encryption",
            "samples that are encrypted individually, in movie fragments, transport streams and packed audio",
            maximumLength: 8_192,
            furtherSeeds: ["packed-audio"],
            run: decryptSamples
        ),
    ]
}

/// The maximum number of segments of a file that are demultiplexed.
private let maximumSegmentCount = 32

/// Demultiplexes a movie as one segment, as a segment after its initialization section, and as a file in byte ranges.
@Sendable private func readMovie(_ bytes: [UInt8]) {
    var whole = CheckedDemultiplexer()
    whole.read(bytes)
    if let header = Box.first(.moov, in: bytes.span)?.range.upperBound {
        var stream = CheckedDemultiplexer()
        let initialization = Array(bytes[..<header])
        // The second time, tracks without decode times continue after the first one.
        for _ in 0..<2 { stream.read(Array(bytes[header...]), initialization: initialization) }
    }
    readFile(bytes)
}

/// Demultiplexes the byte ranges of a file, as far as its index gives them.
private func readFile(_ bytes: [UInt8]) {
    let options = MediaFileIndexer.Options(
        minimumSegmentDuration: MediaTime(value: 1, timescale: 10),
        maximumRequestCount: 40
    )
    guard var index = MediaFileIndexer(head: bytes, length: Int64(bytes.count), options: options) else { return }
    while case .needsBytes(let range) = index.state { index.add(part(of: bytes, range)) }
    guard case .ready(let timeline) = index.state else { return }
    var file = CheckedDemultiplexer()
    for segment in timeline.segments.prefix(maximumSegmentCount) {
        let position = PipelineSegment.FilePosition(
            offset: segment.byteRange.start,
            firstTimestamp: timeline.firstTimestamp,
            beginsWithinFrames: timeline.boundaryAccuracy == .approximate,
            isLast: segment == timeline.segments.last
        )
        file.read(
            part(of: bytes, segment.byteRange),
            initialization: timeline.initializationRange.map { part(of: bytes, $0) },
            timeRange: segment.timeRange,
            position: position
        )
    }
}

/// Returns the bytes of a range, as far as they exist.
private func part(of bytes: [UInt8], _ range: ByteRange) -> [UInt8] {
    Array(bytes.dropFirst(Int(clamping: range.start)).prefix(Int(clamping: range.length)))
}

/// Demultiplexes a stream as one segment, as a file in byte ranges, and in chunks of equal size that begin anywhere.
///
/// The last byte selects the number of chunks.
@Sendable private func readStream(_ bytes: [UInt8]) {
    var whole = CheckedDemultiplexer()
    whole.read(bytes)
    readFile(bytes)
    let count = [1, 2, 3, 8, 16][Int(bytes.last ?? 0) % 5]
    let size = max(1, (bytes.count + count - 1) / count)
    var chunks = CheckedDemultiplexer()
    for start in stride(from: 0, to: bytes.count, by: size) {
        let end = min(bytes.count, start + size)
        let position = PipelineSegment.FilePosition(
            offset: Int64(start),
            firstTimestamp: .zero,
            beginsWithinFrames: true,
            isLast: end == bytes.count
        )
        chunks.read(Array(bytes[start..<end]), position: position)
    }
}

/// Demultiplexes a segment whose samples are encrypted individually, with two keys and without one.
///
/// A key that does not match changes the contents of the samples, but neither their number nor their sizes and times.
@Sendable private func decryptSamples(_ bytes: [UInt8]) {
    var withoutKey = CheckedDemultiplexer()
    let encrypted = withoutKey.read(bytes)
    let vectors: [[UInt8]?] = [[UInt8](repeating: 7, count: 16), nil]
    for vector in vectors {
        let summaries = [UInt8(1), 2].map { octet -> SampleSummary? in
            var demultiplexer = CheckedDemultiplexer()
            let protection = PipelineSegment.SampleProtection(
                method: "SAMPLE-AES",
                key: [UInt8](repeating: octet, count: 16),
                initializationVector: vector
            )
            return demultiplexer.read(bytes, protection: protection)
        }
        check(summaries[0] == summaries[1], "the key changes the number, the sizes or the times of the samples")
        guard let decrypted = summaries[0], let encrypted else { continue }
        check(decrypted.tracks.count == encrypted.tracks.count, "decryption changes the number of tracks")
        for (track, original) in zip(decrypted.tracks, encrypted.tracks) {
            check(track.sampleCount == original.sampleCount, "decryption changes the number of samples")
            // The bytes that prevent start codes in encrypted media are removed.
            check(track.byteCount <= original.byteCount, "decryption enlarges the samples")
        }
    }
}
