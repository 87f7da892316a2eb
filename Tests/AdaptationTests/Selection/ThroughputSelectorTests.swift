import Adaptation
import MediaTiming
import Testing

/// Tests of the decisions of the throughput-based selector.
@Suite struct ThroughputSelectorTests {
    @Test func throughputSelectorStartsAtLowestRungWithoutMeasurements() throws {
        var selector = ThroughputSelector()
        let decision = selector.decide(try .moment(buffer: 0, isStarting: true))
        #expect(decision.rung == 0 && decision.cause == .start && decision.evidence.throughput == nil)
        #expect(selector.estimate == nil)
    }

    @Test func initialEstimateDeterminesFirstRung() throws {
        var selector = ThroughputSelector(initialEstimate: BitRate(bitsPerSecond: 5_000_000))
        let decision = selector.decide(try .moment(buffer: 0, isStarting: true))
        #expect(decision.rung == 3 && decision.cause == .start)
    }

    @Test(arguments: [(0.3, 0), (1.0, 0), (1.3, 1), (3.0, 2), (6.0, 3), (11.0, 4), (400.0, 4)])
    func highestSustainableRungIsSelected(megabits: Double, rung: Int) throws {
        var selector = ThroughputSelector()
        selector.learn(megabits, times: 20)
        #expect(selector.decide(try .moment(current: 0, buffer: 25)).rung == rung)
    }

    @Test func switchUpRequiresMoreThroughputThanStaying() throws {
        var selector = ThroughputSelector()
        selector.learn(4.62, times: 20)
        #expect(selector.decide(try .moment(current: 2, buffer: 25)).rung == 2)
        let kept = selector.decide(try .moment(current: 3, buffer: 25))
        #expect(kept.rung == 3 && kept.cause == .stay)
    }

    @Test func causesDescribeWhatChanged() throws {
        var selector = ThroughputSelector()
        selector.learn(3, times: 20)
        #expect(selector.decide(try .moment(current: 0, buffer: 25)).cause == .throughputRose)
        selector.learn(0.8, times: 20, from: 100)
        #expect(selector.decide(try .moment(current: 2, buffer: 25)).cause == .throughputFell)
        let low = selector.decide(try .moment(current: 1, buffer: 0.5))
        #expect(low.rung == 0 && low.cause == .bufferLow)
    }

    @Test func lowBufferLowersRung() throws {
        var selector = ThroughputSelector()
        selector.learn(10, times: 20)
        #expect(selector.decide(try .moment(current: 4, buffer: 20)).rung == 4)
        #expect(selector.decide(try .moment(current: 4, buffer: 1.2)).rung < 3)
    }

    @Test func overdueTransferIsAbandonedAndRecoverySelectsItsRung() throws {
        var selector = ThroughputSelector()
        selector.learn(9, times: 5)
        let context = try SelectionContext.moment(current: 4, buffer: 3)
        let transfer = TransferInFlight(
            rung: 4,
            bytesReceived: ByteCount(125_000),
            expectedSize: ByteCount(4_000_000),
            request: .seconds(100),
            firstByte: .seconds(100.05),
            now: .seconds(102.05)
        )
        guard case .abandon(let decision) = selector.review(transfer, in: context) else {
            Issue.record("the transfer went on")
            return
        }
        #expect(decision.cause == .abandon && decision.rung == 0)
        selector.add(.transfer(rung: 4, megabits: 0.5, seconds: 2, at: 100, isAbandoned: true))
        let next = selector.decide(context)
        #expect(next.rung == decision.rung && next.cause == .recovery)
        selector.add(.transfer(megabits: 9, seconds: 1, at: 103))
        #expect(selector.decide(context).cause != .recovery)
    }

    @Test(arguments: [(3_000_000, 12.0), (3_900_000, 3.0), (125_000, 90.0), (0, 3.0)])
    func transferInTimeIsNotAbandoned(bytes: Int64, buffer: Double) throws {
        var selector = ThroughputSelector()
        let transfer = TransferInFlight(
            rung: 4,
            bytesReceived: ByteCount(bytes),
            expectedSize: ByteCount(4_000_000),
            request: .zero,
            firstByte: bytes > 0 ? .seconds(0.05) : nil,
            now: .seconds(2)
        )
        #expect(selector.review(transfer, in: try .moment(current: 4, buffer: buffer)) == .wait)
    }
}
