import MediaTiming
import Testing

@testable import Adaptation

/// Tests of the limits at which selectors abandon a transfer, and of the end of a recovery.
@Suite struct SelectorReviewFaultTests {
    /// Returns a transfer that was requested at time zero.
    private func transfer(
        rung: Int = 4,
        received: Int64 = 250_000,
        size: Int64?,
        firstByte: Double = 0,
        now: Double = 2
    ) -> TransferInFlight {
        TransferInFlight(
            rung: rung,
            bytesReceived: ByteCount(received),
            expectedSize: size.map { ByteCount($0) },
            request: .zero,
            firstByte: .seconds(firstByte),
            now: .seconds(now)
        )
    }

    /// Returns the rung for which a transfer is abandoned; `nil` if it is continued.
    private func rung(_ decision: TransferDecision) -> Int? {
        guard case .abandon(let replacement) = decision else { return nil }
        return replacement.rung
    }

    // MARK: Throughput

    /// The throughput is 1 Mbit/s and a segment has ten seconds, so that a transfer may take 18 seconds.
    @Test(
        arguments: [
            (2_250_000, 3, nil), (2_250_001, 3, 0), (2_250_001, 16.1, nil), (2_750_000, 20, nil),
            (2_750_000, 19.999, 0), (nil, 3, 0), (nil, 79, nil), (250_000, 0, nil), (100_000, 0, nil),
        ] as [(Int64?, Double, Int?)]
    )
    func slowTransferIsAbandonedByThroughput(size: Int64?, buffer: Double, expected: Int?) throws {
        var selector = ThroughputSelector()
        let context = try SelectionContext.moment(buffer: buffer, segment: 10)
        let decision = selector.review(transfer(size: size), in: context)
        #expect(rung(decision) == expected)
    }

    @Test(arguments: [(0.9, 1), (0.91, 0)])
    func replacementRungIsCarriedByNineTenthsOfThroughput(megabits: Double, expected: Int) throws {
        var selector = ThroughputSelector()
        let context = try SelectionContext.moment([0.5, megabits, 8], buffer: 3, segment: 10)
        let decision = selector.review(transfer(rung: 2, size: 2_750_000), in: context)
        #expect(rung(decision) == expected)
    }

    @Test func transferIsReviewedAfterHalfASecond() throws {
        var selector = ThroughputSelector()
        let context = try SelectionContext.moment(buffer: 3, segment: 10)
        #expect(selector.review(transfer(size: nil, now: 0.4999), in: context) == .wait)
        let decision = selector.review(transfer(size: nil, now: 0.5), in: context)
        #expect(rung(decision) == 2)
    }

    @Test func replacementHasFewerBitsThanTheRest() throws {
        var selector = ThroughputSelector()
        let context = try SelectionContext.moment(buffer: 3, segment: 10)
        #expect(selector.review(transfer(received: 25_000, size: 650_000), in: context) == .wait)
        let decision = selector.review(transfer(received: 25_000, size: 650_001), in: context)
        #expect(rung(decision) == 0)
        // Neither the lowest rung nor a rung that the ladder does not have is replaced.
        #expect(selector.review(transfer(rung: 0, size: 9_000_000), in: context) == .wait)
        #expect(selector.review(transfer(rung: 5, size: 9_000_000), in: context) == .wait)
        #expect(selector.review(transfer(rung: -1, size: 9_000_000), in: context) == .wait)
    }

    @Test func abandonmentHasItsEvidence() throws {
        var selector = ThroughputSelector()
        let context = try SelectionContext.moment(buffer: 7, segment: 10)
        guard case .abandon(let decision) = selector.review(transfer(size: nil), in: context) else {
            Issue.record("the transfer went on")
            return
        }
        #expect(decision.cause == .abandon && decision.delay == nil)
        #expect(decision.evidence.throughput == BitRate(bitsPerSecond: 1_000_000))
        #expect(decision.evidence.cautiousThroughput == BitRate(bitsPerSecond: 900_000))
        #expect(decision.evidence.bufferLevel == .seconds(7))
        // Five seconds for the segment of the lowest rung, which has ten.
        #expect(decision.evidence.predictedBufferLevel == .seconds(12))
    }

    // MARK: Buffer

    /// The throughput is 4 Mbit/s, and a transfer may take half of the buffer, or of a segment of four seconds.
    @Test(
        arguments: [
            (3_500_000, 0, 2, 10, nil), (3_500_001, 0, 2, 10, 0), (2_000_000, 0, 2, 2, nil), (2_000_001, 0, 2, 2, 0),
            // A new request would wait for its first byte as well.
            (4_000_000, 1, 3, 10, nil), (4_000_001, 1, 3, 10, 0), (1_000_000, 0, 2, 0, nil), (500_000, 0, 2, 0, nil),
        ] as [(Int64, Double, Double, Double, Int?)]
    )
    func slowTransferIsAbandonedByBuffer(
        size: Int64,
        firstByte: Double,
        now: Double,
        buffer: Double,
        expected: Int?
    ) throws {
        var selector = BufferSelector()
        let running = transfer(rung: 1, received: 1_000_000, size: size, firstByte: firstByte, now: now)
        let context = try SelectionContext.moment([0.5, 8], buffer: buffer)
        let decision = selector.review(running, in: context)
        #expect(rung(decision) == expected)
    }

    @Test(arguments: [(12.0, 0), (13.0, 1)])
    func replacementHasTheGreatestValue(buffer: Double, expected: Int) throws {
        var selector = BufferSelector()
        let context = try SelectionContext.moment(buffer: buffer)
        let decision = selector.review(transfer(received: 1_000_000, size: 4_500_000), in: context)
        #expect(rung(decision) == expected)
        #expect(selector.review(transfer(rung: 0, received: 1_000_000, size: 4_500_000), in: context) == .wait)
        #expect(selector.review(transfer(rung: 5, received: 1_000_000, size: 4_500_000), in: context) == .wait)
        #expect(selector.review(transfer(received: 0, size: 4_500_000), in: context) == .wait)
        #expect(selector.review(transfer(received: 1, size: 4_500_000, firstByte: 2), in: context) == .wait)
    }

    // MARK: Recovery

    /// Returns a selector that has abandoned a transfer for the lowest rung.
    private func recovering(_ name: SelectorName, in context: SelectionContext) throws -> AnyVariantSelector {
        var selector = AnyVariantSelector(name, initialEstimate: BitRate(bitsPerSecond: 1_000_000))
        let decision = selector.review(transfer(size: nil), in: context)
        #expect(rung(decision) == 0)
        return selector
    }

    @Test(arguments: [SelectorName.throughput, .buffer])
    func recoveryEndsWithASegmentOrASeek(name: SelectorName) throws {
        let context = try SelectionContext.moment(current: 4, buffer: 3, segment: 10, now: 2)
        var selector = try recovering(name, in: context)
        let first = selector.decide(context)
        #expect(first.rung == 0 && first.cause == .recovery)
        selector.add(.transfer(rung: 4, megabits: 1, seconds: 2, at: 0, isAbandoned: true))
        let second = selector.decide(context)
        #expect(second.rung == 0 && second.cause == .recovery)
        selector.add(.transfer(rung: 0, megabits: 1, seconds: 2, at: 3))
        #expect(selector.decide(context).cause != .recovery)
        var other = try recovering(name, in: context)
        other.resetAfterSeek()
        #expect(other.decide(context).cause != .recovery)
    }

    @Test(arguments: [SelectorName.throughput, .buffer])
    func recoveryDoesNotUseAnExcludedRung(name: SelectorName) throws {
        var context = try SelectionContext.moment(current: 4, buffer: 3, segment: 10, now: 2)
        var selector = try recovering(name, in: context)
        context.restriction.exclude(because: .failed) { $0 == 0 }
        let decision = selector.decide(context)
        #expect(decision.rung == 1 && decision.cause != .recovery)
    }

    // MARK: Fixed rungs

    @Test(
        arguments: [
            (.lowest, 3, .fixed), (.highest, 4, .fixed), (.index(1), 3, .restriction), (.index(3), 3, .fixed),
            (.index(9), 4, .fixed),
        ] as [(FixedSelector.Choice, Int, SwitchDecision.Cause)]
    )
    func fixedRungIsTheNearestAllowed(choice: FixedSelector.Choice, rung: Int, cause: SwitchDecision.Cause) throws {
        var context = try SelectionContext.moment()
        context.restriction.exclude(because: .codecs) { $0 < 3 }
        var selector = FixedSelector(choice)
        let decision = selector.decide(context)
        #expect(decision.rung == rung && decision.cause == cause && decision.evidence.bufferLevel == .seconds(12))
        #expect(selector.review(transfer(size: nil), in: context) == .wait)
    }
}
