import MediaTransport
import Testing

/// What follows a failed request.
@Suite struct LoadErrorPolicyTests {
    private let policy = LoadErrorPolicy()

    private func decision(
        _ error: TransportError,
        of kind: TransportRequest.Kind = .segment,
        attempt: Int = 1,
        _ fallbacks: Set<LoadErrorPolicy.Fallback> = []
    ) -> LoadErrorPolicy.Decision {
        policy.decision(after: error, of: kind, attempt: attempt, fallbacks: fallbacks, jitter: 1)
    }

    private func status(_ status: Int) -> TransportError { TransportError(.status, "no", status: status) }

    @Test func whatStaysRefusedFallsBackAtOnce() {
        #expect(decision(status(404), [.variant]) == .fallBack(.variant))
        #expect(decision(status(403), [.pathway, .variant]) == .fallBack(.pathway), "the same quality comes first")
        #expect(decision(status(404)) == .fail)
    }

    @Test func whatMayPassIsTriedAgainBeforeItFallsBack() {
        let busy = status(503)
        let tries = (1...4).map { decision(busy, attempt: $0, [.variant]) }
        let waits = [250, 500, 1_000].map { LoadErrorPolicy.Decision.retry(after: .milliseconds($0)) }
        #expect(tries == waits + [.fallBack(.variant)])
        #expect(decision(busy, attempt: 4) == .fail)
    }

    @Test func kindsHaveRulesOfTheirOwn() {
        let lost = TransportError(.connectionLost, "lost")
        #expect(decision(lost, of: .subtitle, attempt: 3) == .fail)
        #expect(decision(lost, of: .segment, attempt: 3) == .retry(after: .seconds(1)))
    }

    @Test func whoMayNotHaveTheKeyGetsNoOtherQuality() {
        #expect(decision(status(403), of: .key, [.pathway, .variant]) == .fail)
        #expect(decision(status(404), of: .key, [.variant]) == .fallBack(.variant))
    }

    @Test func aServerThatWantsToRestForLongIsLeftForAnother() {
        let resting = TransportError(.status, "closed", status: 503, retryAfter: .seconds(61))
        #expect(decision(resting, [.pathway]) == .fallBack(.pathway))
    }
}
