import Adaptation
import MediaTiming
import Testing

/// Tests of when the default selector abandons a transfer.
@Suite struct AbandonmentTests {
    /// Returns a selector that has measured a link of 9 Mbit/s.
    private static func selector() throws -> BalancedSelector {
        var selector = BalancedSelector()
        _ = selector.decide(try .moment(buffer: 0, isStarting: true))
        selector.learn(9, times: 12, rung: 4)
        _ = selector.decide(try .moment(current: 4, buffer: 12))
        return selector
    }

    /// Reviews a transfer of 4 MB every 0.25 s.
    ///
    /// - Returns: The time of the abandonment, in seconds, and the decision; `nil` if the transfer is not abandoned.
    private static func reviewTransfer(
        _ selector: inout BalancedSelector,
        megabits: Double,
        buffer: Double,
        rung: Int = 4,
        seconds: Double = 6,
        firstByte: Double? = 0.05
    ) throws -> (seconds: Double, decision: SwitchDecision)? {
        for step in 1...Int(4 * seconds) {
            let now = Double(step) / 4
            let flow = firstByte.map { max(0, now - $0) } ?? 0
            let transfer = TransferInFlight(
                rung: rung,
                bytesReceived: ByteCount(Int64(min(flow * megabits * 125_000, 4_000_000))),
                expectedSize: ByteCount(4_000_000),
                request: .seconds(100),
                firstByte: firstByte.map { .seconds(100 + $0) },
                now: .seconds(100 + now)
            )
            let context = try SelectionContext.moment(current: 4, buffer: max(0, buffer - now), now: 100 + now)
            if case .abandon(let decision) = selector.review(transfer, in: context) { return (now, decision) }
        }
        return nil
    }

    @Test func slowTransferIsAbandonedBeforeBufferIsEmpty() throws {
        var selector = try Self.selector()
        let given = try #require(try Self.reviewTransfer(&selector, megabits: 0.3, buffer: 8))
        #expect(given.seconds < 5)
        #expect(given.decision.rung < 2 && given.decision.cause == .abandon)
        selector.add(.transfer(rung: 4, megabits: 0.3, seconds: given.seconds, at: 100, isAbandoned: true))
        let next = selector.decide(try .moment(current: 4, buffer: 8 - given.seconds))
        #expect(next.rung == given.decision.rung && next.cause == .recovery)
        selector.add(.transfer(megabits: 0.9, seconds: 2, at: 105))
        #expect(selector.decide(try .moment(current: 0, buffer: 5)).cause != .recovery)
    }

    @Test func requestWithoutResponseIsAbandoned() throws {
        var selector = try Self.selector()
        let given = try Self.reviewTransfer(&selector, megabits: 0, buffer: 6, seconds: 12, firstByte: nil)
        #expect(try #require(given).decision.rung < 4)
    }

    @Test(arguments: [(9.0, 8.0), (7.0, 12.0), (4.0, 24.0), (9.0, 3.0)])
    func transferThatArrivesInTimeIsContinued(megabits: Double, buffer: Double) throws {
        var selector = try Self.selector()
        #expect(try Self.reviewTransfer(&selector, megabits: megabits, buffer: buffer) == nil)
    }

    @Test func transferOfLowestRungIsNeverAbandoned() throws {
        var selector = try Self.selector()
        #expect(try Self.reviewTransfer(&selector, megabits: 0.01, buffer: 1, rung: 0) == nil)
    }

    @Test func nearlyCompleteTransferIsContinued() throws {
        var selector = try Self.selector()
        let transfer = TransferInFlight(
            rung: 4,
            bytesReceived: ByteCount(3_950_000),
            expectedSize: ByteCount(4_000_000),
            request: .seconds(100),
            firstByte: .seconds(100.05),
            now: .seconds(108)
        )
        #expect(selector.review(transfer, in: try .moment(current: 4, buffer: 2, now: 108)) == .wait)
    }

    @Test func seekEndsRecovery() throws {
        var selector = try Self.selector()
        _ = try #require(try Self.reviewTransfer(&selector, megabits: 0.3, buffer: 8))
        selector.resetAfterSeek()
        #expect(selector.decide(try .moment(current: 4, buffer: 20)).cause != .recovery)
    }
}
