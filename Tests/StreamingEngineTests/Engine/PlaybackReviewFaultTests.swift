import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the review of the playhead at 10 s of the clock: the ends of playback, the next review and the live offset.
///
/// The playlist has six segments of 4 s, and an I-frame playlist. The pipeline has the rate that is asked for.
@Suite struct PlaybackReviewFaultTests {
    private struct Stage {
        var control: PlaybackControl
        var item: ItemFacts

        /// Creates a state whose media is loaded up to a position.
        init(
            _ position: String = "5",
            rate: Double = 1,
            loaded: String = "24",
            isLive: Bool = false,
            isPositioned: Bool = true,
            _ change: (inout StreamingOptions) -> Void = { _ in }
        ) throws {
            var options = StreamingOptions()
            change(&options)
            var control = PlaybackControl(options: options, at: .zero)
            let presentation = Presentation(
                try multivariant(
                    "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360\nlow.m3u8\n"
                        + "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,URI=\"i.m3u8\"\n"
                )
            )
            let variant = try #require(presentation.variants.first)
            control.plan.catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
            let source = control.plan.catalog.source(for: variant, at: .zero)
            control.plan.tracks.main.source = source
            control.plan.tracks.main.isVariantDecided = true
            control.plan.tracks.main.playlist = LoadedPlaylist(
                source: source,
                timeline: PresentationTimeline(
                    try LiveWindowText(tail: isLive ? [] : ["#EXT-X-ENDLIST"]).playlist
                ),
                requestStart: .seconds(10),
                lastUpdate: .seconds(10)
            )
            control.plan.tracks.main.buffer.insert(
                StreamBuffer.Entry(
                    range: MediaTimeRange(start: .zero, end: seconds(loaded)),
                    type: .muxed,
                    byteCount: 1,
                    variant: nil
                )
            )
            control.playhead.observation.abilities = MediaPipelineCapabilities(
                supportsReversePlayback: true,
                fullPresentationRates: -2...2
            )
            control.playhead.observation.timebase = Timebase(
                mediaTime: seconds(position),
                time: .seconds(10),
                rate: rate
            )
            control.sink.begin(at: .seconds(10))
            if isPositioned { control.playhead.land() }
            _ = control.playhead.machine.becomeReady(at: .zero)
            control.setRate(rate, .setRateCalled, atOnce: true)
            // The settings of the output are commands of the first review only.
            _ = control.output.changes(options, control.plan.catalog.selection)
            _ = control.sink.takeEffects(with: nil)
            self.control = control
            item = ItemFacts(playbackType: isLive ? .live : .vod, isFile: false, hasMedia: true)
        }

        /// Reviews the playhead; returns the error of the consequence.
        mutating func review() -> String? {
            guard case .fail(let error) = control.reviewPlayhead(item) else { return nil }
            return error.code.rawValue
        }

        /// The time of the next review; `nil` if there is none.
        var nextReview: Duration? {
            guard case .at(let time) = control.review else { return nil }
            return time
        }

        /// Removes the effects; returns the names of the reports.
        mutating func reports() -> [String] {
            control.sink.takeEffects(with: nil).compactMap { effect in
                if case .report(let event) = effect { event.kind.name } else { nil }
            }
        }
    }

    // MARK: Ends

    @Test(
        arguments: [("23.9", 1, false), ("24", 1, true), ("24", 2, true), ("24", 0, false)]
            as [(String, Double, Bool)]
    )
    func playbackEndsAtTheEnd(position: String, rate: Double, isEnded: Bool) throws {
        var stage = try Stage(position, rate: rate)
        let failure = stage.review()
        #expect(failure == nil && stage.control.playhead.machine.hasEnded == isEnded)
        #expect(stage.control.playhead.end == (isEnded ? MediaTime(seconds: 24) : nil))
        #expect(stage.control.playhead.machine.desiredRate == (isEnded ? 0 : rate))
        #expect(stage.control.sink.isSnapshotRequested)
        let reports = stage.reports()
        #expect(reports.contains("end") == isEnded)
    }

    @Test func theRateRemainsAtTheEndIfTheApplicationAsksForIt() throws {
        var stage = try Stage("24") { $0.pausesAtEnd = false }
        _ = stage.review()
        #expect(stage.control.playhead.machine.hasEnded && stage.control.playhead.machine.desiredRate == 1)
    }

    @Test(
        arguments: [("0", nil, true), ("0.001", nil, false), ("3", "3", true), ("3.001", "3", false)]
            as [(String, String?, Bool)]
    )
    func reversePlaybackPausesAtTheStart(position: String, start: String?, isPaused: Bool) throws {
        var stage = try Stage(position, rate: -1) { $0.reversePlaybackEndTime = start.map { seconds($0) } }
        _ = stage.review()
        #expect(stage.control.playhead.machine.desiredRate == (isPaused ? 0 : -1))
        #expect(stage.control.playhead.machine.isPausedAtStart == isPaused)
    }

    /// The seekable range ends three target durations before the live edge.
    @Test(arguments: [("12", true, 1), ("11.99", true, 2), ("12", false, 2)] as [(String, Bool, Double)])
    func fastPlaybackContinuesAtTheNormalRateAtTheLiveEdge(position: String, isLive: Bool, rate: Double) throws {
        var stage = try Stage(position, rate: 2, isLive: true)
        stage.item = ItemFacts(playbackType: isLive ? .live : .vod, isFile: false, hasMedia: true)
        _ = stage.review()
        #expect(stage.control.playhead.machine.desiredRate == rate)
    }

    @Test(arguments: [("5", 1, nil), ("7.99", 1, "damaged"), ("7.99", 0, nil)] as [(String, Double, String?)])
    func anErrorEndsPlaybackAfterTheBuffer(position: String, rate: Double, failure: String?) throws {
        var stage = try Stage(position, rate: rate, loaded: "8")
        stage.control.plan.tracks.main.failures.terminalError = StreamingError(.damaged, "no")
        let outcome = stage.review()
        #expect(outcome == failure)
    }

    @Test func anErrorEndsASeekAtOnce() throws {
        var stage = try Stage(loaded: "8")
        stage.control.beginSeek(to: seconds("20"), tolerance: .exact, origin: .refresh)
        stage.control.plan.tracks.main.failures.terminalError = StreamingError(.damaged, "no")
        let outcome = stage.review()
        #expect(outcome == "damaged")
    }

    // MARK: Next review

    @Test(
        arguments: [
            ("5", 1, "24", 29_000), ("5", 2, "24", 19_500), ("5", 1, "8", 13_000), ("5", -1, "24", 15_000),
            ("5", 0, "24", nil),
        ] as [(String, Double, String, Int?)]
    )
    func thePlayheadIsReviewedAtTheEndOfTheBuffer(
        position: String,
        rate: Double,
        loaded: String,
        milliseconds: Int?
    ) throws {
        var stage = try Stage(position, rate: rate, loaded: loaded)
        _ = stage.review()
        let expected = milliseconds.map { Duration.milliseconds($0) }
        #expect(stage.nextReview == expected)
        #expect(stage.control.sink.isPipelineIdle && stage.control.sink.isSnapshotRequested)
    }

    @Test func thePlayheadIsReviewedAtTheEndsThatTheApplicationSets() throws {
        var forward = try Stage { $0.forwardPlaybackEndTime = seconds("20") }
        _ = forward.review()
        var backward = try Stage(rate: -1) { $0.reversePlaybackEndTime = seconds("3") }
        _ = backward.review()
        #expect(forward.nextReview == .seconds(25) && backward.nextReview == .seconds(12))
    }

    @Test func livePlaybackIsReviewedEachSecond() throws {
        var stage = try Stage(isLive: true)
        _ = stage.review()
        #expect(stage.nextReview == .seconds(11))
    }

    @Test(arguments: [(12_000, 12_000), (10_000, 29_000), (10_001, 10_001)])
    func thePlayheadIsReviewedAtAScheduledStart(start: Int, review: Int) throws {
        var stage = try Stage()
        stage.control.playhead.rate.start = .given(.milliseconds(start), isAnnounced: true)
        _ = stage.review()
        #expect(stage.nextReview == .milliseconds(review))
        stage.control.playhead.rate.start = .given(.milliseconds(start), isAnnounced: false)
        _ = stage.review()
        #expect(stage.nextReview == .seconds(29))
    }

    @Test func aReviewIsNotEarlierThanAMillisecond() throws {
        var stage = try Stage()
        stage.control.playhead.rate.start = .given(.microseconds(10_000_400), isAnnounced: true)
        _ = stage.review()
        #expect(stage.nextReview == .milliseconds(10_001))
    }

    @Test func aBusyPipelineIsAwaited() throws {
        var stage = try Stage()
        stage.control.reviewAgain()
        #expect(stage.nextReview == .seconds(10))
        stage.control.sink.command(.setRate(1, at: nil))
        _ = stage.review()
        stage.control.reviewAgain()
        guard case .afterCommands = stage.control.review else {
            Issue.record("the pipeline is not awaited")
            return
        }
        #expect(!stage.control.sink.isSnapshotRequested)
        stage.control.sink.pipelineFinished()
        _ = stage.review()
        #expect(stage.nextReview == .seconds(29))
    }

    // MARK: Live offset

    /// The live edge is at 24 s, and the distance from it that the stream recommends is 12 s.
    @Test(
        arguments: [
            ("5", "24", 1, 1.05), ("20", "24", 1, 0.95), ("12", "24", 1, 1), ("5", "9", 1, 1), ("5", "9.1", 1, 1.05),
            ("5", "24", 0.5, 1),
        ] as [(String, String, Double, Double)]
    )
    func theLiveOffsetIsCorrectedAtTheNormalRate(
        position: String,
        loaded: String,
        rate: Double,
        factor: Double
    ) throws {
        var stage = try Stage(position, rate: rate, loaded: loaded, isLive: true) {
            $0.preservesTimeOffsetFromLive = true
        }
        _ = stage.review()
        #expect(stage.control.playhead.machine.rateCorrection == factor)
    }

    @Test func theLiveOffsetIsNotCorrectedBeforeAScheduledStart() throws {
        var stage = try Stage(isLive: true) { $0.preservesTimeOffsetFromLive = true }
        stage.control.playhead.observation.timebase = Timebase(
            mediaTime: seconds("5"),
            time: .milliseconds(10_001),
            rate: 1
        )
        _ = stage.review()
        #expect(stage.control.playhead.machine.rateCorrection == 1)
    }

    @Test func onlyTheOffsetOfALiveStreamIsCorrectedIfTheApplicationAsksForIt() throws {
        var usual = try Stage(isLive: true)
        _ = usual.review()
        var other = try Stage(isLive: true) { $0.preservesTimeOffsetFromLive = true }
        other.item = ItemFacts(playbackType: .vod, isFile: false, hasMedia: true)
        _ = other.review()
        #expect(usual.control.playhead.machine.rateCorrection == 1)
        #expect(other.control.playhead.machine.rateCorrection == 1)
    }

    // MARK: Trick play

    @Test(
        arguments: [
            (8, .vod, false, true, true), (-8, .vod, false, true, true), (2, .vod, false, true, false),
            (0, .vod, false, true, false), (8, .live, false, true, false), (8, nil, false, true, false),
            (8, .vod, true, true, false), (8, .vod, false, false, false),
        ] as [(Double, PlaybackType?, Bool, Bool, Bool)]
    )
    func onlyAFastRateOfAStreamOnDemandUsesIFrames(
        rate: Double,
        type: PlaybackType?,
        isFile: Bool,
        isPositioned: Bool,
        isActive: Bool
    ) throws {
        var stage = try Stage(rate: rate, isPositioned: isPositioned)
        stage.item = ItemFacts(playbackType: type, isFile: isFile, hasMedia: true)
        _ = stage.review()
        #expect(stage.control.plan.tracks.trickPlay.isActive == isActive)
        let name = stage.control.plan.tracks.main.source?.address.lastPathComponent
        #expect(name == (isActive ? "i.m3u8" : "low.m3u8"))
    }

    @Test(arguments: [false, true]) func thePlayheadIsRefreshedAfterTrickPlay(isSeeking: Bool) throws {
        var stage = try Stage(rate: 8)
        _ = stage.review()
        #expect(stage.control.plan.tracks.trickPlay.isActive)
        stage.control.setRate(1, .setRateCalled, atOnce: true)
        if isSeeking { stage.control.beginSeek(to: seconds("9"), tolerance: .exact, origin: .command(waiter: 1)) }
        while !stage.control.sink.isPipelineIdle { stage.control.sink.pipelineFinished() }
        _ = stage.review()
        #expect(!stage.control.plan.tracks.trickPlay.isActive)
        let seek = try #require(stage.control.seek.pending)
        #expect(seek.origin == (isSeeking ? .command(waiter: 1) : .refresh))
        #expect(seek.target == seconds(isSeeking ? "9" : "5"))
    }
}
