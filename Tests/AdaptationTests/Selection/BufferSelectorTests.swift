import Adaptation
import MediaTiming
import Testing

/// Tests of the decisions of the buffer-based selector.
@Suite struct BufferSelectorTests {
    @Test func bufferSelectorStartsAtLowestRungWithoutMeasurements() throws {
        var selector = BufferSelector()
        let decision = selector.decide(try .moment(buffer: 0, isStarting: true))
        #expect(decision.rung == 0 && decision.cause == .start && decision.delay == nil)
    }

    /// Returns the rung that a selector selects with the given buffer after playback on a link of the given rate.
    private func rung(_ megabits: Double, buffer: Double, current: Int) throws -> Int {
        var selector = BufferSelector()
        selector.learn(megabits, rung: current)
        _ = selector.decide(try .moment(current: current, buffer: buffer, now: 40))
        return selector.decide(try .moment(current: current, buffer: buffer, now: 40)).rung
    }

    @Test func selectorStartsWithThroughput() throws {
        var selector = BufferSelector()
        selector.learn(3)
        #expect(selector.decide(try .moment(current: 0, buffer: 4, now: 40)).rung == 2)
    }

    @Test func bufferSelectorNeverLowersRungForFullerBuffer() throws {
        for megabits in [0.7, 3, 30] {
            let rungs = try stride(from: 0.0, through: 26, by: 2).map { try rung(megabits, buffer: $0, current: 4) }
            #expect(rungs == rungs.sorted())
            #expect(rungs.first == 0)
        }
    }

    @Test func switchUpIsLimitedByThroughput() throws {
        #expect(try rung(3, buffer: 26, current: 1) <= 2)
        #expect(try rung(30, buffer: 26, current: 1) == 4)
    }

    @Test func nearlyEmptyBufferLimitsRung() throws {
        var selector = BufferSelector()
        selector.learn(9, rung: 4)
        let decision = selector.decide(try .moment(current: 4, buffer: 0.6, now: 40))
        #expect(decision.rung <= 1)
        #expect(decision.cause == .bufferLow)
    }

    @Test func selectorWaitsWhenFullerBufferChangesNothing() throws {
        var selector = BufferSelector()
        selector.learn(0.6)
        var delays: [Duration] = []
        for _ in 0..<12 {
            let decision = selector.decide(try .moment(current: 0, buffer: 29, now: 40))
            if let delay = decision.delay, decision.rung < 4 { delays.append(delay) }
        }
        #expect(delays.allSatisfy { $0 > .zero && $0 <= .seconds(29) })
        #expect(!delays.isEmpty)
    }

    @Test func slowTransferIsAbandonedForLowerRung() throws {
        var selector = BufferSelector()
        selector.learn(9, rung: 4)
        let context = try SelectionContext.moment(current: 4, buffer: 5, now: 42)
        _ = selector.decide(context)
        let transfer = TransferInFlight(
            rung: 4,
            bytesReceived: ByteCount(100_000),
            expectedSize: ByteCount(4_000_000),
            request: .seconds(40),
            firstByte: .seconds(40.05),
            now: .seconds(42)
        )
        let later = try SelectionContext.moment(current: 4, buffer: 3, now: 42)
        guard case .abandon(let decision) = selector.review(transfer, in: later) else {
            Issue.record("the transfer went on")
            return
        }
        #expect(decision.rung < 4 && decision.cause == .abandon)
        selector.add(.transfer(rung: 4, megabits: 0.4, seconds: 2, at: 40, isAbandoned: true))
        #expect(selector.decide(context).rung == decision.rung)
        #expect(selector.decide(context).cause == .recovery)
    }

    @Test func seekRestartsWithThroughput() throws {
        var selector = BufferSelector()
        selector.learn(3)
        _ = selector.decide(try .moment(current: 0, buffer: 20, now: 40))
        selector.resetAfterSeek()
        #expect(selector.decide(try .moment(current: 4, buffer: 0, isStarting: true, now: 50)).rung == 2)
    }

    /// Returns the rung that is selected with 6 s of buffer after a transfer of the highest rung of the given duration
    /// that started with 2 s of buffer.
    private func rung(afterTransferOf seconds: Double) throws -> Int {
        var selector = BufferSelector()
        selector.learn(24, rung: 4)
        _ = selector.decide(try .moment(current: 4, buffer: 29, now: 38.05))
        _ = selector.decide(try .moment(current: 4, buffer: 2, now: 38.05))
        selector.add(.transfer(rung: 4, megabits: 24, seconds: seconds, at: 40))
        return selector.decide(try .moment(current: 4, buffer: 6, now: 40.05 + seconds)).rung
    }

    @Test func rungOfThroughputRuleIsKeptUnlessBufferRanEmpty() throws {
        #expect(try rung(afterTransferOf: 1.9) == 4)
        #expect(try rung(afterTransferOf: 1.96) < 4)
        #expect(try rung(afterTransferOf: 3) < 4)
    }
}
