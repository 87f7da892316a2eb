import StreamingEngine
import Testing

/// Tests of reloads whose requests began after the current time.
@Suite struct ReloadFaultTests {
    @Test func failureOfARequestInTheFutureCountsFromNow() {
        var failing = ReloadSchedule()
        let failure = failing.failed(began: .seconds(100), at: .zero)
        #expect(failing.updateDeadline == .seconds(5))
        #expect(failure == .reload(ReloadSchedule.Reload(time: .seconds(1), directives: .none)))
        var mismatched = ReloadSchedule()
        let mismatch = mismatched.deltaUpdateFailed(began: .seconds(100), at: .zero)
        #expect(mismatched.updateDeadline == .seconds(5))
        #expect(mismatch == .reload(ReloadSchedule.Reload(time: .milliseconds(500), directives: .none)))
    }

    @Test func optionsHaveTheirDefaults() {
        let options = ReloadSchedule.Options()
        #expect(!options.isLowLatency && options.usesBlockingReloads && options.usesDeltaUpdates)
        #expect(options.minimumInterval == .milliseconds(500) && options.stuckThreshold == 1.5)
        #expect(options.minimumBlockingInterval == .milliseconds(100) && options.abandonmentThreshold == 10)
        #expect(options.minimumAbandonmentDelay == .seconds(30))
    }
}
