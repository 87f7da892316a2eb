import MediaTiming
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the state machines of which the engine is composed.
@Suite struct EngineStateMachineTests {
    // MARK: Rate

    @Test func aRateIsSetOnceUntilThePipelineHasIt() {
        var rate = RateControl()
        #expect(rate.command(actualRate: 0) == nil)
        rate.want(1)
        #expect(rate.command(actualRate: 0) == .setRate(1, at: nil))
        // The command is in progress.
        #expect(rate.command(actualRate: 0) == nil)
        rate.applied(actualRate: 1)
        #expect(rate.command(actualRate: 1) == nil)
    }

    @Test func aRefusedRateIsSetAgainWithTheNextEvent() {
        var rate = RateControl()
        rate.want(1)
        _ = rate.command(actualRate: 0)
        rate.applied(actualRate: 0)
        #expect(rate.command(actualRate: 0) == nil)
        #expect(rate.command(actualRate: 0) == .setRate(1, at: nil))
    }

    @Test func aRateThatChangesWhileAnotherIsSetIsSetAfterIt() {
        var rate = RateControl()
        rate.want(1)
        _ = rate.command(actualRate: 0)
        rate.applied(actualRate: 1)
        rate.want(0)
        #expect(rate.command(actualRate: 1) == .setRate(0, at: nil))
        rate.want(1)
        rate.applied(actualRate: 0)
        // The pipeline did not refuse the rate: it was told to pause.
        #expect(rate.command(actualRate: 0) == .setRate(1, at: nil))
    }

    @Test func thePlayheadReachesTimesInItsDirection() {
        let forwards = Timebase(mediaTime: MediaTime(seconds: 10), time: .seconds(100), rate: 2)
        #expect(forwards.time(reaching: MediaTime(seconds: 14)) == .seconds(102))
        #expect(forwards.time(reaching: MediaTime(seconds: 9)) == nil)
        let backwards = Timebase(mediaTime: MediaTime(seconds: 10), time: .seconds(100), rate: -2)
        #expect(backwards.time(reaching: MediaTime(seconds: 6)) == .seconds(102))
        #expect(backwards.time(reaching: MediaTime(seconds: 11)) == nil)
    }

    @Test func aScheduledStartIsPassedToThePipelineOnce() {
        var rate = RateControl()
        rate.start = .requested(.seconds(5), isAnnounced: true)
        #expect(rate.command(actualRate: 0) == nil)
        rate.want(1)
        #expect(rate.command(actualRate: 0) == .setRate(1, at: .seconds(5)))
        rate.applied(actualRate: 1)
        #expect(rate.command(actualRate: 1) == nil)
        #expect(rate.start.announcedTime == .seconds(5))
        rate.start.withdrawAnnouncement()
        #expect(rate.start.announcedTime == nil)
    }

    // MARK: Pipeline

    @Test func pipelineCommandsArePerformedOneAfterTheOther() throws {
        func name(_ effect: EngineEffect?) -> String? {
            guard case .begin(.pipeline(let command)) = effect else { return nil }
            return "\(command)"
        }
        var queue = PipelineQueue()
        #expect(name(queue.add(.setRate(1, at: nil))) == "\(PipelineCommand.setRate(1, at: nil))")
        #expect(name(queue.add(.discard([]))) == nil && !queue.isIdle)
        #expect(name(queue.finish()) == "\(PipelineCommand.discard([]))")
        #expect(name(queue.finish()) == nil && queue.isIdle)
    }

    // MARK: Synchronized start

    @Test func aLateSynchronizedStartSeeksAgain() {
        var start = SynchronizedStart.idle
        let target = MediaTime(seconds: 10)
        let request = SynchronizedStart.Request(rate: 1, target: target, time: .seconds(5), waiter: 1)
        #expect(start.begin(request, at: .seconds(4)) == .seek(to: target))
        // The seek took until 6 s, when the playhead should already be 1 s further.
        #expect(start.seekFinished(at: .seconds(6)) == .seek(to: MediaTime(seconds: 11)))
        #expect(start.seekFinished(at: .seconds(6) + .milliseconds(10)) == .start(request))
        #expect(start == .idle)
    }

    @Test func aSynchronizedStartThatIsAlwaysLatePlaysAfterFourSeeks() {
        var start = SynchronizedStart.idle
        let request = SynchronizedStart.Request(rate: 1, target: .zero, time: .zero, waiter: 1)
        _ = start.begin(request, at: .seconds(1))
        let steps = (2...5).map { start.seekFinished(at: .seconds($0)) }
        #expect(steps == [2, 3, 4].map { .seek(to: MediaTime(seconds: $0)) } + [.start(request)])
    }

    @Test func aSynchronizedStartWithoutATargetNeedsNoSeek() {
        var start = SynchronizedStart.idle
        let request = SynchronizedStart.Request(rate: 2, target: nil, time: .seconds(5), waiter: 1)
        #expect(start.begin(request, at: .zero) == .start(request))
        #expect(start.cancel() == nil)
    }

    // MARK: Live offset

    @Test func theRateIsCorrectedUntilTheLiveOffsetIsReached() {
        var control = LiveOffsetControl()
        func factor(_ offset: String, ahead: Int = 20) -> Double {
            control.rateFactor(
                offset: seconds(offset),
                target: MediaTime(seconds: 18),
                bufferedDuration: .seconds(ahead),
                minimumBuffer: .seconds(6)
            )
        }
        #expect(factor("18.4") == 1)
        #expect(factor("18.6") == 1.05)
        // The correction continues below the tolerance at which it began, but not without buffered media.
        #expect(factor("18.3") == 1.05 && factor("18.3", ahead: 5) == 1)
        #expect(factor("18.05") == 1 && factor("18.3") == 1)
        #expect(factor("17.5") == 0.95)
    }

    // MARK: Keep-up rule

    @Test(arguments: zip([1, 2, 4, 5, 15], [false, true, false, true, true]))
    func aSlowNetworkNeedsMoreBuffer(ahead: Int, suffices: Bool) {
        // With a fast network, a buffer of 2 s suffices; if the network has three quarters of the bit rate, 5 s are
        // needed.
        let isSlow = ahead > 2
        let found = KeepUpRule().isSufficient(
            bufferedDuration: .seconds(ahead),
            mediaBitRate: BitRate(bitsPerSecond: 1_000_000),
            throughput: BitRate(bitsPerSecond: isSlow ? 750_000 : 1_000_000),
            segmentDuration: .seconds(6)
        )
        #expect(found == suffices)
    }

    // MARK: Frames

    @Test func framesAreReportedOnceASecond() throws {
        var reporter = FrameReporter()
        func counts(_ decoded: Int) -> FrameCounts { FrameCounts(decoded: decoded, dropped: 0, discarded: 0) }
        let early = reporter.report(counts(10), rate: 1, isFinal: false, at: .milliseconds(999))
        #expect(early?.frames == nil)
        let due = reporter.report(counts(30), rate: 1, isFinal: false, at: .seconds(1))
        let first = try #require(due)
        #expect(first.frames == counts(30) && first.areAllShown)
        let second = reporter.report(counts(40), rate: 2, isFinal: false, at: .milliseconds(1_500))
        #expect(second?.frames == nil)
        let final = reporter.report(counts(40), rate: 1, isFinal: true, at: .milliseconds(1_600))
        let last = try #require(final)
        // Frames were skipped intentionally while the rate was 2.
        #expect(last.frames == counts(10) && !last.areAllShown)
        let none = reporter.report(counts(40), rate: 1, isFinal: true, at: .seconds(9))
        #expect(none?.frames == nil)
    }
}
