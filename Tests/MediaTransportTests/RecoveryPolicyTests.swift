import MediaTransport
import Testing

/// Tests the decisions after the failure of a request, a reload and a file of a download.
@Suite struct RecoveryPolicyTests {
    private let policy = RecoveryPolicy()

    /// Returns the delay after the given number of equal failures; `nil` if the request fails.
    private func delay(
        _ error: TransportError,
        of kind: TransportRequest.Kind = .segment,
        attempt: Int = 1,
        jitter: Double = 1,
        policy: RecoveryPolicy = RecoveryPolicy()
    ) -> Duration? {
        var history = RecoveryPolicy.History()
        let failure = RecoveryPolicy.Failure(error, of: kind)
        for _ in 1..<max(attempt, 1) { _ = policy.retryDelay(after: failure, of: kind, &history, jitter: jitter) }
        return policy.retryDelay(after: failure, of: kind, &history, jitter: jitter)
    }

    private func status(_ status: Int) -> TransportError { TransportError(.status, "no", status: status) }

    // MARK: Requests

    @Test func transientErrorIsRetriedThreeTimes() {
        let delays = (1...4).map { delay(status(503), attempt: $0) }
        #expect(delays == [.milliseconds(250), .milliseconds(500), .seconds(1), nil])
        #expect(delay(status(404)) == nil)
    }

    @Test func resourceKindsHaveSeparateRules() {
        let lost = TransportError(.connectionLost, "lost")
        #expect(delay(lost, of: .subtitle, attempt: 3) == nil)
        #expect(delay(lost, of: .segment, attempt: 3) == .seconds(1))
    }

    @Test(arguments: [401, 402, 403])
    func aDeniedKeyIsNotRequestedAgain(number: Int) {
        #expect(delay(status(number), of: .key) == nil)
    }

    @Test func policyHasTheDocumentedDefaults() {
        let rule = RecoveryPolicy.Rule()
        #expect(rule.maximumRetries == 3 && rule.initialDelay == .milliseconds(250) && rule.maximumDelay == .seconds(8))
        #expect(RecoveryPolicy.Rule(maximumRetries: -1).maximumRetries == 0)
        let pace = RecoveryPolicy.MinimumThroughput()
        #expect(pace.interval == .seconds(20) && pace.byteCount == 20_480)
        #expect(policy.rule == rule && policy.rules == [.subtitle: RecoveryPolicy.Rule(maximumRetries: 2)])
        #expect(policy.minimumThroughput == pace && policy.maximumServerDelay == .seconds(60))
        let same = RecoveryPolicy(retries: 7)
        #expect(same.rule.maximumRetries == 7 && same.rules.isEmpty)
    }

    @Test(arguments: [
        (1, 1.0, 250), (1, 0.0, 125), (1, 0.5, 187.5), (1, -1.0, 125), (1, 2.0, 250), (2, 0.0, 250), (5, 1.0, 4_000),
        (6, 1.0, 8_000), (7, 1.0, 8_000), (7, 0.0, 4_000), (20, 1.0, 8_000),
    ])
    func retryDelayDoublesUpToTheLimit(attempt: Int, jitter: Double, milliseconds: Double) {
        let patient = RecoveryPolicy(retries: 20)
        let delay = delay(status(503), attempt: attempt, jitter: jitter, policy: patient)
        #expect(delay == .milliseconds(milliseconds))
    }

    @Test func retryDelayGrowsForSeventeenAttempts() {
        let rule = RecoveryPolicy.Rule(maximumRetries: 100, initialDelay: .seconds(1), maximumDelay: .seconds(1 << 40))
        let patient = RecoveryPolicy(rule: rule, rules: [:])
        let delays = [16, 17, 18, 100].map { delay(status(503), attempt: $0, policy: patient) }
        #expect(delays == [32_768, 65_536, 65_536, 65_536].map { .seconds($0) })
        #expect(delay(status(503), attempt: 101, policy: patient) == nil)
    }

    @Test func retryAfterIsRespectedUpToOneMinute() {
        func after(_ delay: Duration) -> Duration? {
            self.delay(TransportError(.status, "busy", status: 503, retryAfter: delay))
        }
        #expect(after(.seconds(60)) == .seconds(60))
        #expect(after(.milliseconds(60_001)) == nil)
        #expect(after(.milliseconds(100)) == .milliseconds(250), "not before the delay of the client")
    }

    @Test func exactlyTransientFailuresAreRetried() {
        for number in 100...699 {
            let error = status(number)
            #expect((delay(error) != nil) == error.category(of: .segment).isTransient, "status \(number)")
        }
        for code in [
            TransportError.Code.status, .unknownHost, .tooManyLookups, .cannotConnect, .timedOut, .connectionLost,
            .wrongContent, .contentChanged, .tooLarge, .badRedirect, .addressRefused, .networkRefused, .fileNotFound,
            .fileFailed, .insecure,
        ] {
            let error = TransportError(code, "no")
            #expect((delay(error) != nil) == error.category(of: .segment).isTransient, "\(code)")
        }
    }

    // MARK: Reloads

    @Test func reloadDelayDoublesUpToTwoTargetDurations() {
        func delays(_ target: Duration, serverDelay: Duration = .zero) -> [Duration] {
            (1...4).map {
                policy.reloadDelay(
                    afterFailure: $0,
                    targetDuration: target,
                    minimum: .milliseconds(500),
                    serverDelay: serverDelay
                )
            }
        }
        #expect(delays(.seconds(6)) == [3, 6, 12, 12].map { .seconds($0) })
        #expect(delays(.milliseconds(600)) == [500, 600, 1_200, 1_200].map { .milliseconds($0) })
        #expect(delays(.seconds(6), serverDelay: .seconds(9)) == [9, 9, 12, 12].map { .seconds($0) })
        #expect(delays(.seconds(6), serverDelay: .seconds(301)) == [300, 300, 300, 300].map { .seconds($0) })
    }

    // MARK: Downloads

    @Test func aDownloadContinuesAfterFourFailedFiles() {
        var history = RecoveryPolicy.History()
        let continues = (0..<6).map { _ in policy.continues(afterFileFailure: &history) }
        #expect(continues == [true, true, true, true, false, false])
    }
}
