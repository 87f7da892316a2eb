import HLSPlaylist
import MediaTiming
import SegmentFormat
import StreamingEngine

/// The formats of the tracks and the timestamp offsets of media to export, from the first segment of each part.
struct ExportPreparation {
    /// The conversions of the tracks of a source.
    struct Tracks {
        var video: TrackConversion?
        var audio: TrackConversion?
    }

    /// The offsets of the timestamps.
    private(set) var mapping = TimestampMapping()
    /// The tracks of each source, by its index.
    private(set) var tracks: [Int: Tracks] = [:]
    /// The times by which sources begin after the main source, by their indices; negative for a source that begins earlier.
    ///
    /// A source that is not listed begins with the main source.
    private(set) var delays: [Int: MediaTime] = [:]
    /// The start of the exported media on the timeline of the playlists.
    private(set) var start = MediaTime.zero
    /// The end of the exported media on the timeline of the playlists.
    private(set) var end = MediaTime.zero

    /// The index of the source that determines the timestamp offsets: the first with video, otherwise the first with
    /// audio; `nil` if there are only subtitles.
    static func mainIndex(_ sources: [ExportSource]) -> Int? {
        sources.firstIndex { $0.contents == .all || $0.contents == .video }
            ?? sources.firstIndex { $0.contents == .audio }
    }

    /// Creates the preparation from the first segment of each source, and that of each discontinuity sequence of the main
    /// source.
    init(_ sources: [ExportSource], isolation: isolated (any Actor)? = #isolation) async throws {
        let main = Self.mainIndex(sources)
        let timed = main ?? sources.indices.first
        if let timed {
            let segments = sources[timed].reader.playlist.segments
            if let first = sources[timed].nextPosition(from: 0) { start = segments[first].start }
            if let last = segments.indices.last(where: { !sources[timed].omittedSegments.contains($0) }) {
                end = segments[last].start + segments[last].duration
            }
        }
        // The offsets of the main source first: they apply to the other sources.
        let order = [main].compactMap { $0 } + sources.indices.filter { $0 != main }
        for index in order where sources[index].contents != .subtitles {
            try await read(sources[index], index, besides: main.map { sources[$0] }, readsAll: index == main)
        }
    }

    private mutating func read(
        _ source: ExportSource,
        _ index: Int,
        besides main: ExportSource?,
        readsAll: Bool,
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        var demuxers = DemuxerPool()
        let segments = source.reader.playlist.segments
        let mayChange = Set(segments.map(\.discontinuitySequence)).count > 1
        var finished: Int64?
        var found = Tracks()
        var position = source.nextPosition(from: 0)
        while let current = position {
            try Task.checkCancellation()
            position = source.nextPosition(from: current + 1)
            guard segments[current].discontinuitySequence != finished else { continue }
            let piece = try await source.reader.segment(at: current)
            guard let media = try DecodableSegment(piece, source.contents, track: source.fileTrack, &demuxers) else {
                continue
            }
            for samples in [media.video, media.audio].compactMap({ $0 }) {
                let input = media.mappingInput(for: samples)
                if !readsAll, let main, delays[index] == nil {
                    let start = source.reader.start(byDatesOf: main.reader)
                    delays[index] = mapping.delay(of: input, startByDates: start)
                }
                _ = mapping.offset(of: input.delayed(by: delays[index] ?? .zero))
            }
            if let video = media.video, found.video == nil {
                found.video = try TrackConversion(video, mayChange: mayChange)
            }
            if let audio = media.audio, found.audio == nil {
                found.audio = try TrackConversion(audio, mayChange: mayChange)
            }
            // A track of a file may begin later than the others.
            if source.fileTrack != nil, found.audio == nil { continue }
            finished = segments[current].discontinuitySequence
            if !readsAll { break }
        }
        tracks[index] = found
    }
}

extension DecodableSegment {
    /// Creates a demuxed segment; `nil` for a gap.
    ///
    /// - Parameters:
    ///   - piece: The segment.
    ///   - contents: The media types to select.
    ///   - track: The audio track of a media file; `nil` for the first one.
    ///   - demuxers: The demuxers of the source.
    /// - Throws: ``DecodingError`` if the segment contains no media that can be read.
    init?(
        _ piece: PipelineSegment,
        _ contents: ExportSource.Contents,
        track: FileTrack? = nil,
        _ demuxers: inout DemuxerPool
    ) throws {
        guard case .media(let bytes, let initialization) = piece.content else { return nil }
        let segment = try demuxers.demux(piece, bytes, initialization)
        let period = segment.container?.timestampPeriod
        func samples(_ kind: MediaTrack.MediaType) -> Samples? {
            segment.tracks.lazy.filter { $0.kind == kind }
                .compactMap { Samples(segment, $0, timestampPeriod: period) }.first
        }
        let audio: Samples? =
            if let track {
                segment.fileTracks(.audio)[track].flatMap { Samples(segment, $0, timestampPeriod: period) }
            } else {
                samples(.audio)
            }
        self.init(
            type: piece.type,
            range: piece.range,
            domain: piece.discontinuityDomain,
            fileOffset: piece.filePosition.map { .zero - $0.firstTimestamp },
            isDamaged: segment.isDamaged,
            video: contents == .audio ? nil : samples(.video),
            audio: contents == .video ? nil : audio
        )
    }
}
