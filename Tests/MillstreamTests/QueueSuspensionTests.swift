import MediaTiming
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

@Suite struct QueueSuspensionTests {
    private let items = (0..<3).map { PlayerItem(ResourceAddress("\($0)"), environment: World().environment) }

    private func snapshot(_ change: (inout PlaybackSnapshot) -> Void = { _ in }) -> PlaybackSnapshot {
        var snapshot = PlaybackSnapshot()
        snapshot.status = .readyToPlay
        snapshot.duration = MediaTime(seconds: 10)
        change(&snapshot)
        return snapshot
    }

    /// The last snapshot of an item that has played to its end.
    private var ended: PlaybackSnapshot { snapshot { $0.hasPlayedToEnd = true } }

    /// A queue whose first item is prepared.
    private func queue(_ action: PlayerState.ActionAtItemEnd = .pause) -> QueueStateMachine {
        var queue = QueueStateMachine(actionAtItemEnd: action)
        queue.setItems(items)
        _ = (queue.takeActions(), queue.takeEvents())
        return queue
    }

    /// A queue whose first item plays at the rate 1.
    private func playingQueue(_ action: PlayerState.ActionAtItemEnd = .pause) -> QueueStateMachine {
        var queue = queue(action)
        queue.setRate(1)
        queue.confirmRateCommand(of: items[0])
        queue.processSnapshot(
            of: items[0],
            snapshot {
                $0.desiredRate = 1
                $0.timeControl = .playing
            }
        )
        _ = (queue.takeActions(), queue.takeEvents())
        return queue
    }

    // MARK: Suspension

    @Test func aSuspendedItemIsStoppedAndKeepsTheRequestedRate() {
        var queue = playingQueue()
        queue.setSuspended(true)
        var options = queue.engineOptions
        #expect(options.isSuspended)
        #expect(
            queue.takeActions() == [
                .configure(items[0], options), .setRate(items[0], 0, .setRateCalled, atOnce: false),
            ]
        )
        #expect(queue.takeEvents() == [.timeControlStatusDidChange(.waiting(.duringInterstitialEvent))])
        queue.setSuspended(true)
        #expect(queue.takeActions() == [])
        // The engine reports the rate with which it was stopped.
        queue.confirmRateCommand(of: items[0])
        queue.processSnapshot(of: items[0], snapshot())
        #expect(queue.state.rate == 1)
        #expect(queue.takeEvents() == [])
        queue.setSuspended(false)
        options = queue.engineOptions
        #expect(!options.isSuspended)
        #expect(
            queue.takeActions() == [
                .configure(items[0], options), .setRate(items[0], 1, .setRateCalled, atOnce: false),
            ]
        )
        #expect(queue.takeEvents() == [.timeControlStatusDidChange(.waiting(.evaluatingBufferingRate))])
    }

    @Test func aRateThatIsSetDuringTheSuspensionIsSentAfterIt() {
        var queue = playingQueue()
        queue.setSuspended(true)
        _ = queue.takeActions()
        queue.setRate(1.5)
        #expect(queue.takeActions() == [.configure(items[0], queue.engineOptions)])
        queue.setRate(1.5)
        #expect(queue.takeActions() == [])
        queue.setSuspended(false)
        #expect(
            queue.takeActions() == [
                .configure(items[0], queue.engineOptions), .setRate(items[0], 1.5, .setRateCalled, atOnce: false),
            ]
        )
    }

    @Test func aPausedItemIsNotSuspendedInTheEngine() {
        var queue = playingQueue()
        queue.setSuspended(true)
        _ = queue.takeActions()
        queue.setRate(0)
        let options = queue.engineOptions
        #expect(!options.isSuspended)
        #expect(queue.takeActions() == [.configure(items[0], options)])
        #expect(queue.state.timeControlStatus == .paused)
        queue.setSuspended(false)
        #expect(queue.takeActions() == [.configure(items[0], options)])
    }

    @Test func anotherItemIsNotSuspended() {
        var queue = playingQueue()
        queue.setSuspended(true)
        queue.setSuspendsAtEnd(true)
        _ = queue.takeActions()
        queue.setItems([items[1]])
        #expect(!queue.state.isSuspended)
        #expect(!queue.suspendsAtEnd)
        #expect(
            queue.takeActions() == [
                .dismiss(items[0]), .prepare(items[1]), .configure(items[1], queue.engineOptions),
                .setRate(items[1], 1, .setRateCalled, atOnce: false),
            ]
        )
    }

    // MARK: The end of an item

    @Test func theEndWaitsForInterstitialsAfterIt() {
        var queue = playingQueue(.advance)
        queue.setSuspendsAtEnd(true)
        queue.processSnapshot(of: items[0], ended)
        queue.processEvent(of: items[0], .playedToEnd)
        #expect(queue.state.items == items)
        #expect(
            queue.takeActions() == [
                .configure(items[0], queue.engineOptions), .setRate(items[0], 0, .setRateCalled, atOnce: false),
                .prepare(items[1]),
            ]
        )
        #expect(queue.takeEvents() == [.timeControlStatusDidChange(.waiting(.duringInterstitialEvent))])
        queue.setSuspended(false)
        #expect(queue.state.items == [items[1], items[2]])
        #expect(queue.state.rate == 1)
        #expect(queue.takeRemovedItems() == [items[0]])
        #expect(!queue.state.isSuspended)
    }

    @Test func theEndOfAPausedItemDoesNotWait() {
        var queue = queue(.advance)
        queue.setSuspendsAtEnd(true)
        queue.processEvent(of: items[0], .playedToEnd)
        #expect(queue.state.items == [items[1], items[2]])
    }

    @Test func anItemThatIsNoLongerAtItsEndContinuesAfterTheInterstitials() {
        var queue = playingQueue(.advance)
        queue.setSuspendsAtEnd(true)
        queue.processEvent(of: items[0], .playedToEnd)
        #expect(queue.state.isSuspended)
        #expect(!queue.suspendsAtEnd)
        queue.processSnapshot(of: items[0], snapshot())
        queue.setSuspended(false)
        #expect(queue.state.items == items)
        // The next end does not wait.
        queue.processEvent(of: items[0], .playedToEnd)
        #expect(queue.state.items == [items[1], items[2]])
    }

    // MARK: Events

    @Test func aRateThatTheEngineChangesIsPublishedOnce() {
        var queue = playingQueue()
        let change = RateChange(rate: 0, previousRate: 1, reason: .reversePlaybackReachedStartOfSeekableRange)
        queue.processEvent(of: items[0], .rateChanged(change))
        queue.processSnapshot(of: items[0], snapshot())
        #expect(queue.takeEvents() == [.rateDidChange(change), .timeControlStatusDidChange(.paused)])
        queue.processSnapshot(of: items[0], snapshot())
        #expect(queue.takeEvents() == [])
    }

    @Test func theLossOfTheAudioDeviceIsPublished() {
        var queue = playingQueue()
        queue.recordAudioDeviceError(PlayerError(.audioDeviceLost, "lost"))
        #expect(queue.state.audioDeviceError?.code == .audioDeviceLost)
        #expect(queue.takeEvents() == [.audioDeviceDidFail])
        #expect(queue.state.rate == 1)
    }

    // MARK: Refused requests

    @Test func ratesAbove1AreRefusedWhileTheNormalRateIsRequired() {
        var queue = queue()
        queue.setRequiresNormalRate(true)
        let isFastAccepted = queue.setRate(1.25)
        #expect(!isFastAccepted)
        #expect(
            queue.takeEvents() == [.rateDidChange(RateChange(rate: 0, previousRate: 0, reason: .setRateFailed))]
        )
        #expect(queue.takeActions() == [])
        let isNormalAccepted = queue.setRate(1)
        #expect(isNormalAccepted)
        queue.setRequiresNormalRate(false)
        let isAcceptedLater = queue.setRate(1.25)
        #expect(isAcceptedLater)
        #expect(queue.state.rate == 1.25)
    }

    @Test func aFailedItemCanOnlyBePaused() {
        var queue = queue()
        queue.processSnapshot(
            of: items[0],
            snapshot {
                $0.status = .failed
                $0.error = StreamingError(.damaged, "no")
            }
        )
        _ = queue.takeActions()
        let isPlayAccepted = queue.setRate(1)
        let isPauseAccepted = queue.setRate(0)
        #expect(!isPlayAccepted && isPauseAccepted)
        #expect(queue.takeActions() == [])
    }

    @Test func theSameRateIsSentAgainUnlessItIs0() {
        var queue = queue()
        queue.setRate(0)
        #expect(queue.takeActions() == [])
        queue.setRate(1)
        queue.setRate(1, immediately: true)
        let start = QueueStateMachine.SynchronizedStart(mediaTime: nil, hostTime: .seconds(3))
        queue.setRate(1, from: start)
        #expect(
            queue.takeActions() == [
                .setRate(items[0], 1, .setRateCalled, atOnce: false),
                .setRate(items[0], 1, .setRateCalled, atOnce: true),
                .setRate(items[0], 1, .setRateCalled, atOnce: false, from: start),
            ]
        )
        queue.setRate(0)
        #expect(queue.takeActions() == [.setRate(items[0], 0, .setRateCalled, atOnce: false)])
    }

    // MARK: Options

    @Test(arguments: [(Double.nan, 0.0), (-0.5, 0), (0, 0), (0.5, 0.5), (1, 1), (1.5, 1)])
    func theVolumeIsLimited(volume: Double, expected: Double) {
        var queue = queue()
        queue.setVolume(volume, isMuted: true)
        #expect(queue.state.volume == expected)
        #expect(queue.state.isMuted)
        let options = queue.engineOptions
        #expect(options.volume == expected && options.isMuted)
        #expect(queue.takeActions() == [.configure(items[0], options)])
    }

    @Test func theOptionsOfThePlayerApplyToItsEngines() {
        var queue = queue(.pause)
        #expect(queue.engineOptions.waitsToMinimizeStalls && queue.engineOptions.pausesAtEnd)
        queue.setAutomaticallyWaits(false)
        #expect(queue.takeActions() == [.configure(items[0], queue.engineOptions)])
        #expect(!queue.engineOptions.waitsToMinimizeStalls)
        queue.setActionAtItemEnd(.none)
        #expect(queue.takeActions() == [.configure(items[0], queue.engineOptions)])
        #expect(!queue.engineOptions.pausesAtEnd)
    }

    @Test func aDefaultRateThatIsNotFiniteIsIgnored() {
        var queue = queue()
        queue.setDefaultRate(1.5)
        for rate in [Double.infinity, -.infinity, .nan] { queue.setDefaultRate(rate) }
        #expect(queue.state.defaultRate == 1.5)
    }
}
