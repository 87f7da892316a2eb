import MediaTiming
import PlaylistEditing
import SegmentFormat

extension FuzzTarget {
    /// The parsers of media containers.
    static let mediaTargets = [
        FuzzTarget("mp4", "ISO base media files: movies, sample tables, indexes", replayCount: 600, run: readMovie),
        FuzzTarget(
            "fragments",
            "fragmented segments: movie fragments, events, subtitles in samples",
            replayCount: 600,
            furtherSeeds: ["mp4"],
            run: readFragments
        ),
        FuzzTarget("mpeg-ts", "MPEG-2 transport streams", maximumLength: 8_192, run: readTransportStream),
        FuzzTarget("packed-audio", "ADTS, MPEG audio, AC-3 and Enhanced AC-3 frames, FLAC", run: readPackedAudio),
        FuzzTarget("id3", "ID3 tags", replayCount: 600, furtherSeeds: ["packed-audio"], run: readTag),
        FuzzTarget("matroska", "Matroska and WebM files", replayCount: 600, run: readFile),
        FuzzTarget("ogg", "Ogg files", replayCount: 600, run: readFile),
        FuzzTarget("wav", "WAVE files", replayCount: 600, run: readFile),
        FuzzTarget(
            "segment-parts",
            "segments that are divided into partial segments",
            maximumLength: 8_192,
            furtherSeeds: ["fragments", "mpeg-ts", "packed-audio"],
            run: divideSegment
        ),
    ]
}

/// Indexes bytes as a media file that is loaded in ranges.
///
/// The last byte selects the declared length of the file, and the number of bytes selects the size of the first range.
@Sendable func readFile(_ bytes: [UInt8]) {
    _ = MediaContainer(bytes.span)
    let lengths: [Int64?] = [Int64(bytes.count), nil, Int64(bytes.count) + 1_000, 1 << 40, .max]
    let length = lengths[Int(bytes.last ?? 0) % lengths.count]
    let head = Array(bytes.prefix(bytes.count % 2 == 0 ? 600 : bytes.count))
    let options = MediaFileIndexer.Options(minimumSegmentDuration: MediaTime(seconds: 1), maximumRequestCount: 40)
    guard var index = MediaFileIndexer(head: head, length: length, options: options) else { return }
    while case .needsBytes(let range) = index.state {
        check(index.requestCount <= options.maximumRequestCount, "more requests than the options allow")
        check(range.start >= 0 && range.length > 0, "an empty range is requested")
        check(range.length <= Int64(MediaFileIndexer.maximumRequestSize), "a request exceeds its limit")
        index.add(Array(bytes.dropFirst(Int(clamping: range.start)).prefix(Int(clamping: range.length))))
    }
    guard case .ready(let timeline) = index.state else { return }
    check(timeline.segments)
    if let duration = timeline.duration { check(duration >= .zero, "the duration of a file is negative") }
    check(timeline.metadata, of: bytes)
}

/// Checks that the metadata of a file is within its limits.
private func check(_ metadata: MediaFileMetadata, of bytes: [UInt8]) {
    for text in [metadata.title, metadata.artist, metadata.albumTitle].compactMap({ $0 }) {
        check(!text.isEmpty, "a text of the metadata is empty")
        check(text.utf8.count <= MediaFileMetadata.maximumTextLength, "a text of the metadata exceeds its limit")
    }
    if let artwork = metadata.artwork { check(artwork.bytes.count <= bytes.count, "an image is larger than its file") }
}

/// Checks that pieces are valid and in order.
private func check(_ segments: [MediaFileSegment]) {
    check(segments.count <= Movie.maximumSegmentCount, "a file has more pieces than the limit")
    var start = MediaTime.zero
    for piece in segments {
        check(piece.timeRange.start >= start, "the pieces of a file are not in order")
        check(piece.timeRange.duration >= .zero, "a piece has a negative duration")
        check(piece.byteRange.start >= 0 && piece.byteRange.length >= 0, "a piece has no valid byte range")
        start = piece.timeRange.start
    }
}

@Sendable private func readMovie(_ bytes: [UInt8]) {
    let span = bytes.span
    readFile(bytes)
    let movie = (try? Movie(span)) ?? FragmentedSegment(span).movie
    _ = try? EventMessage(span)
    _ = try? ProducerReferenceTime(span)
    if let index = try? SegmentIndex(span) {
        check(index.references.count <= bytes.count, "an index has more references than bytes")
        check(index.timeRange.duration >= .zero, "an index has a negative duration")
    }
    guard let movie else { return }
    check(movie.tracks.count <= Movie.maximumTrackCount, "a movie has more tracks than the limit")
    check(movie.segments(minimumDuration: MediaTime(seconds: 1), in: span))
    for track in movie.tracks {
        _ = track.mediaTrack
        guard let table = track.sampleTable else { continue }
        check(table.duration >= .zero, "a sample table has a negative duration")
        _ = table.syncSampleTimes(span)
        guard let samples = track.samples(in: span, limit: 20_000) else { continue }
        check(samples.count <= 20_000, "more samples than the limit")
        var time = Int64.min
        for sample in samples {
            check(sample.decodeTime >= time, "decode times are not in order")
            check(
                sample.size >= 0 && sample.count > 0 && sample.endOffset >= sample.offset,
                "a sample has no valid extent"
            )
            _ = sample.presentationTime
            _ = sample.count(before: sample.decodeTime.saturated(1_000))
            _ = sample.subrange(0..<min(2, sample.count)).duration
            _ = sample.indices(in: sample.offset..<sample.endOffset)
            time = sample.decodeTime
        }
    }
}

extension Int64 {
    /// Returns the sum, or the maximum if it overflows.
    fileprivate func saturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

@Sendable private func readFragments(_ bytes: [UInt8]) {
    let span = bytes.span
    for offset in [0, 1 << 40, Int64.max] {
        let segment = FragmentedSegment(span, fileOffset: offset)
        for index in segment.indexes { check(index.timeRange.duration >= .zero, "an index has a negative duration") }
        for event in segment.events { check(event.message.count <= bytes.count, "an event is larger than its input") }
        guard let movie = segment.movie else { continue }
        for track in movie.tracks {
            if let range = segment.timeRange(of: track.id) { check(range.duration >= .zero, "a negative duration") }
            for sample in FragmentSample.samples(in: span, movie: movie, trackID: track.id) {
                check(
                    sample.bytes.lowerBound >= 0 && sample.bytes.upperBound <= bytes.count,
                    "a sample is out of bounds"
                )
                check(sample.timeRange.duration >= .zero, "a sample has a negative duration")
            }
        }
        for fragment in segment.fragments {
            for track in fragment.tracks { _ = (track.decodeTime, track.presentationTime, track.duration) }
        }
    }
    guard let subtitles = FragmentedSubtitles(initialization: span), let cues = try? subtitles.cues(in: span) else {
        return
    }
    show(cues)
}

@Sendable private func readTransportStream(_ bytes: [UInt8]) {
    readFile(bytes)
    let span = bytes.span
    for reference in [nil, 0, 1 << 33, Int64.max, Int64.min] {
        guard let summary = TransportStreamSummary(span, near: reference) else { return }
        check(summary.packetCount <= bytes.count / 188 + 1, "more packets than bytes")
        if let range = summary.timeRange(upTo: summary) { check(range.duration >= .zero, "a negative duration") }
        _ = TransportStreamSummary(span, near: reference, programs: summary.programs)
    }
    for coding in [CaptionTriplet.VideoCodec.avc, .hevc] {
        check(
            CaptionTriplet.triplets(inByteStream: span, codec: coding).count <= bytes.count,
            "more captions than bytes"
        )
    }
}

@Sendable private func readPackedAudio(_ bytes: [UInt8]) {
    readFile(bytes)
    for offset in 0..<min(bytes.count, 64) {
        guard let header = AudioFrameHeader(bytes.span, at: offset) else { continue }
        check(header.frameLength > 0 && header.sampleRate > 0, "a frame has no length or no sample rate")
        check(header.duration >= .zero, "a frame has a negative duration")
    }
    guard let summary = PackedAudioSummary(bytes.span) else { return }
    check(summary.duration >= .zero, "a negative duration")
    check(
        summary.firstFrameOffset + summary.frameByteCount + summary.skippedByteCount == bytes.count,
        "the parts of packed audio do not add up"
    )
}

@Sendable private func readTag(_ bytes: [UInt8]) {
    guard let tag = ID3Tag(bytes.span) else { return }
    check(tag.byteCount <= bytes.count, "a tag is longer than its input")
    check(tag.frames.count <= ID3Tag.maximumFrameCount, "a tag has more frames than the limit")
    var size = 0
    for frame in tag.frames { size += frame.id.utf8.count + FuzzTargets.size(of: frame.value) }
    check(size <= 8 * bytes.count, "the frames of a tag are much larger than the tag")
    _ = tag.transportTimestamp
}

/// Divides bytes into the parts of a segment, which is its own initialization section.
///
/// The number of bytes selects the number of parts, and the last byte the duration of each.
@Sendable private func divideSegment(_ bytes: [UInt8]) {
    let count = [1, 2, 3, 8, SegmentPart.maximumCount][bytes.count % 5]
    let target = MediaTime(value: Int64(bytes.last ?? 0) + 1, timescale: 100)
    let division = SegmentDivision(of: MediaTime(seconds: 2), target: target, count: count)
    guard let parts = try? division.parts(of: bytes, initialization: bytes) else { return }
    check(parts.count == count && parts.count == division.partCount, "a segment has another number of parts")
    if MediaContainer(bytes.span) == .transportStream {
        check(Array(parts.joined()) == bytes, "the parts of a transport stream are not the whole stream")
    }
    // Each part of packed audio begins with a tag, and each fragment has a header for each track and entry for each sample.
    let size = parts.reduce(0) { $0 + $1.count }
    check(size <= 32 * bytes.count + 4_096 * count, "the parts are much larger than their segment")
    for part in parts {
        guard let movie = FragmentedSegment(bytes.span).movie else { continue }
        for track in movie.tracks {
            for sample in FragmentSample.samples(in: part.span, movie: movie, trackID: track.id) {
                check(sample.bytes.upperBound <= part.count, "a sample is outside of its part")
            }
        }
    }
}

private func size(of value: ID3Tag.Value) -> Int {
    switch value {
    case .text(let values): values.reduce(0) { $0 + $1.utf8.count }
    case .userText(let description, let values): values.reduce(description.utf8.count) { $0 + $1.utf8.count }
    case .url(let url): url.utf8.count
    case .userURL(let description, let url): description.utf8.count + url.utf8.count
    case .comment(let language, let description, let text):
        language.utf8.count + description.utf8.count + text.utf8.count
    case .privateData(let owner, let data): owner.utf8.count + data.count
    case .object(let mimeType, let fileName, let description, let data):
        mimeType.utf8.count + fileName.utf8.count + description.utf8.count + data.count
    case .attachedImage(let mimeType, _, let description, let data):
        mimeType.utf8.count + description.utf8.count + data.count
    case .other(let data): data.count
    }
}
