import MediaTiming
import PlaybackReporting
import Testing

@testable import StreamingEngine

/// Tests of the state machine of playback: events in, actions out.
@Suite struct PlaybackStateMachineTests {
    private static let enough: BufferState = {
        var state = BufferState()
        state.bufferedDuration = .seconds(10)
        state.isSufficient = true
        return state
    }()

    private static func buffer(
        _ seconds: Double,
        suffices: Bool = false,
        isFull: Bool = false,
        reachesEnd: Bool = false
    ) -> BufferState {
        var state = BufferState()
        state.bufferedDuration = .seconds(seconds)
        state.isSufficient = suffices
        state.isFull = isFull
        state.reachesEnd = reachesEnd
        return state
    }

    /// Returns a state machine that has played at normal rate since 0 s.
    private func playing() -> PlaybackStateMachine {
        var machine = PlaybackStateMachine(start: .zero)
        _ = machine.setRate(1, at: .zero)
        _ = machine.becomeReady(at: .zero)
        _ = machine.bufferChanged(Self.enough, variant: nil, at: .zero)
        return machine
    }

    /// Returns the rates and reasons that are reported.
    private func rates(_ actions: [PlaybackStateMachine.Action]) -> [String] {
        actions.compactMap { action in
            guard case .report(.rateChanged(let change)) = action else { return nil }
            return "\(change.previousRate) \(change.rate) \(change.reason.rawValue)"
        }
    }

    private func names(_ actions: [PlaybackStateMachine.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .setRate(let rate): "rate \(rate)"
            case .report(let kind): kind.name
            }
        }
    }

    @Test func playbackStartsOnceTheBufferSuffices() {
        var machine = PlaybackStateMachine(start: .zero)
        #expect(rates(machine.setRate(1, at: .zero)).isEmpty)
        #expect(machine.timeControl == .waiting(.evaluatingBufferingRate))
        #expect(rates(machine.becomeReady(at: .zero)).isEmpty)
        #expect(rates(machine.bufferChanged(Self.buffer(5), variant: nil, at: .seconds(1))).isEmpty)
        let actions = machine.bufferChanged(Self.enough, variant: nil, at: .seconds(2))
        #expect(rates(actions) == ["0.0 1.0 setRateCalled"])
        #expect(actions.contains(.setRate(1)))
        #expect(machine.rate == 1 && machine.timeControl == .playing && machine.isLikelyToKeepUp)
    }

    @Test(arguments: [
        (buffer(5, isFull: true), false, true), (buffer(0, isFull: true), false, false),
        (buffer(0, reachesEnd: true), false, true), (buffer(0.5), true, true), (buffer(0), true, false),
        (buffer(0, suffices: true), false, false), (buffer(0.5), false, false),
    ])
    func playbackStartsOnlyWithASufficientBuffer(state: BufferState, atOnce: Bool, starts: Bool) {
        var machine = PlaybackStateMachine(start: .zero)
        _ = machine.setRate(1, immediately: atOnce, at: .zero)
        _ = machine.becomeReady(at: .zero)
        _ = machine.bufferChanged(state, variant: nil, at: .seconds(1))
        #expect((machine.rate == 1) == starts)
    }

    @Test func withoutWaitingForStallsPlaybackStartsWithTheFirstMedia() {
        var machine = PlaybackStateMachine(start: .zero)
        machine.waitsToMinimizeStalls = false
        _ = machine.setRate(1, at: .zero)
        _ = machine.becomeReady(at: .zero)
        #expect(machine.rate == 0)
        _ = machine.bufferChanged(Self.buffer(0.1), variant: nil, at: .seconds(1))
        #expect(machine.rate == 1)
    }

    @Test func aStallIsReportedWithItsDurationAndEndsForBuffering() {
        var machine = playing()
        let stall = machine.bufferChanged(Self.buffer(0.01), variant: nil, at: .seconds(5))
        #expect(rates(stall) == ["1.0 0.0 buffering"])
        #expect(names(stall).contains("stall"), "\(names(stall))")
        #expect(machine.isStalled && machine.timeControl == .waiting(.toMinimizeStalls))
        #expect(!machine.isLikelyToKeepUp)
        let resumed = machine.bufferChanged(Self.enough, variant: nil, at: .seconds(8))
        #expect(rates(resumed) == ["0.0 1.0 buffering"])
        #expect(resumed.contains(.report(.stallEnded(after: .seconds(3)))))
        #expect(!machine.isStalled)
    }

    @Test func aPauseEndsAStallWithoutABufferingReason() {
        var machine = playing()
        _ = machine.bufferChanged(Self.buffer(0), variant: nil, at: .seconds(5))
        let paused = machine.setRate(0, at: .seconds(6))
        #expect(paused.contains(.report(.stallEnded(after: .seconds(1)))))
        _ = machine.setRate(1, at: .seconds(7))
        let resumed = machine.bufferChanged(Self.enough, variant: nil, at: .seconds(8))
        #expect(rates(resumed) == ["0.0 1.0 setRateCalled"])
    }

    @Test func aBufferBelowTwentyMillisecondsCountsAsEmpty() {
        var machine = playing()
        _ = machine.bufferChanged(Self.buffer(0.02), variant: nil, at: .seconds(5))
        #expect(machine.rate == 1)
        _ = machine.bufferChanged(Self.buffer(0.019), variant: nil, at: .seconds(5))
        #expect(machine.rate == 0)
        var ending = playing()
        _ = ending.bufferChanged(Self.buffer(0, reachesEnd: true), variant: nil, at: .seconds(5))
        #expect(ending.rate == 1)
    }

    @Test func aCorrectionChangesTheRateAndEnds() {
        var machine = playing()
        #expect(rates(machine.correctRate(by: 1.05, at: .seconds(1))) == ["1.0 1.05 liveOffsetCorrection"])
        #expect(machine.correctRate(by: 1.05, at: .seconds(2)).isEmpty)
        #expect(rates(machine.correctRate(by: 1, at: .seconds(3))) == ["1.05 1.0 liveOffsetCorrection"])
        #expect(machine.rateCorrection == 1 && machine.rate == 1)
    }

    @Test(arguments: [2, 0.5, -1])
    func anotherRateEndsACorrection(rate: Double) {
        var machine = playing()
        _ = machine.correctRate(by: 1.05, at: .seconds(1))
        #expect(rates(machine.setRate(rate, at: .seconds(2))) == ["1.05 \(rate) setRateCalled"])
        #expect(machine.rate == rate && machine.rateCorrection == 1)
    }

    @Test func aPauseEndsACorrection() {
        var machine = playing()
        _ = machine.correctRate(by: 0.95, at: .seconds(1))
        _ = machine.setRate(0, at: .seconds(2))
        #expect(machine.rateCorrection == 1)
        _ = machine.setRate(1, at: .seconds(3))
        #expect(machine.rate == 1)
    }

    @Test func settingNormalRateAgainKeepsACorrection() {
        var machine = playing()
        _ = machine.correctRate(by: 1.05, at: .seconds(1))
        #expect(machine.setRate(1, at: .seconds(2)).isEmpty)
        #expect(machine.rate == 1.05)
    }

    @Test func playbackWaitsForTheEndOfASeek() {
        var machine = playing()
        #expect(rates(machine.seekBegan(at: .seconds(1))) == ["1.0 0.0 buffering"])
        #expect(!machine.isLikelyToKeepUp)
        #expect(machine.bufferChanged(Self.enough, variant: nil, at: .seconds(2)).allSatisfy { $0 != .setRate(1) })
        #expect(machine.rate == 0 && machine.timeControl == .waiting(.evaluatingBufferingRate))
        #expect(rates(machine.seekEnded(Self.enough, at: .seconds(3))) == ["0.0 1.0 setRateCalled"])
        #expect(machine.seekEnded(Self.enough, at: .seconds(4)).isEmpty)
    }

    @Test func aSeekEndsAStall() {
        var machine = playing()
        _ = machine.bufferChanged(Self.buffer(0), variant: nil, at: .seconds(5))
        #expect(machine.seekBegan(at: .seconds(7)).contains(.report(.stallEnded(after: .seconds(2)))))
        #expect(rates(machine.seekEnded(Self.enough, at: .seconds(8))) == ["0.0 1.0 setRateCalled"])
    }

    @Test func theEndIsReportedOnceAndIsLeftByASeek() {
        var machine = playing()
        let actions = machine.reachedEnd(pausing: true, at: .seconds(60))
        #expect(rates(actions) == ["1.0 0.0 playedToEnd"])
        #expect(actions.last == .report(.playedToEnd))
        #expect(machine.hasEnded && machine.desiredRate == 0 && machine.timeControl == .paused)
        #expect(machine.reachedEnd(pausing: true, at: .seconds(61)).isEmpty)
        #expect(machine.setRate(1, at: .seconds(62)).isEmpty && machine.desiredRate == 0)
        _ = machine.seekBegan(at: .seconds(63))
        #expect(!machine.hasEnded)
        _ = machine.seekEnded(Self.enough, at: .seconds(63))
        _ = machine.setRate(1, at: .seconds(64))
        #expect(machine.rate == 1)
    }

    @Test func theRequestedRateIsKeptAtTheEndUnlessPlaybackPausesThere() {
        var machine = playing()
        _ = machine.reachedEnd(pausing: false, at: .seconds(60))
        #expect(machine.desiredRate == 1 && machine.rate == 0 && machine.timeControl == .paused)
    }

    @Test func reversePlaybackLeavesTheEnd() {
        var machine = playing()
        _ = machine.reachedEnd(pausing: true, at: .seconds(60))
        #expect(machine.setRate(-1, at: .seconds(61)).contains(.setRate(-1)))
        #expect(!machine.hasEnded)
    }

    /// Media that is loaded ahead of the playhead is of no use in the other direction, and waiting for other media because
    /// the viewer turned is not a stall.
    @Test func turningWaitsForMediaInTheNewDirection() {
        var machine = playing()
        let turned = machine.setRate(-1, turnedBuffer: Self.buffer(0), at: .seconds(5))
        #expect(names(turned) == ["rate 0.0", "rate", "timeControl"])
        #expect(machine.timeControl == .waiting(.toMinimizeStalls) && !machine.isStalled)
        let loaded = machine.bufferChanged(Self.enough, variant: nil, at: .seconds(6))
        #expect(rates(loaded).count == 1 && loaded.contains(.setRate(-1)))
        #expect(!names(loaded).contains("stallEnd"))
    }

    @Test func turningContinuesWithMediaThatIsLoadedThere() {
        var machine = playing()
        let turned = machine.setRate(-2, turnedBuffer: Self.enough, at: .seconds(5))
        #expect(turned.contains(.setRate(-2)) && rates(turned).count == 1)
        #expect(machine.timeControl == .playing)
    }

    @Test func aStepBackLeavesTheEnd() {
        var machine = playing()
        _ = machine.reachedEnd(pausing: true, at: .seconds(60))
        machine.resumeFromEnd()
        #expect(!machine.hasEnded && machine.isReady)
        var failed = playing()
        _ = failed.fail(at: .seconds(1))
        failed.resumeFromEnd()
        #expect(!failed.isReady)
    }

    @Test func aFailureStopsPlaybackPermanently() {
        var machine = playing()
        _ = machine.bufferChanged(Self.buffer(0), variant: nil, at: .seconds(5))
        let actions = machine.fail(at: .seconds(9))
        #expect(actions.contains(.report(.stallEnded(after: .seconds(4)))))
        #expect(machine.timeControl == .paused && machine.desiredRate == 0 && !machine.isReady)
        #expect(machine.fail(at: .seconds(10)).isEmpty)
        #expect(machine.setRate(1, at: .seconds(10)).isEmpty)
        #expect(machine.seekBegan(at: .seconds(10)).isEmpty)
        #expect(machine.becomeReady(at: .seconds(10)).isEmpty)
    }

    @Test func likelyToKeepUpIsReportedWithTheTimeSinceTheStartOrSinceItWasLost() throws {
        func report(_ actions: [PlaybackStateMachine.Action]) -> LikelyToKeepUpReport? {
            actions.lazy.compactMap { if case .report(.likelyToKeepUp(let found)) = $0 { found } else { nil } }.first
        }
        var machine = PlaybackStateMachine(start: .seconds(2))
        _ = machine.setRate(1, at: .seconds(2))
        _ = machine.becomeReady(at: .seconds(3))
        let first = try #require(report(machine.bufferChanged(Self.enough, variant: nil, at: .seconds(5))))
        #expect(first.isInitial && first.timeTaken == .seconds(3))
        #expect(report(machine.bufferChanged(Self.buffer(1), variant: nil, at: .seconds(6))) == nil)
        #expect(machine.isLikelyToKeepUp)
        _ = machine.bufferChanged(Self.buffer(0), variant: nil, at: .seconds(9))
        let second = try #require(report(machine.bufferChanged(Self.enough, variant: nil, at: .seconds(13))))
        #expect(!second.isInitial && second.timeTaken == .seconds(4))
        _ = machine.seekBegan(at: .seconds(20))
        let third = try #require(report(machine.seekEnded(Self.enough, at: .seconds(21))))
        #expect(!third.isInitial && third.timeTaken == .seconds(1))
    }

    @Test func aSeekBeforeTheStartDoesNotChangeTheTimeOfTheStart() throws {
        var machine = PlaybackStateMachine(start: .zero)
        _ = machine.setRate(1, at: .zero)
        _ = machine.seekBegan(at: .seconds(3))
        #expect(!machine.isReady)
        _ = machine.becomeReady(at: .seconds(4))
        let actions = machine.bufferChanged(Self.enough, variant: nil, at: .seconds(5))
        let report = actions.lazy.compactMap {
            if case .report(.likelyToKeepUp(let found)) = $0 { found } else { nil }
        }.first
        #expect(try #require(report).timeTaken == .seconds(5))
    }
}

@Suite struct KeepUpRuleTests {
    private func suffices(
        _ ahead: Double,
        needed: Int64 = 1_000_000,
        throughput: Int64? = nil,
        segment: Double = 6
    ) -> Bool {
        KeepUpRule().isSufficient(
            bufferedDuration: .seconds(ahead),
            mediaBitRate: BitRate(bitsPerSecond: needed),
            throughput: throughput.map { BitRate(bitsPerSecond: $0) },
            segmentDuration: .seconds(segment)
        )
    }

    @Test func anEmptyBufferNeverSuffices() {
        #expect(!suffices(0, throughput: 100_000_000, segment: 0))
    }

    @Test func fifteenSecondsAlwaysSuffice() {
        #expect(suffices(15, throughput: 1))
        #expect(!suffices(14.9, throughput: 1))
    }

    @Test func twoSecondsOrNineTenthsOfAShorterSegmentAreRequired() {
        #expect(suffices(2) && !suffices(1.99))
        #expect(suffices(0.9, segment: 1) && !suffices(0.89, segment: 1))
        #expect(!suffices(1.99, segment: 0) && suffices(2, segment: 0))
    }

    @Test func aSlowLinkNeedsABufferForTheDataThatDoesNotArriveInTwentySeconds() {
        #expect(suffices(2, throughput: 1_000_000))
        #expect(!suffices(9.9, throughput: 500_000) && suffices(10, throughput: 500_000))
        #expect(!suffices(4.9, throughput: 750_000) && suffices(5.1, throughput: 750_000))
        #expect(suffices(2, throughput: 0))
        #expect(suffices(2, needed: 0, throughput: 1))
    }
}
