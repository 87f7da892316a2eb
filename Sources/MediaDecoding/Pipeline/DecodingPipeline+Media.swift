public import MediaTiming
public import PlaybackReporting
import SegmentFormat
public import StreamingEngine

/// Buffers media until it is decoded.
extension DecodingPipeline {
    /// Demuxes a segment and buffers it until its presentation time.
    public func append(_ piece: MediaPiece) async throws -> MediaTimeRange {
        guard !isClosed else { throw MediaPipelineError(.lost, "the decoder is closed") }
        if piece.type == .subtitles {
            if options.subtitleOutput != nil { try subtitles.append(piece) }
            changes.notify()
            return piece.range
        }
        let (decodable, messages) = try takeApart(piece)
        let held = video.timeline.cost + (sound?.feed.timeline.cost ?? 0)
        let added = (decodable.video?.byteCount ?? 0) + (decodable.audio?.byteCount ?? 0)
        guard added <= Self.mostSampleBytes - held else {
            throw MediaPipelineError(
                .notDecodable,
                "the samples that wait to be decoded would take more than \(Self.mostSampleBytes >> 20) MiB"
            )
        }
        // Before any audio of the segment is decoded, because video determines the timestamp mapping.
        if let pictures = decodable.video { _ = mapping.offset(of: decodable.stretch(pictures)) }
        switch piece.type {
        case .video: video.timeline.insert(decodable, at: piece.range)
        case .audio: sound?.feed.timeline.insert(decodable, at: piece.range)
        case .muxed:
            video.timeline.insert(decodable, at: piece.range)
            sound?.feed.timeline.insert(decodable, at: piece.range)
        case .subtitles: break
        }
        if let stretch = messages.stretch {
            metadata.insert(messages.all, of: piece.type, offset: mapping.offset(of: stretch))
        }
        changes.notify()
        return piece.range
    }

    /// Removes buffered media of a type in a time range.
    public func discard(_ type: MediaType, in range: MediaTimeRange) async {
        if type == .subtitles { return subtitles.discard(range) }
        metadata.discard(type, in: range)
        if type != .audio { video.timeline.remove(range) { $0.type == type } }
        if type != .video { sound?.feed.timeline.remove(range) { $0.type == type } }
    }

    /// The timed metadata of a segment and the information from which its times are mapped.
    private typealias Messages = (all: [TimedMetadata], stretch: TimestampMapping.Stretch?)

    private func takeApart(_ piece: MediaPiece) throws -> (DecodablePiece, Messages) {
        guard case .media(let bytes, let initialization) = piece.content, piece.type != .subtitles else {
            let empty = DecodablePiece(
                type: piece.type,
                range: piece.range,
                domain: piece.domain,
                video: nil,
                audio: nil
            )
            return (empty, ([], nil))
        }
        let segment: DemuxedSegment
        do throws(DecodingError) {
            segment = try demuxers.demux(piece, bytes, initialization)
        } catch {
            throw MediaPipelineError(error.code == .unsupported ? .unsupported : .notDecodable, error.message)
        }
        let wrap = segment.container?.timestampWrap
        func samples(_ kind: MediaTrack.Kind) -> DecodablePiece.Samples? {
            segment.tracks.lazy.filter { $0.kind == kind }
                .compactMap { DecodablePiece.Samples(segment, $0, wrap: wrap) }.first
        }
        let decodable = DecodablePiece(
            type: piece.type,
            range: piece.range,
            domain: piece.domain,
            knownOffset: piece.place.map { .zero - $0.firstTimestamp },
            isDamaged: segment.isDamaged,
            video: piece.type == .audio ? nil : samples(.video),
            audio: piece.type == .video || sound == nil ? nil : samples(.audio)
        )
        guard decodable.video != nil || segment.tracks.contains(where: { $0.kind == .audio }) else {
            let problem = segment.problems.first ?? "it holds neither pictures nor sound"
            throw MediaPipelineError(.notDecodable, "the segment cannot be decoded: \(problem)")
        }
        guard !segment.metadata.isEmpty, let leading = decodable.video ?? samples(.audio) else {
            return (decodable, ([], nil))
        }
        return (decodable, (segment.metadata, decodable.stretch(leading)))
    }
}
