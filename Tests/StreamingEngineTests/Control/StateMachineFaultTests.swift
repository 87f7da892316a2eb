import MediaTiming
import PlaybackReporting
import Testing

@testable import StreamingEngine

/// Tests of the state of playback before a rate is set, and of rates that do not change the phase.
@Suite struct StateMachineFaultTests {
    private static func buffer(_ seconds: Double, suffices: Bool = false) -> BufferState {
        BufferState(bufferedDuration: .seconds(seconds), isSufficient: suffices)
    }

    private static let enough = buffer(10, suffices: true)

    private static func ready() -> PlaybackStateMachine {
        var machine = PlaybackStateMachine(start: .zero)
        _ = machine.setRate(1, at: .zero)
        _ = machine.becomeReady(at: .zero)
        _ = machine.bufferChanged(enough, variant: nil, at: .zero)
        return machine
    }

    @Test func playbackIsPausedUntilARateIsSet() {
        var machine = PlaybackStateMachine(start: .zero)
        #expect(machine.desiredRate == 0 && machine.rate == 0 && machine.rateCorrection == 1)
        #expect(machine.timeControl == .paused && !machine.isPausedAtStart && machine.waitsToMinimizeStalls)
        #expect(!machine.isStalled && !machine.isLikelyToKeepUp && !machine.isReady && !machine.hasEnded)
        #expect(machine.variant == nil && machine.bufferState == BufferState())
        _ = machine.becomeReady(at: .zero)
        _ = machine.bufferChanged(Self.enough, variant: nil, at: .zero)
        #expect(machine.desiredRate == 0 && machine.rate == 0 && machine.timeControl == .paused)
        #expect(machine.isReady && machine.isLikelyToKeepUp)
    }

    @Test func bufferIsEmptyAndUnknownAtFirst() {
        let state = BufferState()
        #expect(state.bufferedDuration == .zero && state.isEmpty)
        #expect(!state.reachesEnd && !state.isSufficient && !state.isFull)
    }

    @Test func reverseRateLeavesOnlyTheEnd() {
        var seeking = Self.ready()
        _ = seeking.seekBegan(at: .seconds(1))
        _ = seeking.setRate(-1, at: .seconds(1))
        _ = seeking.bufferChanged(Self.enough, variant: nil, at: .seconds(2))
        #expect(seeking.rate == 0 && seeking.desiredRate == -1)
        _ = seeking.seekEnded(Self.enough, at: .seconds(3))
        #expect(seeking.rate == -1)
        var preparing = PlaybackStateMachine(start: .zero)
        _ = preparing.setRate(-1, at: .zero)
        #expect(!preparing.isReady)
        var failed = Self.ready()
        _ = failed.fail(at: .seconds(1))
        let actions = failed.setRate(-1, at: .seconds(2))
        #expect(actions.isEmpty && !failed.isReady && failed.desiredRate == 0)
    }

    @Test func playbackWaitsForTheBufferAfterAPause() {
        var machine = Self.ready()
        _ = machine.setRate(0, at: .seconds(1))
        _ = machine.bufferChanged(Self.buffer(1), variant: nil, at: .seconds(2))
        _ = machine.setRate(1, at: .seconds(3))
        #expect(machine.rate == 0 && machine.timeControl == .waiting(.toMinimizeStalls) && !machine.isStalled)
        _ = machine.bufferChanged(Self.enough, variant: nil, at: .seconds(4))
        #expect(machine.rate == 1)
    }

    @Test(arguments: [(0, false), (1, true)])
    func emptyBufferDoesNotSufficeEvenIfNoneIsRequired(milliseconds: Int, isSufficient: Bool) {
        var rule = KeepUpRule()
        rule.sufficientBuffer = .zero
        let found = rule.isSufficient(
            bufferedDuration: .milliseconds(milliseconds),
            mediaBitRate: BitRate(bitsPerSecond: 1),
            throughput: nil,
            segmentDuration: .seconds(6)
        )
        #expect(found == isSufficient)
    }
}
