import MediaTiming
import MediaTransport
import Testing

@testable import StreamingEngine

@Suite struct SegmentRecoveryTests {
    /// Records a failure at a time; by default without alternatives and on demand.
    private func fail(
        _ recovery: inout SegmentRecovery,
        _ fault: SegmentRecovery.Fault,
        at seconds: Int64 = 0,
        hasAlternatives: Bool = false,
        isLive: Bool = false,
        isUrgent: Bool = true,
        patience: Duration = .seconds(60),
        now: Double
    ) -> SegmentRecovery.Verdict {
        recovery.failed(
            fault,
            at: MediaTime(seconds: seconds),
            hasAlternatives: hasAlternatives,
            isLive: isLive,
            isUrgent: isUrgent,
            timeout: patience,
            now: .seconds(now)
        )
    }

    @Test func aForbiddenResourceIsAbandonedAtOnce() {
        var recovery = SegmentRecovery()
        #expect(fail(&recovery, .forbidden, hasAlternatives: true, now: 0) == .fail)
    }

    @Test func retriesBackOffUpToEightSeconds() {
        var recovery = SegmentRecovery()
        let verdicts = (0..<6).map { fail(&recovery, .unreachable, now: Double($0)) }
        #expect(verdicts == [1, 2, 4, 8, 8, 8].map { .retry(after: .seconds($0)) })
    }

    @Test func anotherPositionResetsTheBackoff() {
        var recovery = SegmentRecovery()
        _ = fail(&recovery, .unreachable, at: 0, now: 0)
        #expect(fail(&recovery, .unreachable, at: 0, now: 1) == .retry(after: .seconds(2)))
        #expect(fail(&recovery, .unreachable, at: 6, now: 2) == .retry(after: .seconds(1)))
    }

    @Test func anUnreachableServerIsAbandonedAfterTheTimeLimit() {
        var recovery = SegmentRecovery()
        #expect(fail(&recovery, .unreachable, now: 5) == .retry(after: .seconds(1)))
        #expect(fail(&recovery, .unreachable, at: 6, now: 64.9) == .retry(after: .seconds(1)))
        #expect(fail(&recovery, .unreachable, at: 6, now: 65) == .fail)
    }

    @Test(arguments: [SegmentRecovery.Fault.busy, .missing, .damaged])
    func anyResponseEndsAnUnreachablePeriod(fault: SegmentRecovery.Fault) {
        var recovery = SegmentRecovery()
        _ = fail(&recovery, .unreachable, now: 0)
        _ = fail(&recovery, fault, now: 50)
        #expect(fail(&recovery, .unreachable, at: 6, now: 70) == .retry(after: .seconds(1)))
        #expect(fail(&recovery, .unreachable, at: 6, now: 129.9) != .fail)
        #expect(fail(&recovery, .unreachable, at: 6, now: 130) == .fail)
    }

    @Test func aSuccessResetsTheRecovery() {
        var recovery = SegmentRecovery()
        _ = fail(&recovery, .unreachable, now: 0)
        recovery.succeeded()
        #expect(fail(&recovery, .unreachable, now: 100) == .retry(after: .seconds(1)))
    }

    @Test(arguments: [SegmentRecovery.Fault.unreachable, .busy])
    func anAlternativeIsTriedFirstAndOnlyOnce(fault: SegmentRecovery.Fault) {
        var recovery = SegmentRecovery()
        #expect(fail(&recovery, fault, hasAlternatives: true, now: 0) == .useAlternative)
        #expect(fail(&recovery, fault, hasAlternatives: true, now: 1) == .retry(after: .seconds(2)))
    }

    @Test func anUrgentSegmentOfABusyServerIsSkippedAfterTwentySeconds() {
        var recovery = SegmentRecovery()
        #expect(fail(&recovery, .busy, now: 0) == .retry(after: .seconds(1)))
        #expect(fail(&recovery, .busy, now: 19.9) == .retry(after: .seconds(2)))
        #expect(fail(&recovery, .busy, isUrgent: false, now: 20) == .retry(after: .seconds(4)))
        #expect(fail(&recovery, .busy, now: 20) == .skip)
        #expect(fail(&recovery, .busy, at: 6, now: 40) == .retry(after: .seconds(1)))
        #expect(fail(&recovery, .busy, at: 6, now: 60) == .fail)
    }

    @Test func aSegmentIsSkippedAtHalfOfAShortTimeLimit() {
        var recovery = SegmentRecovery()
        _ = fail(&recovery, .busy, patience: .seconds(20), now: 0)
        #expect(fail(&recovery, .busy, patience: .seconds(20), now: 9.9) == .retry(after: .seconds(2)))
        #expect(fail(&recovery, .busy, patience: .seconds(20), now: 10) == .skip)
    }

    @Test func aSegmentThatIsNotUrgentIsSkippedAtTheTimeLimitAndTheNextAtHalfOfIt() {
        var recovery = SegmentRecovery()
        _ = fail(&recovery, .busy, isUrgent: false, now: 0)
        #expect(fail(&recovery, .busy, isUrgent: false, now: 59.9) == .retry(after: .seconds(2)))
        #expect(fail(&recovery, .busy, isUrgent: false, now: 60) == .skip)
        #expect(fail(&recovery, .busy, at: 6, isUrgent: false, now: 89.9) == .retry(after: .seconds(1)))
        #expect(fail(&recovery, .busy, at: 6, isUrgent: false, now: 90) == .fail)
    }

    @Test(arguments: [SegmentRecovery.Fault.missing, .damaged])
    func fourConsecutiveSegmentsMayBeSkipped(fault: SegmentRecovery.Fault) {
        var recovery = SegmentRecovery()
        let verdicts = (0..<5).map { fail(&recovery, fault, at: Int64($0), now: Double($0)) }
        #expect(verdicts == [.skip, .skip, .skip, .skip, .fail])
        recovery.succeeded()
        #expect(fail(&recovery, fault, now: 9) == .skip)
        #expect(fail(&recovery, fault, hasAlternatives: true, now: 9) == .useAlternative)
    }

    @Test func aLiveSegmentThatIsListedTooEarlyIsRetriedTwice() {
        var recovery = SegmentRecovery()
        #expect(fail(&recovery, .missing, isLive: true, now: 0) == .retry(after: .seconds(1)))
        #expect(fail(&recovery, .missing, isLive: true, now: 1) == .retry(after: .seconds(1)))
        #expect(fail(&recovery, .missing, isLive: true, now: 2) == .skip)
        #expect(fail(&recovery, .damaged, at: 6, isLive: true, now: 2) == .skip)
    }

    @Test(arguments: [
        (408, SegmentRecovery.Fault.busy), (425, .busy), (429, .busy), (500, .busy), (502, .busy), (503, .busy),
        (504, .busy), (501, .missing), (404, .missing), (410, .missing), (403, .missing), (401, .missing),
    ])
    func statusCodesOfSegmentsAreCategorized(status: Int, fault: SegmentRecovery.Fault) {
        #expect(SegmentRecovery.Fault(TransportError(.status, "", status: status), isKey: false) == fault)
    }

    @Test(arguments: [(401, true), (402, true), (403, true), (404, false), (400, false)])
    func statusCodesOfKeysAreCategorized(status: Int, isForbidden: Bool) {
        let fault = SegmentRecovery.Fault(TransportError(.status, "", status: status), isKey: true)
        #expect((fault == .forbidden) == isForbidden)
    }

    @Test func failedConnectionsAreUnreachable() {
        for code in [TransportError.Code.cannotConnect, .unknownHost, .timedOut, .connectionLost] {
            #expect(SegmentRecovery.Fault(TransportError(code, ""), isKey: false) == .unreachable)
        }
        #expect(SegmentRecovery.Fault(TransportError(.tooLarge, ""), isKey: false) == .missing)
    }
}

@Suite struct LiveOffsetControlTests {
    private func factor(
        _ control: inout LiveOffsetControl,
        _ offset: Double,
        wanted: Double = 20,
        ahead: Double = 10
    ) -> Double {
        control.rateFactor(
            offset: MediaTime(approximating: offset) ?? .zero,
            target: MediaTime(approximating: wanted) ?? .zero,
            bufferedDuration: .seconds(ahead),
            minimumBuffer: .seconds(6)
        )
    }

    @Test func offsetErrorsBelowHalfASecondAreNotCorrected() {
        var control = LiveOffsetControl()
        #expect(factor(&control, 20.49) == 1 && factor(&control, 19.51) == 1)
    }

    @Test func aLatePlayheadIsAcceleratedUntilATenthOfASecond() {
        var control = LiveOffsetControl()
        #expect(factor(&control, 20.5) == 1.05)
        #expect(factor(&control, 20.1) == 1.05)
        #expect(factor(&control, 20.09) == 1)
        #expect(factor(&control, 20.4) == 1)
    }

    @Test func anEarlyPlayheadIsSlowedDown() {
        var control = LiveOffsetControl()
        #expect(factor(&control, 19.5) == 0.95)
        #expect(factor(&control, 19.8, ahead: 0) == 0.95)
        #expect(factor(&control, 19.95) == 1)
    }

    @Test func playbackIsNotAcceleratedWithoutBufferedMedia() {
        var control = LiveOffsetControl()
        #expect(factor(&control, 25, ahead: 6) == 1)
        #expect(factor(&control, 25, ahead: 6.1) == 1.05)
    }
}
