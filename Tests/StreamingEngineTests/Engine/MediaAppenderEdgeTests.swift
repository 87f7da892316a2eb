import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import PlaybackReporting
import ResourceAddressing
import SegmentFormat
import Testing

@testable import StreamingEngine

/// Tests of the pieces that are sent to the pipeline, and of the records of accepted pieces.
///
/// The playlist has six segments of 4 s.
@Suite struct MediaAppenderEdgeTests {
    /// The state in which a segment of the main track is loaded.
    private struct Stage {
        var plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
        var sink = EffectSink(now: .seconds(9))
        var appender = MediaAppender()
        let timeline: PresentationTimeline
        let source: StreamSource

        init(_ window: LiveWindowText = LiveWindowText(tail: ["#EXT-X-ENDLIST"])) throws {
            let playlist = try window.playlist
            timeline = PresentationTimeline(playlist)
            let presentation = Presentation(playlist)
            let variant = try #require(presentation.variants.first)
            source = StreamSource(
                variant,
                location: 0,
                address: ResourceAddress("https://user:secret@example.com/live/video.m3u8")
            )
            plan.catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
            for kind in [TrackKind.main, .audio, .subtitles] { plan.tracks[kind] = track }
            plan.tracks.audio.source = nil
            plan.tracks.subtitles.source = nil
        }

        private var track: TrackState {
            var track = TrackState()
            track.source = source
            track.playlist = LoadedPlaylist(
                source: source,
                timeline: timeline,
                requestStart: .zero,
                lastUpdate: .zero
            )
            return track
        }

        func job(_ index: Int) -> FetchJob {
            let segment = timeline.segments[index]
            return FetchJob(request: 5, segment: segment, source: source, began: .zero, isSubstitute: false)
        }

        /// Returns the piece that is sent to the pipeline for a loaded segment.
        mutating func piece(_ index: Int) throws -> PipelineSegment {
            let job = job(index)
            let bytes = ByteBuffer(repeating: 1, count: 3)
            let loaded = SegmentLoader.Loaded(
                content: .media(bytes, initialization: nil),
                protection: PipelineSegment.SampleProtection(method: "SAMPLE-AES", key: [1], initializationVector: nil),
                fetched: FetchedResource(
                    bytes: bytes,
                    address: job.segment.address,
                    contentType: nil,
                    measurement: TransferMeasurement(requestStart: .seconds(1)),
                    startTime: .seconds(1),
                    endTime: .seconds(3),
                    status: 200
                )
            )
            appender.append(loaded, of: job, .main, &plan, &sink)
            return try appended()
        }

        /// Returns the piece that is being sent to the pipeline.
        mutating func appended() throws -> PipelineSegment {
            let pieces = sink.takeEffects(with: nil).compactMap { effect -> PipelineSegment? in
                if case .begin(.append(_, let piece)) = effect { piece } else { nil }
            }
            return try #require(pieces.first)
        }

        func append(
            transferred: Int64 = 0,
            bytes: Int = 0,
            duration: Duration = .zero,
            isTrickPlay: Bool = false
        ) -> SegmentAppend {
            SegmentAppend(
                job: job(1),
                type: .muxed,
                variant: nil,
                byteCount: bytes,
                transferredBytes: ByteCount(transferred),
                transferDuration: duration,
                isTrickPlay: isTrickPlay
            )
        }

        /// Records that the pipeline accepted a segment.
        mutating func finish(_ append: SegmentAppend, _ kind: TrackKind = .main) -> DiscardedRange? {
            appender.finish(append, append.job.segment.range, kind, &plan, &sink)
        }

        /// The segments whose load was reported.
        mutating func loaded() -> [LoadedSegment] {
            sink.takeEffects(with: nil).compactMap { effect in
                guard case .report(let event) = effect, case .segmentLoaded(let segment) = event.kind else {
                    return nil
                }
                return segment
            }
        }
    }

    // MARK: Pieces

    /// The last segment has another duration than the others; the playlist has ended.
    @Test(arguments: [
        ("2", 6, true), ("2", 5, false), ("4", 6, false), ("4.05", 6, false), ("4.06", 6, true), ("3.95", 6, false),
        ("3.94", 6, true),
    ])
    func onlyTheLastSegmentDeclaresADurationOfItsOwn(duration: String, index: Int, isOwn: Bool) throws {
        let tail = ["#EXTINF:\(duration),", "last.ts"]
        var stage = try Stage(LiveWindowText(tail: tail + ["#EXT-X-ENDLIST"]))
        #expect(try stage.piece(index).declaresOwnDuration == isOwn)
        var live = try Stage(LiveWindowText(tail: tail))
        #expect(try live.piece(index).declaresOwnDuration == false)
    }

    @Test func aSingleSegmentDeclaresNoDurationOfItsOwn() throws {
        var single = try Stage(LiveWindowText(count: 0, tail: ["#EXTINF:2,", "last.ts", "#EXT-X-ENDLIST"]))
        #expect(try single.piece(0).declaresOwnDuration == false)
        var two = try Stage(LiveWindowText(count: 1, tail: ["#EXTINF:2,", "last.ts", "#EXT-X-ENDLIST"]))
        #expect(try two.piece(1).declaresOwnDuration)
    }

    private func file(_ playlist: MediaPlaylist) -> OpenedFile {
        OpenedFile(
            playlist: playlist,
            container: .isoBaseMedia,
            firstTimestamp: seconds("7"),
            beginsWithinFrames: true,
            tracks: [],
            metadata: MediaFileMetadata(),
            shortfall: nil,
            problem: nil
        )
    }

    @Test func theSegmentsOfAFileHaveAPosition() throws {
        let head = ["#EXT-X-BYTERANGE:100@50"]
        let tail = ["#EXTINF:2,", "last.ts", "#EXT-X-ENDLIST"]
        var stage = try Stage(LiveWindowText(head: head, tail: tail))
        #expect(try stage.piece(0).filePosition == nil)
        stage.appender.file = file(stage.timeline.playlist)
        let first = try #require(try stage.piece(0).filePosition)
        #expect(first.offset == 50 && !first.isLast && first.firstTimestamp == seconds("7"))
        #expect(first.beginsWithinFrames && first.container == .isoBaseMedia)
        let last = try stage.piece(6)
        #expect(last.filePosition?.offset == 0 && last.filePosition?.isLast == true && !last.declaresOwnDuration)
        #expect(stage.appender.identification(of: stage.timeline.segments[1]).sequence == nil)
    }

    /// The byte range of the segment begins with subtitles in progress.
    @Test func aPositionHasTheLengthOfEarlierSubtitles() throws {
        var stage = try Stage(LiveWindowText(head: ["#EXT-X-BYTERANGE:100@50"], tail: ["#EXT-X-ENDLIST"]))
        var opened = file(stage.timeline.playlist)
        opened.earlierLengths = [try #require(ByteRange(start: 50, length: 100)): 20]
        stage.appender.file = opened
        let (first, second) = (try stage.piece(0), try stage.piece(1))
        #expect(first.filePosition?.earlierLength == 20 && second.filePosition?.earlierLength == 0)
    }

    @Test func aPieceHasThePropertiesOfItsSegment() throws {
        var stage = try Stage(LiveWindowText(first: 3, discontinuitySequence: 8, tail: ["#EXT-X-ENDLIST"]))
        let piece = try stage.piece(1)
        #expect(piece.type == .muxed && piece.byteCount == 3 && piece.sampleProtection?.key == [1])
        #expect(piece.range == stage.timeline.segments[1].range && piece.variant?.id == "media")
        let domain = PipelineSegment.Domain(playlist: "https://example.com/live/video.m3u8", sequence: 8)
        #expect(piece.discontinuityDomain == domain)
        let identification = stage.appender.identification(of: stage.timeline.segments[1])
        #expect(identification.sequence == 4 && identification.address == "https://example.com/live/segment4.ts")
        guard case .appending(let append) = stage.plan.tracks.main.fetch else {
            Issue.record("not appending")
            return
        }
        #expect(append.job.request == 5 && append.byteCount == 3 && append.transferDuration == .seconds(2))
        #expect(append.transferredBytes == ByteCount(3) && !append.isTrickPlay)
    }

    // MARK: Segments

    @Test(arguments: [(0, 5, 5), (9, 5, 9), (5, 5, 5)] as [(Int64, Int, Int64)])
    func theGreaterNumberOfBytesIsReported(transferred: Int64, bytes: Int, reported: Int64) throws {
        var stage = try Stage()
        let discarded = stage.finish(stage.append(transferred: transferred, bytes: bytes))
        #expect(discarded == nil && stage.loaded().map(\.bytes) == [ByteCount(reported)])
        #expect(stage.plan.tracks.main.buffer.byteCount == bytes)
        #expect(stage.plan.tracks.main.buffer.entries.first?.segment?.sequence == 1)
    }

    @Test(arguments: [(3_999, false), (4_000, false), (4_001, true)])
    func aTransferThatTakesLongerThanItsSegmentIsOverdue(milliseconds: Int, isOverdue: Bool) throws {
        var stage = try Stage()
        _ = stage.finish(stage.append(duration: .milliseconds(milliseconds)))
        let loaded = stage.loaded()
        #expect(loaded.map(\.isOverdue) == [isOverdue])
        #expect(loaded.map(\.transferDuration) == [.milliseconds(milliseconds)])
        #expect(loaded.map(\.range) == [stage.timeline.segments[1].range] && loaded.map(\.mediaType) == [.muxed])
    }

    @Test func onlyMediaOfRequiredTracksIsMedia() throws {
        for (kind, hasMedia) in [(TrackKind.subtitles, false), (.audio, true), (.main, true)] {
            var stage = try Stage()
            stage.plan.tracks[kind].source = stage.source
            stage.plan.tracks[kind].failures.tried = [stage.source]
            #expect(!stage.appender.hasMedia)
            let discarded = stage.finish(stage.append(), kind)
            #expect(discarded == nil && stage.appender.hasMedia == hasMedia)
            #expect(stage.plan.tracks[kind].failures.tried.isEmpty)
            _ = stage.finish(stage.append(), .subtitles)
            #expect(stage.appender.hasMedia == hasMedia)
        }
    }

    @Test func cuesOfAFormerOptionAreRemoved() throws {
        var stage = try Stage()
        let removed = stage.finish(stage.append(), .subtitles)
        #expect(removed == .allSubtitles && stage.plan.tracks.subtitles.buffer.entries.isEmpty)
        #expect(stage.loaded().isEmpty)
        // Audio of a former option is played until the selected one is loaded.
        let kept = stage.finish(stage.append(), .audio)
        #expect(kept == nil && stage.plan.tracks.audio.buffer.entries.count == 1)
    }

    @Test func framesAreRemovedAfterTrickPlay() throws {
        var stage = try Stage()
        let range = stage.timeline.segments[1].range
        let removed = stage.finish(stage.append(isTrickPlay: true))
        #expect(removed == DiscardedRange(type: .muxed, range: range) && !stage.appender.hasMedia)
        stage.plan.tracks.trickPlay = .on(TrickPlay.Return(source: stage.source, timeline: nil))
        let kept = stage.finish(stage.append(isTrickPlay: true))
        #expect(kept == nil && stage.plan.tracks.main.buffer.entries.first?.isTrickPlay == true)
    }

    // MARK: Gaps

    private func gap(isTrickPlay: Bool = false, segment: SegmentIdentification?) -> GapAppend {
        GapAppend(
            request: 1,
            range: MediaTimeRange(start: seconds("4"), end: seconds("8")),
            segment: segment,
            type: .video,
            reason: .outOfWindow,
            isTrickPlay: isTrickPlay,
            error: nil
        )
    }

    @Test func aGapIsRecordedWithoutMedia() throws {
        var stage = try Stage()
        stage.plan.tracks.main.isVariantDecided = true
        stage.plan.tracks.main.failures.tried = [stage.source]
        let accepted = MediaTimeRange(start: seconds("4"), end: seconds("7"))
        let segment = SegmentIdentification(address: "https://example.com/a.ts", sequence: 9)
        for identification in [segment, nil] {
            let discarded = stage.appender.finish(
                gap(segment: identification),
                accepted,
                .main,
                &stage.plan,
                &stage.sink
            )
            #expect(discarded == nil)
        }
        #expect(stage.plan.tracks.main.buffer.withoutMedia.ranges == [accepted])
        #expect(!stage.plan.tracks.main.isVariantDecided && stage.plan.tracks.main.failures.tried.isEmpty)
        let skipped = stage.sink.takeEffects(with: nil).compactMap { effect -> SkippedSegment? in
            guard case .report(let event) = effect, case .segmentSkipped(let segment) = event.kind else { return nil }
            return segment
        }
        #expect(skipped.map(\.address) == ["https://example.com/a.ts", ""] && skipped.map(\.sequence) == [9, nil])
        #expect(skipped.map(\.range.end) == [seconds("8"), seconds("8")])
        #expect(skipped.allSatisfy { $0.reason == .outOfWindow && $0.mediaType == .video })
    }

    @Test func aGapOfTrickPlayIsRemovedAfterIt() throws {
        var stage = try Stage()
        let accepted = MediaTimeRange(start: seconds("4"), end: seconds("8"))
        let gap = gap(isTrickPlay: true, segment: nil)
        let removed = stage.appender.finish(gap, accepted, .main, &stage.plan, &stage.sink)
        #expect(removed == DiscardedRange(type: .video, range: accepted))
        #expect(stage.plan.tracks.main.buffer.entries.isEmpty)
        stage.plan.tracks.trickPlay = .on(TrickPlay.Return(source: stage.source, timeline: nil))
        let kept = stage.appender.finish(gap, accepted, .main, &stage.plan, &stage.sink)
        #expect(kept == nil && stage.plan.tracks.main.buffer.entries.first?.isTrickPlay == true)
    }

    @Test func aGapIsSentToThePipeline() throws {
        var stage = try Stage()
        let range = MediaTimeRange(start: seconds("4"), end: seconds("8"))
        var gap = MediaAppender.Gap(range: range, reason: .notLoaded)
        gap.domain = stage.timeline.segments[0].domain
        gap.error = StreamingError(.notLoaded, "no")
        stage.appender.append(gap, .main, &stage.plan, &stage.sink)
        let piece = try stage.appended()
        #expect(piece.range == range && piece.byteCount == 0 && piece.type == .muxed)
        #expect(piece.discontinuityDomain.playlist == "https://example.com/live/video.m3u8")
        guard case .appendingGap(let append) = stage.plan.tracks.main.fetch else {
            Issue.record("not appending")
            return
        }
        #expect(append.reason == .notLoaded && append.error?.code == .notLoaded && !append.isTrickPlay)
        #expect(append.segment == nil && append.request == 1)
        stage.appender.append(gap, .subtitles, &stage.plan, &stage.sink)
        let other = try stage.appended()
        #expect(other.type == .subtitles && other.discontinuityDomain.playlist == "")
    }

    @Test func onlyGapsOfTheMainTrackBelongToTrickPlay() throws {
        var stage = try Stage()
        let range = MediaTimeRange(start: seconds("4"), end: seconds("8"))
        let gap = MediaAppender.Gap(range: range, reason: .gap)
        stage.plan.tracks.trickPlay = .on(TrickPlay.Return(source: stage.source, timeline: nil))
        for (kind, isTrickPlay) in [(TrackKind.main, true), (.audio, false), (.subtitles, false)] {
            stage.appender.append(gap, kind, &stage.plan, &stage.sink)
            guard case .appendingGap(let append) = stage.plan.tracks[kind].fetch else {
                Issue.record("not appending")
                return
            }
            #expect(append.isTrickPlay == isTrickPlay)
        }
    }
}
