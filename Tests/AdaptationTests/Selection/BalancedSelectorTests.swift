import Adaptation
import MediaTiming
import Testing

/// Tests of the decisions of the default selector.
@Suite struct BalancedSelectorTests {
    @Test func defaultSelectorStartsAtLowestRungWithoutMeasurements() throws {
        var selector = BalancedSelector()
        let decision = selector.decide(try .moment(buffer: 0, isStarting: true))
        #expect(decision.rung == 0 && decision.cause == .start)
        #expect(decision.evidence.throughput == nil && selector.expectedThroughput == nil)
    }

    @Test(arguments: [(0.4, 0), (6.0, 0), (12.0, 1), (24.0, 2), (100.0, 4), (2_000.0, 4)])
    func firstSegmentArrivesWithinOneSecond(megabits: Double, rung: Int) throws {
        var selector = BalancedSelector(initialEstimate: BitRate(bitsPerSecond: Int64(megabits * 1_000_000)))
        let decision = selector.decide(try .moment(buffer: 0, isStarting: true))
        #expect(decision.rung == rung && decision.cause == .start)
    }

    @Test(arguments: [(0.3, 0), (1.3, 1), (2.8, 2), (5.5, 3), (12.0, 4), (400.0, 4)])
    func steadyLinkSelectsMatchingRung(megabits: Double, rung: Int) throws {
        var selector = BalancedSelector()
        selector.learn(megabits, times: 20)
        let decision = selector.decide(try .moment(current: rung, buffer: 22))
        #expect(decision.rung == rung && decision.cause == .stay)
        let expected = try #require(selector.expectedThroughput)
        let known = min(max(megabits, 0.0625), 18)
        #expect(abs(Double(expected.bitsPerSecond) / 1e6 / known - 1) < 0.3)
    }

    @Test func measurementsBeforeFirstDecisionCount() throws {
        var selector = BalancedSelector()
        selector.learn(20, times: 40)
        #expect(selector.decide(try .moment(current: 0, buffer: 20)).rung == 4)
    }

    @Test func throughputDropLowersRungWithinTwoSegments() throws {
        var selector = BalancedSelector()
        _ = selector.decide(try .moment(buffer: 0, isStarting: true))
        selector.learn(12, times: 20, rung: 4)
        #expect(selector.decide(try .moment(current: 4, buffer: 16)).rung == 4)
        selector.learn(0.9, times: 2, rung: 4, from: 80)
        let decision = selector.decide(try .moment(current: 4, buffer: 6))
        #expect(decision.rung <= 1 && decision.cause == .throughputFell)
    }

    @Test func defaultSelectorNeverLowersRungForFullerBuffer() throws {
        for megabits in [0.7, 1.5, 3, 6, 30] {
            var selector = BalancedSelector()
            selector.learn(megabits, times: 8)
            let rungs = try stride(from: 0.0, through: 26, by: 2).map { buffer in
                var copy = selector
                return copy.decide(try .moment(current: 2, buffer: buffer)).rung
            }
            #expect(rungs == rungs.sorted())
        }
    }

    @Test func decisionsAreInvariantUnderScaling() throws {
        func rungs(_ scale: Double) throws -> [Int] {
            var selector = BalancedSelector()
            var current = 0
            return try [2.0, 3, 5, 9, 4, 2, 1, 0.6, 2, 8, 8, 8].enumerated().map { index, megabits in
                selector.add(.transfer(rung: current, megabits: scale * megabits, at: 4 * Double(index)))
                let context = try SelectionContext.moment(
                    fiveRungs.map { scale * $0 },
                    current: current,
                    buffer: 6 + Double(index)
                )
                current = selector.decide(context).rung
                return current
            }
        }
        #expect(try rungs(1) == rungs(4))
    }

    @Test func decisionContainsItsEvidence() throws {
        var selector = BalancedSelector()
        selector.learn(3, times: 10)
        let evidence = selector.decide(try .moment(current: 1, buffer: 10)).evidence
        let throughput = try #require(evidence.throughput)
        let cautious = try #require(evidence.cautiousThroughput)
        #expect(cautious < throughput && abs(throughput.bitsPerSecond - 3_000_000) < 600_000)
        #expect(evidence.bufferLevel == .seconds(10))
        let predicted = try #require(evidence.predictedBufferLevel)
        #expect(predicted > .seconds(9) && predicted < .seconds(14))
        let stall = try #require(evidence.stallProbability)
        #expect(stall >= 0 && stall < 0.2)
    }

    @Test func onlyOpenRungsAreSelected() throws {
        var selector = BalancedSelector()
        selector.learn(40, times: 20)
        var context = try SelectionContext.moment(current: 4, buffer: 20)
        context.restriction.exclude(because: .viewSize) { $0 > 2 }
        let decision = selector.decide(context)
        #expect(decision.rung == 2 && decision.cause == .restriction)
        context.restriction.exclude(because: .failed) { $0 == 2 }
        #expect(selector.decide(context).rung == 1)
    }

    @Test func knownLargeSegmentIsAvoidedWhenBufferIsLow() throws {
        var selector = BalancedSelector()
        selector.learn(4.6, times: 20)
        var context = try SelectionContext.moment(current: 3, buffer: 7)
        #expect(selector.decide(context).rung == 3)
        context.upcomingSizes = [[0.5, 1, 2, 12, 24].map { ByteCount(Int64($0 * 500_000)) }]
        #expect(selector.decide(context).rung < 3)
    }

    @Test func cachedSegmentsDoNotAffectEstimate() throws {
        var selector = BalancedSelector()
        _ = selector.decide(try .moment(buffer: 0, isStarting: true))
        for index in 0..<10 {
            selector.add(.transfer(megabits: 900, seconds: 0.1, at: Double(index), isCached: true))
        }
        #expect(selector.expectedThroughput == nil)
        #expect(selector.decide(try .moment(current: 0, buffer: 20)).rung == 0)
    }

    @Test func higherPlaybackRateLowersRung() throws {
        var selector = BalancedSelector()
        selector.learn(5.5, times: 20)
        var context = try SelectionContext.moment(current: 3, buffer: 16)
        #expect(selector.decide(context).rung == 3)
        for rate in [2.0, -2] {
            context.playbackRate = rate
            context.bufferLevel = .seconds(8)
            #expect(selector.decide(context).rung < 3)
        }
    }

    @Test func newLadderKeepsThroughputEstimate() throws {
        var selector = BalancedSelector()
        _ = selector.decide(try .moment(buffer: 0, isStarting: true))
        selector.learn(6, times: 20)
        let rung = selector.decide(try .moment([0.2, 3, 40], current: 1, buffer: 20)).rung
        #expect(rung == 1)
        #expect(try #require(selector.expectedThroughput).bitsPerSecond > 4_000_000)
    }

    @Test func seekKeepsThroughputEstimate() throws {
        var selector = BalancedSelector()
        selector.learn(40, times: 20)
        _ = selector.decide(try .moment(current: 4, buffer: 20))
        selector.resetAfterSeek()
        #expect(selector.decide(try .moment(current: 4, buffer: 0, isStarting: true)).rung >= 2)
    }

    @Test func selectorIsDeterministic() throws {
        func decisions() throws -> [SwitchDecision] {
            var selector = BalancedSelector()
            var generator = SeededGenerator(seed: 5)
            var current: Int?
            return try (0..<200).map { index in
                let decision = selector.decide(
                    try .moment(current: current, buffer: .random(in: 0...26, using: &generator))
                )
                current = decision.rung
                let megabits = Double.random(in: 0.2...20, using: &generator)
                selector.add(.transfer(rung: decision.rung, megabits: megabits, at: 4 * Double(index)))
                return decision
            }
        }
        #expect(try decisions() == decisions())
    }
}
