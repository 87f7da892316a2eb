import MediaTiming
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

@Suite struct LineupTests {
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

    private func queue(_ action: PlayerState.ActionAtItemEnd = .advance) -> Lineup {
        var lineup = Lineup(actionAtItemEnd: action)
        lineup.setItems(items)
        _ = lineup.takeActions()
        _ = lineup.takeEvents()
        return lineup
    }

    @Test func firstItemIsPreparedAndPlayedAtTheRequestedRate() {
        var lineup = Lineup(actionAtItemEnd: .pause)
        lineup.setRate(1)
        #expect(lineup.takeActions() == [])
        lineup.setItems([items[0]])
        #expect(lineup.takeActions() == [.prepare(items[0]), .setRate(items[0], 1, .setRateCalled, atOnce: false)])
        let change = RateChange(rate: 1, previousRate: 0, reason: .setRateCalled)
        #expect(
            lineup.takeEvents() == [
                .rateDidChange(change), .timeControlStatusDidChange(.waiting(.noItemToPlay)),
                .currentItemDidChange(items[0]),
                .timeControlStatusDidChange(.waiting(.evaluatingBufferingRate)),
            ]
        )
    }

    @Test func nextItemIsPreparedOnceAndStartsAtTheEnd() {
        var lineup = queue()
        lineup.setRate(1.5)
        lineup.rateWasSet(of: items[0])
        lineup.snapshotCame(of: items[0], snapshot { $0.desiredRate = 1.5 })
        #expect(lineup.takeActions() == [.setRate(items[0], 1.5, .setRateCalled, atOnce: false)])
        lineup.snapshotCame(of: items[0], loaded)
        lineup.snapshotCame(of: items[0], loaded)
        #expect(lineup.takeActions() == [.prepare(items[1])])
        // A backward seek discards loaded media, but not the prepared item.
        lineup.setRate(1.5)
        lineup.snapshotCame(of: items[0], snapshot())
        _ = lineup.takeActions()
        lineup.eventCame(of: items[0], .playedToEnd)
        #expect(
            lineup.takeActions() == [.dismiss(items[0]), .setRate(items[1], 1.5, .setRateCalled, atOnce: false)]
        )
        #expect(lineup.takeLeavers() == [items[0]])
        #expect(lineup.state.rate == 1.5)
    }

    @Test func duplicateEndEventsAdvanceTheQueueOnce() {
        var lineup = queue()
        lineup.eventCame(of: items[0], .playedToEnd)
        lineup.eventCame(of: items[0], .playedToEnd)
        #expect(lineup.state.items == [items[1], items[2]])
    }

    @Test func snapshotsFromBeforeARateChangeAreIgnored() {
        var lineup = queue(.pause)
        lineup.snapshotCame(of: items[0], snapshot())
        lineup.setRate(1)
        lineup.setRate(2)
        lineup.snapshotCame(of: items[0], snapshot())
        #expect(lineup.state.rate == 2)
        lineup.rateWasSet(of: items[0])
        lineup.snapshotCame(of: items[0], snapshot { $0.desiredRate = 1 })
        #expect(lineup.state.rate == 2)
        lineup.rateWasSet(of: items[0])
        lineup.snapshotCame(of: items[0], snapshot { $0.desiredRate = 1 })
        #expect(lineup.state.rate == 1)
    }

    @Test func endOfTheLastItemEmptiesTheQueue() {
        var lineup = Lineup(actionAtItemEnd: .advance)
        lineup.setItems([items[0]])
        lineup.setRate(1)
        _ = (lineup.takeActions(), lineup.takeEvents())
        lineup.eventCame(of: items[0], .playedToEnd)
        #expect(lineup.state.currentItem == nil)
        #expect(lineup.state.rate == 0)
        #expect(lineup.takeActions() == [.dismiss(items[0])])
        #expect(lineup.state.timeControlStatus == .paused)
    }

    @Test func rateIsUnchangedAtTheEndWithoutAnAction() {
        var lineup = queue(.none)
        lineup.setRate(1)
        lineup.eventCame(of: items[0], .playedToEnd)
        #expect(lineup.state.rate == 1)
        #expect(lineup.state.currentItem == items[0])
        #expect(!lineup.engineOptions.pausesAtEnd)
    }

    @Test func failedItemsAreRemovedExceptTheLast() {
        var lineup = queue()
        lineup.setRate(1)
        let failed = snapshot {
            $0.status = .failed
            $0.error = StreamingError(.damaged, "no")
        }
        for item in items { lineup.snapshotCame(of: item, failed) }
        #expect(lineup.state.items == [items[2]])
        #expect(lineup.state.rate == 0)
        #expect(lineup.state.status == .unknown)
    }

    @Test func lostPipelineDismissesAllItemsPermanently() {
        var lineup = queue()
        lineup.snapshotCame(of: items[0], loaded)
        _ = lineup.takeActions()
        lineup.snapshotCame(
            of: items[0],
            snapshot {
                $0.status = .failed
                $0.error = StreamingError(.pipelineLost, "gone")
            }
        )
        #expect(lineup.takeActions() == [.dismiss(items[0]), .dismiss(items[1])])
        lineup.setItems([items[2]])
        lineup.setRate(1)
        #expect(lineup.takeActions() == [])
        #expect(lineup.state.status == .failed)
        #expect(lineup.state.rate == 0)
    }

    @Test func messagesFromTheEngineOfAnotherItemAreIgnored() {
        var lineup = queue()
        let before = lineup.state
        lineup.snapshotCame(of: items[2], loaded)
        lineup.eventCame(of: items[2], .playedToEnd)
        lineup.rateWasSet(of: items[2])
        #expect(lineup.state.items == before.items)
        #expect(lineup.state.playback.status == .unknown)
        #expect(lineup.takeActions() == [])
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
