public import MediaTiming
public import PlaybackReporting
import SegmentFormat
public import StreamingEngine

/// Buffers media until it is decoded.
extension DecodingPipeline {
    /// Demuxes a segment and buffers it until its presentation time.
    public func append(_ segment: PipelineSegment) async throws -> MediaTimeRange {
        guard !isClosed else { throw MediaPipelineError(.deviceLost, "the decoder is closed") }
        if segment.type == .subtitles {
            if options.subtitleOutput != nil { try subtitles.append(segment) }
            changes.notify()
            return segment.range
        }
        let (decodable, messages, cues) = try demux(segment)
        let held = video.timeline.cost + (audio?.feed.timeline.cost ?? 0)
        let added = (decodable.video?.byteCount ?? 0) + decodable.audioByteCount
        guard added <= Self.maximumSampleSize - held else {
            throw MediaPipelineError(
                .notDecodable,
                "the samples that are buffered for decoding exceed \(Self.maximumSampleSize >> 20) MiB"
            )
        }
        // Before any audio of the segment is decoded, because video determines the timestamp mapping.
        if let pictures = decodable.video { _ = mapping.offset(of: decodable.mappingInput(for: pictures)) }
        switch segment.type {
        case .video: video.timeline.insert(decodable, at: segment.range)
        case .audio: audio?.feed.timeline.insert(decodable, at: segment.range)
        case .muxed:
            video.timeline.insert(decodable, at: segment.range)
            audio?.feed.timeline.insert(decodable, at: segment.range)
        case .subtitles: break
        }
        if decodable.mayLackMedia, let leading = decodable.video ?? decodable.audio,
            let lost = decodable.ownLoss(offset: mapping.offset(of: decodable.mappingInput(for: leading)))
        {
            reportUnplayable(lost.type, in: lost.range)
        }
        let timeline = segment.type == .audio ? audio?.feed.timeline : video.timeline
        let missing = timeline?.missingMedia(around: decodable, &mapping) ?? []
        for range in missing { reportUnplayable(decodable.type, in: range) }
        if !cues.isEmpty { subtitles.fileSubtitles.insert(cues) }
        if let stretch = messages.stretch {
            metadata.insert(messages.all, of: segment.type, offset: mapping.offset(of: stretch))
        }
        changes.notify()
        return segment.range
    }

    /// Removes buffered media of a type in a time range.
    public func discard(_ type: MediaType, in range: MediaTimeRange) async {
        if type == .subtitles {
            subtitles.discard(range)
            // Cues that are displayed disappear.
            return changes.notify()
        }
        metadata.discard(type, in: range)
        if type != .audio { subtitles.fileSubtitles.discard(range) }
        if type != .audio { video.timeline.remove(range) { $0.type == type } }
        if type != .video { audio?.feed.timeline.remove(range) { $0.type == type } }
    }

    /// The timed metadata of a segment and the information from which its times are mapped.
    private typealias MetadataToMap = (all: [TimedMetadata], stretch: TimestampMapping.Input?)

    /// Returns the samples, the timed metadata and the subtitles of a segment, of which only those of a media file
    /// contain subtitles besides other media.
    private func demux(_ piece: PipelineSegment) throws -> (DecodableSegment, MetadataToMap, FileSubtitles.Cues) {
        guard case .media(let bytes, let initialization) = piece.content, piece.type != .subtitles else {
            let empty = DecodableSegment(
                type: piece.type,
                range: piece.range,
                domain: piece.discontinuityDomain,
                video: nil,
                audio: nil
            )
            return (empty, ([], nil), [:])
        }
        let segment: DemuxedSegment
        do throws(DecodingError) {
            segment = try demuxers.demux(piece, bytes, initialization)
        } catch {
            throw MediaPipelineError(error.code == .unsupported ? .unsupported : .notDecodable, error.message)
        }
        let wrap = segment.container?.timestampPeriod
        func samples(_ kind: MediaTrack.MediaType) -> DecodableSegment.Samples? {
            segment.tracks.lazy.filter { $0.kind == kind }
                .compactMap { DecodableSegment.Samples(segment, $0, timestampPeriod: wrap) }.first
        }
        var decodable = DecodableSegment(
            type: piece.type,
            range: piece.range,
            domain: piece.discontinuityDomain,
            fileOffset: piece.filePosition.map { .zero - $0.firstTimestamp },
            isDamaged: segment.isDamaged,
            hasLostBytes: segment.byteLoss.lost >= Self.minimumLostByteCount || segment.isTruncated,
            video: piece.type == .audio ? nil : samples(.video),
            audio: piece.type == .video || audio == nil ? nil : samples(.audio)
        )
        if piece.filePosition == nil { decodable.hasContiguousSamples = wrap != nil }
        decodable.declaresOwnDuration = piece.declaresOwnDuration
        var cues: FileSubtitles.Cues = [:]
        if let position = piece.filePosition {
            if decodable.audio != nil {
                decodable.fileAudio = segment.fileTracks(.audio).compactMapValues { format in
                    DecodableSegment.Samples(segment, format, timestampPeriod: wrap)
                }
            }
            if options.subtitleOutput != nil {
                cues = FileSubtitles.cues(of: segment, offset: .zero - position.firstTimestamp)
            }
        }
        decodable.noteLoss(in: segment, playing: decodable.audioSamples(of: audio?.feed.track))
        let leadingTrack = decodable.video?.format ?? segment.tracks.first { $0.kind == .audio }
        if let loss = segment.lossDescription(of: leadingTrack) {
            throw MediaPipelineError(.notDecodable, "the segment cannot be decoded: \(loss)")
        }
        guard decodable.video != nil || segment.tracks.contains(where: { $0.kind == .audio }) else {
            let problem = segment.problems.first ?? "it contains neither video nor audio"
            throw MediaPipelineError(.notDecodable, "the segment cannot be decoded: \(problem)")
        }
        guard !segment.metadata.isEmpty, let leading = decodable.video ?? samples(.audio) else {
            return (decodable, ([], nil), cues)
        }
        return (decodable, (segment.metadata, decodable.mappingInput(for: leading)), cues)
    }
}
