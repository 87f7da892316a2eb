import HLSPlaylist
import MediaTiming
import PlaybackReporting
import Testing

@testable import MediaTransport
@testable import StreamingEngine

/// Tests of pinned variants, of trick play, and of the reports of switches.
///
/// The main track has three segments of 4 s, and fetches the low variant.
@Suite struct FetchPlanSurvivorTests {
    private struct Stage {
        var plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
        var sink = EffectSink(now: .seconds(10))
        let low: Presentation.Variant
        let high: Presentation.Variant
        let frames: Presentation.Variant

        /// Creates a state in which the last segment may be one of the high variant.
        init(endsHigh: Bool = false) throws {
            let presentation = Presentation(
                try multivariant(
                    """
                    #EXTM3U
                    #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360
                    low.m3u8
                    #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720
                    high.m3u8
                    #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,URI="i.m3u8"

                    """
                )
            )
            let (variants, iFrameVariants) = (presentation.variants, presentation.iFrameVariants)
            try #require(variants.count == 2 && iFrameVariants.count == 1)
            (low, high, frames) = (variants[0], variants[1], iFrameVariants[0])
            plan.catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
            let source = plan.catalog.source(for: variants[0], at: .zero)
            plan.tracks.main.source = source
            plan.tracks.main.isVariantDecided = true
            plan.tracks.main.playlist = LoadedPlaylist(
                source: source,
                timeline: PresentationTimeline(try LiveWindowText(tail: ["#EXT-X-ENDLIST"]).playlist),
                requestStart: .zero,
                lastUpdate: .zero
            )
            for index in 0..<3 {
                let variant = endsHigh && index == 2 ? variants[1] : variants[0]
                plan.tracks.main.buffer.insert(
                    StreamBuffer.Entry(
                        range: MediaTimeRange(start: seconds("\(index * 4)"), duration: seconds("4")),
                        type: .muxed,
                        byteCount: 1,
                        variant: VariantDescription(variant)
                    )
                )
            }
        }

        func moment(
            _ position: String = "5",
            isPositioned: Bool = true,
            pinning: VariantSwitchMode = .nextSegment
        ) -> PlaybackMoment {
            var options = StreamingOptions()
            options.pinning = pinning
            return PlaybackMoment(
                now: .seconds(10),
                position: seconds(position),
                isPositioned: isPositioned,
                seek: nil,
                desiredRate: 1,
                isPausedAtStart: false,
                rate: 1,
                timebase: Timebase(),
                limits: PlaybackMoment.Limits(options)
            )
        }

        /// The end of the media that is not fetched again.
        var currentEnd: Double { plan.tracks.main.buffer.current.ranges.last?.end.seconds ?? 0 }

        /// Returns the reports of switches, as text.
        mutating func switches() -> [String] {
            let names = [low.id.text: "low", high.id.text: "high", frames.id.text: "frames"]
            func name(_ variant: VariantDescription?) -> String { variant.flatMap { names[$0.id] } ?? "none" }
            return sink.takeEffects(with: nil).compactMap { effect in
                guard case .report(let event) = effect else { return nil }
                if case .variantSwitchStarted(let change) = event.kind {
                    return "\(change.cause) \(name(change.from)) \(name(change.to))"
                }
                guard case .variantSwitched(let change, let succeeded) = event.kind else { return nil }
                return "\(succeeded ? "played" : "failed") \(change.cause) \(name(change.to))"
            }
        }
    }

    // MARK: Pins

    @Test(
        arguments: [
            (.atOnce, "5", false, 5), (.nextSegment, "5", false, 8), (.afterBuffer, "5", false, 12),
            (.nextSegment, "4", false, 8), (.nextSegment, "5", true, 12), (.atOnce, "5", true, 5),
            (.atOnce, "8", true, 12), (.nextSegment, "11", false, 12),
        ] as [(VariantSwitchMode, String, Bool, Double)]
    )
    func theBufferIsReplacedByThePinnedVariant(
        mode: VariantSwitchMode,
        position: String,
        endsHigh: Bool,
        end: Double
    ) throws {
        var stage = try Stage(endsHigh: endsHigh)
        stage.plan.catalog.chooser.options.pinnedVariant = stage.high.id.text
        stage.plan.tracks.main.failures.terminalError = StreamingError(.damaged, "no")
        let moment = stage.moment(position, pinning: mode)
        stage.plan.followPin(moment, &stage.sink)
        #expect(stage.currentEnd == end && stage.plan.fetchedVariant?.id == stage.high.id)
        #expect(!stage.plan.tracks.main.isVariantDecided && stage.plan.tracks.main.failures.terminalError == nil)
        #expect(stage.switches() == ["pinned none high"])
    }

    @Test func aPinnedVariantThatIsFetchedIsNoSwitch() throws {
        var stage = try Stage(endsHigh: true)
        stage.plan.catalog.chooser.options.pinnedVariant = stage.low.id.text
        let moment = stage.moment()
        stage.plan.followPin(moment, &stage.sink)
        // The last segment is one of another variant.
        #expect(stage.currentEnd == 8 && stage.plan.tracks.main.isVariantDecided && stage.switches() == [])
    }

    @Test func withoutAPositionTheBufferIsNotReplaced() throws {
        var stage = try Stage()
        stage.plan.catalog.chooser.options.pinnedVariant = stage.high.id.text
        let moment = stage.moment(isPositioned: false, pinning: .atOnce)
        stage.plan.followPin(moment, &stage.sink)
        #expect(stage.currentEnd == 12 && stage.plan.fetchedVariant?.id == stage.high.id)
    }

    @Test func aVariantIsNotPinnedDuringTrickPlayOrWhileItIsExcluded() throws {
        var stage = try Stage()
        let moment = stage.moment()
        stage.plan.followPin(moment, &stage.sink)
        #expect(stage.plan.fetchedVariant?.id == stage.low.id)
        stage.plan.catalog.chooser.options.pinnedVariant = stage.high.id.text
        let source = stage.plan.catalog.source(for: stage.low, at: .zero)
        stage.plan.tracks.trickPlay = .on(TrickPlay.Return(source: source, timeline: nil))
        stage.plan.followPin(moment, &stage.sink)
        #expect(stage.plan.fetchedVariant?.id == stage.low.id && stage.currentEnd == 12)
        stage.plan.tracks.trickPlay = .off
        let high = stage.plan.catalog.source(for: stage.high, at: .zero)
        stage.plan.catalog.exclusions.exclude(high, until: .seconds(11))
        stage.plan.followPin(moment, &stage.sink)
        #expect(stage.plan.fetchedVariant?.id == stage.low.id && stage.currentEnd == 12 && stage.switches() == [])
    }

    // MARK: Trick play

    @Test func theSourceBeforeTrickPlayIsUsedAfterIt() throws {
        var stage = try Stage()
        let moment = stage.moment()
        let (low, high) = (stage.plan.tracks.main.source, stage.plan.catalog.source(for: stage.high, at: .zero))
        let frames = stage.plan.catalog.source(for: stage.frames, at: .zero)
        stage.plan.beginTrickPlay(with: frames, moment, &stage.sink)
        let returning = try #require(stage.plan.tracks.trickPlay.returning)
        #expect(returning.source == low && returning.timeline?.end == seconds("24"))
        #expect(stage.plan.tracks.main.source == frames && !stage.plan.tracks.main.isVariantDecided)
        // Another I-frame playlist does not change what follows.
        stage.plan.beginTrickPlay(with: high, moment, &stage.sink)
        #expect(stage.plan.tracks.trickPlay.returning?.source == low && stage.plan.tracks.main.source == high)
        stage.plan.tracks.main.isVariantDecided = true
        stage.plan.tracks.main.failures.tried = [frames]
        stage.plan.endTrickPlay(moment, &stage.sink)
        #expect(stage.plan.tracks.main.source == low && !stage.plan.tracks.trickPlay.isActive)
        #expect(!stage.plan.tracks.main.isVariantDecided && stage.plan.tracks.main.failures.tried.isEmpty)
        #expect(stage.currentEnd == 12)
        let isChanged = stage.sink.takeChange()
        #expect(isChanged)
        let expected = ["trick-play none frames", "trick-play frames high", "normal-playback high low"]
        #expect(stage.switches() == expected)
        stage.plan.endTrickPlay(moment, &stage.sink)
        let isChangedAgain = stage.sink.takeChange()
        #expect(!isChangedAgain && stage.switches() == [])
    }

    @Test func theTimelineOfAFormerPlaylistIsNotThatAfterTrickPlay() throws {
        var stage = try Stage()
        let moment = stage.moment()
        let high = stage.plan.catalog.source(for: stage.high, at: .zero)
        stage.plan.tracks.main.source = high
        let frames = stage.plan.catalog.source(for: stage.frames, at: .zero)
        stage.plan.beginTrickPlay(with: frames, moment, &stage.sink)
        let returning = try #require(stage.plan.tracks.trickPlay.returning)
        #expect(returning.source == high && returning.timeline == nil)
    }

    // MARK: Reports

    @Test func onlyTheSwitchInProgressFails() throws {
        var stage = try Stage()
        let moment = stage.moment()
        let (low, high) = (stage.low, stage.high)
        let sources = [low, high].map { stage.plan.catalog.source(for: $0, at: .zero) }
        stage.plan.beginSwitch(to: high, cause: "test", moment, &stage.sink)
        stage.plan.failSwitch(to: sources[0], &stage.sink)
        #expect(stage.switches() == ["test none high"])
        stage.plan.failSwitch(to: sources[1], &stage.sink)
        stage.plan.failSwitch(to: sources[1], &stage.sink)
        #expect(stage.switches() == ["failed test high"])
        stage.plan.tracks.main.source = sources[1]
        stage.plan.beginSwitch(to: high, cause: "test", moment, &stage.sink)
        stage.plan.revertSwitch(to: sources[0], moment, &stage.sink)
        let isChanged = stage.sink.takeChange()
        #expect(isChanged && stage.plan.tracks.main.source == sources[0])
        #expect(stage.switches() == ["test none high", "failed test high"])
    }

    @Test func theVariantAtThePlayheadIsReportedOnce() throws {
        var stage = try Stage(endsHigh: true)
        let (low, start) = (stage.low, stage.moment("0"))
        stage.plan.beginSwitch(to: low, cause: "test", start, &stage.sink)
        for position in ["0", "5", "9", "10", "13"] {
            let moment = stage.moment(position)
            stage.plan.notePlayedVariant(moment, bufferLevel: .zero, &stage.sink)
        }
        #expect(stage.switches() == ["test none low", "played test low", "played played high"])
        #expect(stage.plan.playedVariant?.id == stage.high.id.text)
        let earlier = stage.moment("3")
        stage.plan.notePlayedVariant(earlier, bufferLevel: .zero, &stage.sink)
        #expect(stage.switches() == ["played played low"])
    }
}
