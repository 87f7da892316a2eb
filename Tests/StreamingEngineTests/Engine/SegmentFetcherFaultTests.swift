import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the recovery from failures of segments, and of gaps at which playback fails.
///
/// The only variant has six segments of 4 s, of which the one from 4 s to 8 s is transferred.
@Suite struct SegmentFetcherFaultTests {
    private struct Stage {
        var plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
        var sink = EffectSink(now: .zero)
        var fetcher = SegmentFetcher()
        let source: StreamSource
        let segment: SegmentReference

        /// Creates a state in which media up to the given end is in the buffer.
        init(loaded: String = "4", isLive: Bool = false) throws {
            let presentation = Presentation(try multivariant("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"))
            let variant = try #require(presentation.variants.first)
            let timeline = PresentationTimeline(try LiveWindowText(tail: isLive ? [] : ["#EXT-X-ENDLIST"]).playlist)
            source = StreamSource(variant, location: 0, address: variant.address)
            segment = timeline.segments[1]
            plan.catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
            plan.tracks.main.source = source
            plan.tracks.main.playlist = LoadedPlaylist(
                source: source,
                timeline: timeline,
                requestStart: .zero,
                lastUpdate: .zero
            )
            insert(loaded)
        }

        /// Puts media from the start up to the given end into the buffer.
        mutating func insert(_ end: String) {
            plan.tracks.main.buffer.insert(
                StreamBuffer.Entry(
                    range: MediaTimeRange(start: .zero, end: seconds(end)),
                    type: .muxed,
                    byteCount: 1,
                    variant: nil
                )
            )
        }

        static func moment(_ now: Int = 0, seek: PlaybackMoment.Seek? = nil) -> PlaybackMoment {
            PlaybackMoment(
                now: .seconds(now),
                position: .zero,
                isPositioned: true,
                seek: seek,
                desiredRate: 1,
                isPausedAtStart: false,
                rate: 1,
                timebase: Timebase(),
                limits: PlaybackMoment.Limits(StreamingOptions())
            )
        }

        /// Ends the transfer with a failure at a time; returns the state of the track as text.
        mutating func fail(
            _ status: Int,
            _ kind: ResourceRequest.Kind = .mediaSegment,
            at now: Int = 0,
            seek: PlaybackMoment.Seek? = nil
        ) -> String {
            plan.tracks.main.failures.retryTime = nil
            plan.tracks.main.fetch = .transferring(
                FetchJob(request: 5, segment: segment, source: source, began: .zero, isSubstitute: false)
            )
            let error = TransportError(.status, "status \(status)", status: status)
            let consequence = fetcher.receive(
                .failure(SegmentLoader.Failure.transport(error, kind)),
                TransferProgress(measurement: nil, expectedBytes: nil),
                for: 5,
                &plan,
                Self.moment(now, seek: seek),
                &sink
            )
            if case .fail = consequence { return "fail" }
            if case .appendingGap(let gap) = plan.tracks.main.fetch { return "gap \(gap.reason.rawValue)" }
            if plan.tracks.main.failures.terminalError != nil { return "end" }
            return plan.tracks.main.failures.retryTime.map { "retry \($0 / .seconds(1))" } ?? "none"
        }

        /// Begins to append a gap that follows from an error.
        mutating func appendGap(_ kind: TrackKind = .main, hasError: Bool = true) {
            plan.tracks[kind].fetch = .appendingGap(
                GapAppend(
                    request: 7,
                    range: segment.range,
                    segment: nil,
                    type: .muxed,
                    reason: .notLoaded,
                    isTrickPlay: false,
                    error: hasError ? StreamingError(.notLoaded, "no") : nil
                )
            )
        }

        /// Accepts the gap; returns whether playback fails.
        mutating func acceptGap(seek: PlaybackMoment.Seek? = nil) -> Bool {
            let range = segment.range
            let moment = Self.moment(seek: seek)
            let result = fetcher.appended(.success(range), for: 7, &plan, moment, &sink)
            if case .fail = result.consequence { return true }
            return false
        }

        /// Records that the pipeline accepted media.
        mutating func acceptMedia() {
            plan.tracks.main.fetch = .appending(
                SegmentAppend(
                    job: FetchJob(request: 6, segment: segment, source: source, began: .zero, isSubstitute: false),
                    type: .muxed,
                    variant: nil,
                    byteCount: 1,
                    transferredBytes: ByteCount(1),
                    transferDuration: .zero,
                    isTrickPlay: false
                )
            )
            let range = segment.range
            _ = fetcher.appended(.success(range), for: 6, &plan, Self.moment(), &sink)
        }
    }

    // MARK: Failures

    @Test func aMissingSegmentOfALiveStreamIsAwaited() throws {
        var live = try Stage(isLive: true)
        let liveState = live.fail(404)
        let isChanged = live.sink.takeChange()
        #expect(liveState == "retry 1.0" && isChanged && live.plan.tracks.main.failures.tried == [live.source])
        var stage = try Stage()
        let state = stage.fail(404)
        #expect(state == "gap notLoaded" && stage.plan.tracks.main.failures.tried == [stage.source])
    }

    /// A busy server is asked for twenty seconds, or for as long as the buffer lasts.
    @Test(
        arguments: [("0.9", nil, true), ("1", nil, false), ("4", false, true), ("4", true, true)]
            as [(String, Bool?, Bool)]
    )
    func aBusySegmentIsSkippedIfItIsNeededNow(loaded: String, seekIsStart: Bool?, isSkipped: Bool) throws {
        let seek = seekIsStart.map { PlaybackMoment.Seek(target: seconds("4"), isStart: $0) }
        var stage = try Stage(loaded: loaded)
        let first = stage.fail(503, seek: seek)
        let second = stage.fail(503, at: 20, seek: seek)
        #expect(first == "retry 1.0" && second.hasPrefix("gap") == isSkipped)
    }

    @Test func aDeniedSegmentEndsPlaybackAfterTheBuffer() throws {
        var stage = try Stage()
        let early = stage.fail(403, .contentKey)
        stage.acceptMedia()
        _ = stage.sink.takeChange()
        let late = stage.fail(403, .contentKey)
        let isChanged = stage.sink.takeChange()
        #expect(early == "fail" && late == "end" && isChanged)
        #expect(stage.plan.tracks.main.failures.terminalError?.status == 403)
    }

    // MARK: Gaps

    @Test func playbackFailsAtTheEndIfThereIsNoMedia() throws {
        var stage = try Stage(loaded: "24")
        stage.appendGap()
        _ = stage.sink.takeChange()
        let fails = stage.acceptGap()
        let isChanged = stage.sink.takeChange()
        #expect(fails && isChanged && !stage.plan.tracks.main.isFetching)
        stage.appendGap(hasError: false)
        let failsAtDeclaredGap = stage.acceptGap()
        stage.appendGap()
        let failsAtStart = stage.acceptGap(seek: PlaybackMoment.Seek(target: .zero, isStart: true))
        stage.appendGap()
        let failsAtSeek = stage.acceptGap(seek: PlaybackMoment.Seek(target: .zero, isStart: false))
        #expect(!failsAtDeclaredGap && failsAtStart && !failsAtSeek)
        stage.appendGap(.subtitles)
        let failsAtSubtitles = stage.acceptGap()
        stage.acceptMedia()
        stage.appendGap()
        let failsAfterMedia = stage.acceptGap()
        #expect(!failsAtSubtitles && !failsAfterMedia)
    }

    @Test func playbackGoesOnIfSegmentsAreLeft() throws {
        var stage = try Stage(loaded: "20")
        stage.appendGap()
        let fails = stage.acceptGap()
        #expect(!fails && stage.plan.tracks.main.buffer.withoutMedia.ranges == [stage.segment.range])
    }

    /// The first segment is a gap of the playlist.
    ///
    /// Another variant may have it, but another audio rendition does not.
    @Test(
        arguments: [(.main, false, "load high.m3u8"), (.main, true, "gap"), (.audio, false, "gap")]
            as [(TrackKind, Bool, String)]
    )
    func onlyAVariantIsReplacedAtAGap(kind: TrackKind, isTrickPlay: Bool, expected: String) throws {
        let text = LiveWindowText(tail: ["#EXT-X-ENDLIST"]).text
            .replacing("#EXTINF:4,\nsegment0.ts", with: "#EXT-X-GAP\n#EXTINF:4,\nsegment0.ts")
        let playlist = try media(text)
        var stage = try FollowerStage()
        _ = stage.adopt(playlist, from: stage.low)
        _ = stage.adopt(playlist, from: stage.audio, for: .audio)
        stage.plan.tracks.main.isVariantDecided = true
        if isTrickPlay {
            stage.plan.tracks.trickPlay = .on(TrickPlay.Return(source: stage.low, timeline: nil))
        }
        var fetcher = SegmentFetcher()
        let (follower, moment) = (stage.follower, stage.moment)
        let step = fetcher.advance(kind, &stage.plan, follower, moment, startOfPlayback: .zero, &stage.sink)
        var outcome = "other"
        if case .loadPlaylist(let source) = step { outcome = "load \(source.address.lastPathComponent)" }
        if case .appendingGap(let gap) = stage.plan.tracks[kind].fetch { outcome = gap.reason.rawValue }
        let isReplaced = expected != "gap"
        #expect(outcome == expected && stage.plan.tracks.main.failures.tried.contains(stage.low) == isReplaced)
        #expect(stage.plan.tracks.main.source == (isReplaced ? stage.high : stage.low))
    }

    // MARK: Steps

    @Test func anObsoleteTransferIsCancelledOnce() throws {
        var stage = try Stage()
        let job = FetchJob(
            request: 5,
            segment: stage.segment,
            source: stage.source,
            began: .zero,
            isSubstitute: false
        )
        stage.plan.tracks.main.fetch = .obsolete(job)
        stage.plan.tracks.main.nextStepTime = .seconds(3)
        var cancelled: [Int] = []
        for _ in 0..<2 {
            let moment = Stage.moment()
            _ = stage.fetcher.advance(
                .main,
                &stage.plan,
                PlaylistFollower(),
                moment,
                startOfPlayback: .zero,
                &stage.sink
            )
            cancelled += stage.sink.takeEffects(with: nil).compactMap { effect in
                if case .cancel(let request) = effect { request } else { nil }
            }
        }
        #expect(cancelled == [5] && stage.plan.tracks.main.nextStepTime == nil && stage.plan.tracks.main.isFetching)
    }
}
