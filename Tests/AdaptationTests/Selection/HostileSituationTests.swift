import Adaptation
import MediaTiming
import Testing

/// Tests of situations, measurements and transfers that do not occur in a player.
@Suite struct HostileSituationTests {
    private static let moments: [Duration] = [
        .zero, .nanoseconds(1), .seconds(2), .seconds(-1), .seconds(1e9), .seconds(Int64.max), .seconds(Int64.min),
    ]
    private static let counts: [Int64] = [0, 1, 500_000, .max]
    private static let ladders: [[Int64]] = [
        [1], [0, 0, 0], [.max, .max], [1, .max], [500_000, 500_000, 500_001], Array(repeating: 3_000_000, count: 64),
        (0..<64).map { 100_000 * ($0 + 1) },
    ]

    private static func situation(_ rates: [Int64], _ generator: inout SeededGenerator) throws -> SelectionContext {
        func moment() -> Duration { moments.randomElement(using: &generator) ?? .zero }
        let ladder = try #require(Ladder(rates.map { LadderRung(peakBitRate: BitRate(bitsPerSecond: $0)) }))
        var context = SelectionContext(ladder: ladder, segmentDuration: moment())
        context.previousRung = [nil, 0, -1, 63, .max, .min].randomElement(using: &generator) ?? nil
        context.bufferLevel = moment()
        context.bufferCapacity = moment()
        context.playbackRate = [1, 0, -2, .nan, .infinity, 1e300, 1e-300].randomElement(using: &generator) ?? 1
        context.isStarting = Bool.random(using: &generator)
        context.now = moment()
        context.remainingSegments = [nil, 0, -1, .max].randomElement(using: &generator) ?? nil
        if Bool.random(using: &generator) {
            let size = ByteCount(counts.randomElement(using: &generator) ?? 0)
            context.upcomingSizes = [Array(repeating: size, count: .random(in: 0...70, using: &generator))]
        }
        if Bool.random(using: &generator) { context.restriction.exclude(because: .failed) { $0 % 2 == 0 } }
        if Int.random(in: 0..<8, using: &generator) == 0 {
            // A restriction of a different ladder.
            context.restriction = LadderRestriction(try makeLadder(fiveRungs))
        }
        return context
    }

    @Test(arguments: SelectorName.allCases, ladders.indices)
    func extremeSituationsDoNotTrap(name: SelectorName, ladder: Int) throws {
        var generator = SeededGenerator(seed: UInt64(ladder + 1))
        func moment() -> Duration { Self.moments.randomElement(using: &generator) ?? .zero }
        func bytes() -> ByteCount { ByteCount(Self.counts.randomElement(using: &generator) ?? 0) }
        func rung() -> Int { [0, 1, -1, 63, 64, .max, .min].randomElement(using: &generator) ?? 0 }
        var selector = AnyVariantSelector(
            name,
            initialEstimate: [nil, BitRate(bitsPerSecond: 0), BitRate(bitsPerSecond: .max)][ladder % 3]
        )
        for _ in 0..<12 {
            let context = try Self.situation(Self.ladders[ladder], &generator)
            let decision = selector.decide(context)
            #expect(context.ladder.rungs.indices.contains(decision.rung))
            #expect(context.restriction.isAllowed(decision.rung) || context.restriction.allowedRungs.isEmpty)
            if let delay = decision.delay { #expect(delay >= .zero) }
            if let stall = decision.evidence.stallProbability { #expect((0...1).contains(stall)) }
            let transfer = TransferInFlight(
                rung: rung(),
                bytesReceived: bytes(),
                expectedSize: Bool.random(using: &generator) ? bytes() : nil,
                request: moment(),
                firstByte: Bool.random(using: &generator) ? moment() : nil,
                now: moment()
            )
            if case .abandon(let decision) = selector.review(transfer, in: context) {
                #expect(decision.rung < transfer.rung)
            }
            selector.add(
                SegmentMeasurement(
                    rung: rung(),
                    bytes: bytes(),
                    duration: moment(),
                    request: moment(),
                    firstByte: moment(),
                    end: moment(),
                    isCached: Int.random(in: 0..<6, using: &generator) == 0,
                    isAbandoned: Bool.random(using: &generator)
                )
            )
            if Int.random(in: 0..<10, using: &generator) == 0 { selector.resetAfterSeek() }
        }
    }

    @Test func extremeSelectorOptionsDoNotTrap() throws {
        for value in [-1.0, 0, .nan, .infinity, -.infinity, 1e300] {
            for moment in Self.moments {
                let options = BalancedSelector.Options(
                    stallCost: value,
                    switchCost: value,
                    discountFactor: value,
                    minimumSwitchGain: value,
                    minimumAbandonmentGain: value,
                    minimumMeasurementDuration: moment,
                    targetStartupDuration: moment
                )
                var selector = BalancedSelector(initialEstimate: BitRate(bitsPerSecond: 2_000_000), options: options)
                selector.learn(3, times: 3)
                #expect((0...1).contains(selector.decide(try .moment([1, 8], current: 1)).rung))
            }
        }
    }
}
