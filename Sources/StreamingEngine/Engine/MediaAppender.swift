import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import PlaybackReporting
import ResourceAddressing

/// A sender of segments and gaps to the pipeline, which records accepted ranges in the buffer.
struct MediaAppender: Sendable {
    /// A range of media time without media.
    struct Gap: Sendable {
        let range: MediaTimeRange
        /// The segment; `nil` for a range for which the playlist has no segment.
        var segment: SegmentIdentification?
        var domain = DiscontinuityDomain(sequence: 0)
        let reason: SkippedSegment.Reason
        /// The error that caused the gap; `nil` for a gap that the playlist declares.
        var error: StreamingError?
    }

    /// The media file that is played; `nil` for a stream.
    var file: OpenedFile?
    /// A Boolean value that indicates whether the pipeline has accepted media of a required track.
    private(set) var hasMedia = false

    // MARK: Segments

    /// Appends a loaded segment to the pipeline.
    func append(
        _ loaded: SegmentLoader.Loaded,
        of job: FetchJob,
        _ kind: TrackKind,
        _ plan: inout FetchPlan,
        _ sink: inout EffectSink
    ) {
        let segment = job.segment
        let variant = plan.catalog.variant(of: job.source).map { VariantDescription($0) }
        let type = plan.mediaType(of: kind)
        var request = ResourceRequest(
            .mediaSegment,
            TransportRequest(segment.address, kind: .segment, byteRange: segment.byteRange),
            loaded.fetched
        )
        request.mediaType = type
        request.variant = variant
        request.segmentDuration = segment.duration
        request.indexAddress = job.source.address.withoutUserInformation.text
        sink.report(.resourceRequest(request))
        plan.catalog.chooser.add(loaded.fetched, of: segment, variant: job.source.variantID)
        var piece = PipelineSegment(
            type: type,
            content: loaded.content,
            range: segment.range,
            discontinuityDomain: PipelineSegment.Domain(
                playlist: job.source.address.withoutUserInformation.text,
                sequence: segment.domain.sequence
            ),
            sampleProtection: loaded.protection,
            variant: variant,
            position: filePlace(of: segment, in: plan.tracks[kind].timeline)
        )
        let isTrickPlay = plan.catalog.isTrickPlay(job.source)
        piece.declaresOwnDuration =
            file == nil && !isTrickPlay && Self.declaresOwnDuration(segment, in: plan.tracks[kind].timeline)
        plan.tracks[kind].fetch = .appending(
            SegmentAppend(
                job: job,
                type: type,
                variant: variant,
                byteCount: piece.byteCount,
                transferredBytes: request.bytes,
                transferDuration: loaded.fetched.endTime - loaded.fetched.startTime,
                isTrickPlay: isTrickPlay
            )
        )
        sink.add(.begin(.append(request: job.request, piece)))
        if case .media(let bytes, let initialization) = loaded.content {
            plan.findTracks(in: bytes.readableBytesView, initialization: initialization?.bytes, of: job.source, &sink)
        }
    }

    /// Returns a Boolean value that indicates whether a segment is the last one of a playlist, with another duration than the segment
    /// before.
    private static func declaresOwnDuration(_ segment: SegmentReference, in timeline: PresentationTimeline?) -> Bool {
        guard let timeline, !timeline.isLive, timeline.segments.count > 1, let last = timeline.segments.last,
            last.sequence == segment.sequence, last.address == segment.address, last.range == segment.range
        else { return false }
        let previous = timeline.range(at: timeline.segments.count -| 2)
        return abs((previous.duration - last.duration).seconds) > 0.05
    }

    /// Returns the identification of a segment in reports; the parts of a media file have no numbers.
    func identification(of segment: SegmentReference) -> SegmentIdentification {
        SegmentIdentification(
            address: segment.address.withoutUserInformation.text,
            sequence: file == nil ? segment.sequence : nil
        )
    }

    private func filePlace(
        of segment: SegmentReference,
        in timeline: PresentationTimeline?
    ) -> PipelineSegment.FilePosition? {
        guard let file, let timeline else { return nil }
        return PipelineSegment.FilePosition(
            segment.byteRange,
            in: file,
            isLast: segment.range.end >= timeline.end
        )
    }

    /// Records that the pipeline accepted a segment.
    ///
    /// - Returns: The range to remove again, if the segment is no longer needed.
    mutating func finish(
        _ append: SegmentAppend,
        _ range: MediaTimeRange,
        _ kind: TrackKind,
        _ plan: inout FetchPlan,
        _ sink: inout EffectSink
    ) -> DiscardedRange? {
        if append.isTrickPlay, !plan.tracks.trickPlay.isActive {
            return DiscardedRange(type: append.type, range: range)
        }
        // The option was changed while its cues were appended.
        if kind == .subtitles, plan.tracks.subtitles.source?.identity != append.job.source.identity {
            return .allSubtitles
        }
        hasMedia = hasMedia || kind.isRequired
        let segment = append.job.segment
        plan.tracks[kind].failures.succeeded()
        plan.catalog.exclusions.succeeded(append.job.source)
        plan.tracks[kind].buffer.insert(
            StreamBuffer.Entry(
                range: range,
                type: append.type,
                byteCount: append.byteCount,
                variant: append.variant,
                isTrickPlay: append.isTrickPlay,
                segment: identification(of: segment)
            )
        )
        sink.report(
            .segmentLoaded(
                LoadedSegment(
                    address: segment.address.withoutUserInformation.text,
                    mediaType: append.type,
                    variant: append.variant,
                    range: range,
                    // Bytes that were stored before are not transferred, but part of the segment.
                    bytes: max(append.transferredBytes, ByteCount(Int64(append.byteCount))),
                    transferDuration: append.transferDuration,
                    isOverdue: append.transferDuration > segment.duration.duration
                )
            )
        )
        return nil
    }

    // MARK: Gaps

    /// Appends a range without media to the pipeline.
    func append(_ gap: Gap, _ kind: TrackKind, _ plan: inout FetchPlan, _ sink: inout EffectSink) {
        let type = plan.mediaType(of: kind)
        let piece = PipelineSegment(
            type: type,
            content: .gap,
            range: gap.range,
            discontinuityDomain: PipelineSegment.Domain(
                playlist: plan.tracks[kind].source?.address.withoutUserInformation.text ?? "",
                sequence: gap.domain.sequence
            )
        )
        let append = GapAppend(
            request: sink.nextRequest(),
            range: gap.range,
            segment: gap.segment,
            type: type,
            reason: gap.reason,
            isTrickPlay: kind == .main && plan.tracks.trickPlay.isActive,
            error: gap.error
        )
        plan.tracks[kind].fetch = .appendingGap(append)
        sink.add(.begin(.append(request: append.request, piece)))
    }

    /// Records that the pipeline accepted a range without media.
    ///
    /// - Returns: The range to remove again, if the gap is no longer needed.
    func finish(
        _ append: GapAppend,
        _ range: MediaTimeRange,
        _ kind: TrackKind,
        _ plan: inout FetchPlan,
        _ sink: inout EffectSink
    ) -> DiscardedRange? {
        if append.isTrickPlay, !plan.tracks.trickPlay.isActive {
            return DiscardedRange(type: append.type, range: range)
        }
        plan.tracks[kind].buffer.insert(
            StreamBuffer.Entry(
                range: range,
                type: append.type,
                byteCount: 0,
                variant: nil,
                isTrickPlay: append.isTrickPlay,
                hasNoMedia: true
            )
        )
        plan.tracks[kind].isVariantDecided = false
        plan.tracks[kind].failures.tried = []
        sink.report(
            .segmentSkipped(
                SkippedSegment(
                    address: append.segment?.address ?? "",
                    mediaType: append.type,
                    range: append.range,
                    reason: append.reason,
                    sequence: append.segment?.sequence
                )
            )
        )
        return nil
    }
}
