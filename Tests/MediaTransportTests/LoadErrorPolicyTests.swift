import MediaTransport
import Testing

/// Tests the decisions after a failed request.
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

    @Test func permanentErrorFallsBackImmediately() {
        #expect(decision(status(404), [.variant]) == .fallBack(.variant))
        #expect(decision(status(403), [.pathway, .variant]) == .fallBack(.pathway), "the same quality comes first")
        #expect(decision(status(404)) == .fail)
    }

    @Test func transientErrorIsRetriedBeforeFallingBack() {
        let busy = status(503)
        let tries = (1...4).map { decision(busy, attempt: $0, [.variant]) }
        let waits = [250, 500, 1_000].map { LoadErrorPolicy.Decision.retry(after: .milliseconds($0)) }
        #expect(tries == waits + [.fallBack(.variant)])
        #expect(decision(busy, attempt: 4) == .fail)
    }

    @Test func resourceKindsHaveSeparateRules() {
        let lost = TransportError(.connectionLost, "lost")
        #expect(decision(lost, of: .subtitle, attempt: 3) == .fail)
        #expect(decision(lost, of: .segment, attempt: 3) == .retry(after: .seconds(1)))
    }

    @Test func refusedKeyDoesNotFallBackToAnotherVariant() {
        #expect(decision(status(403), of: .key, [.pathway, .variant]) == .fail)
        #expect(decision(status(404), of: .key, [.variant]) == .fallBack(.variant))
    }

    @Test func longRetryAfterFallsBackToAnotherPathway() {
        let resting = TransportError(.status, "closed", status: 503, retryAfter: .seconds(61))
        #expect(decision(resting, [.pathway]) == .fallBack(.pathway))
    }

    // MARK: Limits and defaults

    @Test func policyHasTheDocumentedDefaults() {
        let rule = LoadErrorPolicy.Rule()
        #expect(rule.maximumRetries == 3 && rule.initialDelay == .milliseconds(250) && rule.maximumDelay == .seconds(8))
        #expect(LoadErrorPolicy.Rule(maximumRetries: -1).maximumRetries == 0)
        let pace = LoadErrorPolicy.MinimumThroughput()
        #expect(pace.interval == .seconds(20) && pace.byteCount == 20_480)
        #expect(policy.rule == rule && policy.rules == [.subtitle: LoadErrorPolicy.Rule(maximumRetries: 2)])
        #expect(policy.minimumThroughput == pace && policy.maximumServerDelay == .seconds(60))
        let same = LoadErrorPolicy(retries: 7)
        #expect(same.rule.maximumRetries == 7 && same.rules.isEmpty)
    }

    @Test(arguments: [
        (0, 1.0, 250), (1, 1.0, 250), (1, 0.0, 125), (1, 0.5, 187.5), (1, -1.0, 125), (1, 2.0, 250), (2, 0.0, 250),
        (5, 1.0, 4_000), (6, 1.0, 8_000), (7, 1.0, 8_000), (7, 0.0, 4_000), (20, 1.0, 8_000),
    ])
    func retryDelayDoublesUpToTheLimit(attempt: Int, jitter: Double, milliseconds: Double) {
        let patient = LoadErrorPolicy(retries: 20)
        let decision = patient.decision(after: status(503), of: .segment, attempt: attempt, jitter: jitter)
        #expect(decision == .retry(after: .milliseconds(milliseconds)))
    }

    @Test func retryDelayGrowsForSeventeenAttempts() {
        let rule = LoadErrorPolicy.Rule(maximumRetries: 100, initialDelay: .seconds(1), maximumDelay: .seconds(1 << 40))
        let patient = LoadErrorPolicy(rule: rule, rules: [:])
        let waits = [16, 17, 18, 100].map {
            patient.decision(after: status(503), of: .segment, attempt: $0, jitter: 1)
        }
        #expect(waits == [32_768, 65_536, 65_536, 65_536].map { .retry(after: .seconds($0)) })
        #expect(patient.decision(after: status(503), of: .segment, attempt: 101, jitter: 1) == .fail)
    }

    @Test func retryAfterIsRespectedUpToOneMinute() {
        func after(_ delay: Duration) -> LoadErrorPolicy.Decision {
            decision(TransportError(.status, "busy", status: 503, retryAfter: delay))
        }
        #expect(after(.seconds(60)) == .retry(after: .seconds(60)))
        #expect(after(.milliseconds(60_001)) == .fail)
        #expect(after(.milliseconds(100)) == .retry(after: .milliseconds(250)), "not before the wait of the client")
    }

    @Test(arguments: [
        (408, true), (407, false), (409, false), (425, true), (424, false), (426, false), (429, true), (428, false),
        (430, false), (400, false), (404, false), (499, false), (500, true), (501, false), (502, true), (503, true),
        (504, true), (505, false), (506, true), (599, true), (600, false), (200, false),
    ])
    func transientStatusCodesAreRetried(number: Int, mayPass: Bool) {
        #expect(decision(status(number)) == (mayPass ? .retry(after: .milliseconds(250)) : .fail))
    }

    @Test(arguments: [
        (TransportError.Code.cannotConnect, true), (.timedOut, true), (.connectionLost, true), (.wrongContent, true),
        (.unknownHost, true), (.contentChanged, true), (.status, false), (.tooManyLookups, false), (.tooLarge, false),
        (.badRedirect, false), (.addressRefused, false), (.networkRefused, false), (.fileNotFound, false),
        (.fileFailed, false), (.insecure, false),
    ])
    func transientErrorCodesAreRetried(code: TransportError.Code, mayPass: Bool) {
        #expect(decision(TransportError(code, "no")) == (mayPass ? .retry(after: .milliseconds(250)) : .fail))
    }

    @Test(arguments: [(400, true), (401, false), (402, false), (403, false), (404, true)])
    func authorizationErrorForAKeyDoesNotFallBack(number: Int, fallsBack: Bool) {
        let instead = fallsBack ? LoadErrorPolicy.Decision.fallBack(.variant) : .fail
        #expect(decision(status(number), of: .key, [.variant]) == instead)
        #expect(decision(status(number), of: .segment, [.variant]) == .fallBack(.variant))
    }
}
