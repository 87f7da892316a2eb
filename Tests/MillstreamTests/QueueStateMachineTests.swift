import MediaTiming
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

@Suite struct QueueStateMachineTests {
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

    private func queue(_ action: PlayerState.ActionAtItemEnd = .advance) -> QueueStateMachine {
        var queue = QueueStateMachine(actionAtItemEnd: action)
        queue.setItems(items)
        _ = queue.takeActions()
        _ = queue.takeEvents()
        return queue
    }

    @Test func firstItemIsPreparedAndPlayedAtTheRequestedRate() {
        var queue = QueueStateMachine(actionAtItemEnd: .pause)
        queue.setRate(1)
        #expect(queue.takeActions() == [])
        queue.setItems([items[0]])
        #expect(queue.takeActions() == [.prepare(items[0]), .setRate(items[0], 1, .setRateCalled, atOnce: false)])
        let change = RateChange(rate: 1, previousRate: 0, reason: .setRateCalled)
        #expect(
            queue.takeEvents() == [
                .rateDidChange(change), .timeControlStatusDidChange(.waiting(.noItemToPlay)),
                .currentItemDidChange(items[0]),
                .timeControlStatusDidChange(.waiting(.evaluatingBufferingRate)),
            ]
        )
    }

    @Test func nextItemIsPreparedOnceAndStartsAtTheEnd() {
        var queue = queue()
        queue.setRate(1.5)
        queue.confirmRateCommand(of: items[0])
        queue.processSnapshot(of: items[0], snapshot { $0.desiredRate = 1.5 })
        #expect(queue.takeActions() == [.setRate(items[0], 1.5, .setRateCalled, atOnce: false)])
        queue.processSnapshot(of: items[0], loaded)
        queue.processSnapshot(of: items[0], loaded)
        #expect(queue.takeActions() == [.prepare(items[1])])
        // A backward seek discards loaded media, but not the prepared item.
        queue.setRate(1.5)
        queue.processSnapshot(of: items[0], snapshot())
        _ = queue.takeActions()
        queue.processEvent(of: items[0], .playedToEnd)
        #expect(
            queue.takeActions() == [.dismiss(items[0]), .setRate(items[1], 1.5, .setRateCalled, atOnce: false)]
        )
        #expect(queue.takeRemovedItems() == [items[0]])
        #expect(queue.state.rate == 1.5)
    }

    @Test func duplicateEndEventsAdvanceTheQueueOnce() {
        var queue = queue()
        queue.processEvent(of: items[0], .playedToEnd)
        queue.processEvent(of: items[0], .playedToEnd)
        #expect(queue.state.items == [items[1], items[2]])
    }

    @Test func snapshotsFromBeforeARateChangeAreIgnored() {
        var queue = queue(.pause)
        queue.processSnapshot(of: items[0], snapshot())
        queue.setRate(1)
        queue.setRate(2)
        queue.processSnapshot(of: items[0], snapshot())
        #expect(queue.state.rate == 2)
        queue.confirmRateCommand(of: items[0])
        queue.processSnapshot(of: items[0], snapshot { $0.desiredRate = 1 })
        #expect(queue.state.rate == 2)
        queue.confirmRateCommand(of: items[0])
        queue.processSnapshot(of: items[0], snapshot { $0.desiredRate = 1 })
        #expect(queue.state.rate == 1)
    }

    @Test func endOfTheLastItemEmptiesTheQueue() {
        var queue = QueueStateMachine(actionAtItemEnd: .advance)
        queue.setItems([items[0]])
        queue.setRate(1)
        _ = (queue.takeActions(), queue.takeEvents())
        queue.processEvent(of: items[0], .playedToEnd)
        #expect(queue.state.currentItem == nil)
        #expect(queue.state.rate == 0)
        #expect(queue.takeActions() == [.dismiss(items[0])])
        #expect(queue.state.timeControlStatus == .paused)
    }

    @Test func rateIsUnchangedAtTheEndWithoutAnAction() {
        var queue = queue(.none)
        queue.setRate(1)
        queue.processEvent(of: items[0], .playedToEnd)
        #expect(queue.state.rate == 1)
        #expect(queue.state.currentItem == items[0])
        #expect(!queue.engineOptions.pausesAtEnd)
    }

    @Test func failedItemsAreRemovedExceptTheLast() {
        var queue = queue()
        queue.setRate(1)
        let failed = snapshot {
            $0.status = .failed
            $0.error = StreamingError(.damaged, "no")
        }
        for item in items { queue.processSnapshot(of: item, failed) }
        #expect(queue.state.items == [items[2]])
        #expect(queue.state.rate == 0)
        #expect(queue.state.status == .unknown)
    }

    @Test func lostPipelineDismissesAllItemsPermanently() {
        var queue = queue()
        queue.processSnapshot(of: items[0], loaded)
        _ = queue.takeActions()
        queue.processSnapshot(
            of: items[0],
            snapshot {
                $0.status = .failed
                $0.error = StreamingError(.pipelineLost, "gone")
            }
        )
        #expect(queue.takeActions() == [.dismiss(items[0]), .dismiss(items[1])])
        queue.setItems([items[2]])
        queue.setRate(1)
        #expect(queue.takeActions() == [])
        #expect(queue.state.status == .failed)
        #expect(queue.state.rate == 0)
    }

    @Test func messagesFromTheEngineOfAnotherItemAreIgnored() {
        var queue = queue()
        let before = queue.state
        queue.processSnapshot(of: items[2], loaded)
        queue.processEvent(of: items[2], .playedToEnd)
        queue.confirmRateCommand(of: items[2])
        #expect(queue.state.items == before.items)
        #expect(queue.state.playback.status == .unknown)
        #expect(queue.takeActions() == [])
    }

    @Test(arguments: [
        (0.0, false, TimeControl.playing, TimeControl.paused), (1, false, .playing, .waiting(.noItemToPlay)),
        (1, true, .playing, .playing), (1, true, .paused, .waiting(.evaluatingBufferingRate)),
        (1, true, .waiting(.toMinimizeStalls), .waiting(.toMinimizeStalls)), (0, true, .playing, .paused),
    ])
    func timeControlStatusFollowsFromTheRateAndTheEngineState(
        rate: Double,
        hasItem: Bool,
        engine: TimeControl,
        expected: TimeControl
    ) {
        var state = PlayerState()
        state.rate = rate
        state.currentItem = hasItem ? items[0] : nil
        state.playback.timeControl = engine
        #expect(state.timeControlStatus == expected)
        #expect(!state.canPlay)
        state.playback.status = .readyToPlay
        #expect(state.canPlay == hasItem)
    }
}
