import MediaTiming
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

/// Tests states and actions of the queue of a player that no other suite reaches.
@Suite struct QueueFaultTests {
    private let items = (0..<3).map { PlayerItem(ResourceAddress("\($0)"), environment: World().environment) }

    private func snapshot(_ change: (inout PlaybackSnapshot) -> Void = { _ in }) -> PlaybackSnapshot {
        var snapshot = PlaybackSnapshot()
        snapshot.status = .readyToPlay
        snapshot.duration = MediaTime(seconds: 10)
        change(&snapshot)
        return snapshot
    }

    private var loaded: PlaybackSnapshot {
        snapshot { $0.loadedTimeRanges.insert(MediaTimeRange(start: .zero, end: MediaTime(seconds: 10))) }
    }

    private var failed: PlaybackSnapshot {
        snapshot {
            $0.status = .failed
            $0.error = StreamingError(.damaged, "no")
        }
    }

    private func playing(_ change: (inout PlaybackSnapshot) -> Void = { _ in }) -> PlaybackSnapshot {
        snapshot {
            $0.desiredRate = 1
            $0.timeControl = .playing
            change(&$0)
        }
    }

    /// Returns a queue whose first item is requested to play.
    private func queue(_ action: PlayerState.ActionAtItemEnd, rate: Double = 1) -> QueueStateMachine {
        var queue = QueueStateMachine(actionAtItemEnd: action)
        queue.setItems(items)
        queue.setRate(rate)
        queue.confirmRateCommand(of: items[0])
        _ = (queue.takeActions(), queue.takeEvents())
        return queue
    }

    private func rateChanges(_ events: [PlayerEvent]) -> [RateChange] {
        events.compactMap { if case .rateDidChange(let change) = $0 { change } else { nil } }
    }

    @Test func theStatesOfTheEngineArePublished() {
        var queue = queue(.pause)
        queue.processSnapshot(of: items[0], playing())
        #expect(queue.takeEvents() == [.statusDidChange(.readyToPlay), .timeControlStatusDidChange(.playing)])
        queue.processSnapshot(of: items[0], playing { $0.timeControl = .waiting(.toMinimizeStalls) })
        #expect(queue.takeEvents() == [.timeControlStatusDidChange(.waiting(.toMinimizeStalls))])
    }

    @Test(arguments: [true, false]) func theEndPausesThePlayerWithItsReason(isEvent: Bool) {
        var queue = queue(.pause)
        queue.processSnapshot(of: items[0], playing())
        _ = queue.takeEvents()
        if isEvent {
            queue.processEvent(of: items[0], .playedToEnd)
        } else {
            queue.processSnapshot(of: items[0], snapshot { $0.hasPlayedToEnd = true })
        }
        #expect(queue.state.rate == 0 && queue.state.items == items)
        #expect(rateChanges(queue.takeEvents()).map(\.reason) == [.playedToEnd])
    }

    @Test func anAdvancingQueueAdoptsTheRateOfTheEngineBeforeTheEnd() {
        var queue = queue(.advance, rate: 2)
        queue.processSnapshot(of: items[0], playing())
        #expect(queue.state.rate == 1)
        // At the end, the requested rate applies to the next item.
        queue.processSnapshot(of: items[0], snapshot { $0.hasPlayedToEnd = true })
        #expect(queue.state.rate == 1)
    }

    @Test func anItemIsNotSuspendedBeforeItsEnd() {
        var queue = queue(.advance)
        queue.setSuspendsAtEnd(true)
        queue.processSnapshot(of: items[0], playing())
        #expect(!queue.state.isSuspended && queue.suspendsAtEnd)
    }

    @Test func aFailedItemStaysInAQueueThatDoesNotAdvance() {
        var queue = queue(.pause)
        queue.processSnapshot(of: items[0], failed)
        #expect(queue.state.items == items && queue.state.rate == 0)
        #expect(rateChanges(queue.takeEvents()).map(\.reason) == [.ended])
        #expect(queue.state.status == .unknown && queue.state.error == nil)
    }

    @Test func theNextItemIsPreparedWhenTheQueueIsToAdvance() {
        var queue = queue(.pause)
        queue.processSnapshot(of: items[0], loaded)
        #expect(queue.takeActions() == [])
        queue.setActionAtItemEnd(.advance)
        #expect(queue.takeActions() == [.configure(items[0], queue.engineOptions), .prepare(items[1])])
    }

    @Test func thePreparedItemHasItsLastState() {
        var queue = queue(.advance)
        queue.processSnapshot(of: items[0], loaded)
        queue.processSnapshot(of: items[1], snapshot { $0.duration = MediaTime(seconds: 7) })
        #expect(queue.state.playback.duration == MediaTime(seconds: 10))
        queue.processEvent(of: items[0], .playedToEnd)
        #expect(queue.state.currentItem == items[1])
        #expect(queue.state.playback.duration == MediaTime(seconds: 7) && queue.state.canPlay)
    }

    @Test func aNewPlayerIsAtItsDefaults() {
        let state = PlayerState()
        #expect(state.rate == 0 && state.defaultRate == 1 && state.status == .unknown && state.items.isEmpty)
        #expect(state.volume == 1 && !state.isMuted && state.automaticallyWaitsToMinimizeStalling)
        #expect(state.actionAtItemEnd == .pause && !state.requiresNormalRate && !state.isSuspended)
        #expect(state.reasonForWaitingToPlay == nil && !state.canPlay)
    }

    @Test func thePlayerWaitsOrIsPausedForTheFirstReason() {
        var state = PlayerState()
        state.rate = 1
        state.currentItem = items[0]
        state.playback.timeControl = .playing
        #expect(state.timeControlStatus == .playing && state.reasonForWaitingToPlay == nil)
        state.playback.hasPlayedToEnd = true
        #expect(state.timeControlStatus == .paused)
        state.isSuspended = true
        #expect(state.timeControlStatus == .waiting(.duringInterstitialEvent))
        #expect(state.reasonForWaitingToPlay == .duringInterstitialEvent)
        state.playback.status = .failed
        #expect(state.timeControlStatus == .paused)
        state.rate = 0
        #expect(state.timeControlStatus == .paused)
    }

    // MARK: Reports

    @Test func aRateThatIsSetDuringASuspensionIsAccepted() {
        var queue = queue(.pause)
        queue.setSuspended(true)
        let isAccepted = queue.setRate(1.5)
        #expect(isAccepted && queue.state.rate == 1.5)
    }

    @Test func anEndThatDidNotWaitIsNotProcessedAfterASuspension() {
        var queue = queue(.pause)
        queue.setSuspended(true)
        queue.processSnapshot(of: items[0], snapshot { $0.hasPlayedToEnd = true })
        queue.setSuspended(false)
        #expect(queue.state.rate == 1 && queue.state.items == items)
    }

    @Test func theEndOfAPreparedItemIsNotThatOfTheCurrentOne() {
        var queue = queue(.advance)
        queue.processSnapshot(of: items[0], loaded)
        queue.processEvent(of: items[1], .playedToEnd)
        #expect(queue.state.items == items && queue.state.currentItem == items[0])
    }

    @Test func aFailedPlayerIgnoresReports() {
        var queue = queue(.advance)
        queue.processSnapshot(
            of: items[0],
            snapshot {
                $0.status = .failed
                $0.error = StreamingError(.pipelineLost, "gone")
            }
        )
        #expect(queue.takeActions() == [.dismiss(items[0])])
        _ = queue.takeEvents()
        queue.processSnapshot(of: items[0], playing())
        queue.processEvent(of: items[0], .playedToEnd)
        #expect(queue.state.status == .failed && queue.state.playback.status == .failed)
        #expect(queue.state.items == items && queue.state.rate == 0)
        #expect(queue.takeActions() == [])
        #expect(queue.takeEvents() == [])
    }

    @Test func removedItemsAreReturnedOnce() {
        var queue = queue(.advance)
        queue.setItems([items[1]])
        #expect(queue.takeRemovedItems() == [items[0], items[2]])
        #expect(queue.takeRemovedItems() == [])
    }

    @Test func theItemAfterAReplacementIsNotPreparedYet() {
        var queue = QueueStateMachine(actionAtItemEnd: .advance)
        queue.setItems([items[0]])
        queue.processSnapshot(of: items[0], loaded)
        _ = queue.takeActions()
        queue.setItems([items[1], items[2]])
        #expect(queue.takeActions() == [.dismiss(items[0]), .prepare(items[1])])
    }

    @Test func theRemovalOfAllItemsIsPublished() {
        var queue = queue(.pause)
        queue.setItems([])
        #expect(
            queue.takeEvents() == [
                .currentItemDidChange(nil), .timeControlStatusDidChange(.waiting(.noItemToPlay)),
            ]
        )
    }

    @Test(arguments: [true, false]) func optionsOfThePlayerReachTheEngine(isSet: Bool) {
        var options = StreamingOptions()
        let player = QueueStateMachine.EngineOptions(
            waitsToMinimizeStalls: isSet,
            pausesAtEnd: isSet,
            volume: 0.5,
            isMuted: isSet,
            isSuspended: isSet
        )
        player.apply(to: &options)
        #expect(options.waitsToMinimizeStalls == isSet && options.pausesAtEnd == isSet && options.isHeld == isSet)
        #expect(options.audioSettings.volume == 0.5 && options.audioSettings.isMuted == isSet)
    }

    // MARK: Errors

    @Test func errorsHaveTheNumbersOfAVFoundation() {
        let numbers = PlayerError.Code.allCases.map { $0.number }
        #expect(numbers == [nil, nil, -11_819, nil, -11_849, -11_878])
        #expect(PlayerError.Code(rawValue: "new").number == nil)
    }

    @Test func aLostPipelineIsTheCauseOfTheErrorOfThePlayer() {
        let cause = StreamingError(.pipelineLost, "gone", address: ResourceAddress("a"))
        let error = PlayerError(cause)
        #expect(error.code == .mediaServicesLost && error.address == ResourceAddress("a"))
        #expect((error.cause as? StreamingError)?.code == .pipelineLost && error.description.contains("gone"))
    }

    // MARK: Ownership

    @Test func onlyTheOwnerReleasesAnItem() {
        let (one, other) = (ItemSession(), ItemSession())
        let item = items[0]
        let isFirst = item.claim(for: ObjectIdentifier(one))
        item.release(by: ObjectIdentifier(other))
        let isSecond = item.claim(for: ObjectIdentifier(other))
        #expect(isFirst && !isSecond && item.isClaimed)
        item.release(by: ObjectIdentifier(one))
        #expect(!item.isClaimed)
    }
}
