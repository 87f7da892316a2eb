import Adaptation
import MediaTiming
import Testing

/// Tests of whole sessions of the default selector on links with one characteristic each.
@Suite struct SessionTranscriptTests {
    private func play(
        _ trace: BandwidthTrace,
        segments: Int = 75,
        capacity: Double = 30,
        _ selector: some VariantSelector = BalancedSelector()
    ) throws -> SessionModel.Result {
        var model = SessionModel(
            video: try SessionVideo(megabits: fiveRungs, segmentDuration: 4, segments: segments),
            trace: trace
        )
        model.capacity = capacity
        model.reviewInterval = 0.25
        model.keepsRecords = true
        var own = selector
        return model.run(&own)
    }

    @Test func fastLinkReachesHighestRungWithinFiveSegments() throws {
        let result = try play(.constant(40_000_000), segments: 30)
        #expect(result.rungs.first == 0)
        #expect(result.rungs.dropFirst(5).allSatisfy { $0 == 4 })
        #expect(result.stallSeconds == 0 && result.startup < 0.5)
    }

    @Test func initialEstimateRaisesFirstRung() throws {
        let result = try play(
            .constant(40_000_000),
            segments: 10,
            BalancedSelector(initialEstimate: BitRate(bitsPerSecond: 40_000_000))
        )
        #expect(try #require(result.rungs.first) >= 2)
        #expect(result.startup < 1.2)
    }

    @Test func throughputDropCausesNoStall() throws {
        let result = try play(.steps([(100, 20_000_000), (2_000, 1_300_000)]), segments: 60)
        #expect(result.stallSeconds == 0)
        let dropped = try #require(result.records.firstIndex { $0.time > 100 && $0.decision.rung <= 2 })
        let before = try #require(result.records.lastIndex { $0.time < 100 })
        // At most one abandoned transfer and two on the way down; then the buffer is drained slowly.
        #expect(dropped - before <= 4)
        #expect(result.rungs.suffix(20).allSatisfy { $0 <= 1 })
    }

    @Test func severeThroughputDropAbandonsTransfer() throws {
        // The drop occurs while a segment is being transferred.
        let result = try play(.steps([(100, 9_000_000), (2_000, 600_000)]), segments: 40, capacity: 20)
        #expect(result.abandonments >= 1 && result.abandonments <= 3)
        #expect(result.stallSeconds < 1)
        #expect(result.rungs.suffix(8).allSatisfy { $0 == 0 })
    }

    @Test func bufferBridgesShortOutage() throws {
        let result = try play(.steps([(120, 9_000_000), (10, 0), (2_000, 9_000_000)]), segments: 60)
        #expect(result.stallSeconds == 0)
        #expect(result.rungs.suffix(15).allSatisfy { $0 >= 3 })
    }

    @Test func everySwitchHasCauseAndEvidence() throws {
        let result = try play(.steps([(40, 9_000_000), (40, 1_300_000), (40, 3_000_000)]), segments: 90)
        var current: Int?
        for record in result.records {
            let decision = record.decision
            switch decision.cause {
            case .start: #expect(current == nil)
            case .stay: #expect(decision.rung == current)
            case .throughputRose, .bufferHigh: #expect(try decision.rung > #require(current))
            case .throughputFell, .bufferLow: #expect(try decision.rung < #require(current))
            case .recovery: break
            case .abandon, .restriction, .fixed: Issue.record("\(decision.cause) in a session without it")
            }
            if decision.cause != .start { #expect(decision.evidence.throughput != nil) }
            if !record.isAbandoned { current = decision.rung }
        }
        #expect(result.switches > 2)
    }

    @Test func sessionsAreReproducible() throws {
        for trace in SyntheticTraces.traces(.states, around: 3_000_000, count: 2, seed: 3) {
            let first = try play(trace, segments: 60)
            let second = try play(trace, segments: 60)
            #expect(first.rungs == second.rungs && first.quality == second.quality)
        }
    }

    @Test func modelComputesKnownResults() throws {
        // Segments of 1 Mbit/s on a link of 0.5 Mbit/s: a stall of 4 s per segment, and no switch.
        let video = try SessionVideo(megabits: [1, 2], segmentDuration: 4, segments: 11)
        var selector = FixedSelector(.lowest)
        let slow = SessionModel(video: video, trace: .constant(500_000, latency: 0)).run(&selector)
        #expect(abs(slow.stallSeconds - 40) < 0.001 && slow.startup == 8)
        #expect(abs(slow.quality - (11 - 2 * 40) / 11) < 0.001)
        #expect(abs(slow.stallRatio - 40 / 84) < 0.001)
        let fast = SessionModel(video: video, trace: .constant(50_000_000)).run(&selector)
        #expect(fast.quality == 1 && fast.stallSeconds == 0 && fast.switches == 0)
    }
}
