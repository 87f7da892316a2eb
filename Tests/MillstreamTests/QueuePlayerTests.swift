import MediaTiming
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

@Suite struct QueuePlayerTests {
    private func currentItems(_ events: [PlayerEvent]) -> [PlayerItem?] {
        events.compactMap { if case .currentItemDidChange(let item) = $0 { .some(item) } else { nil } }
    }

    @Test func itemsArePlayedInOrderWithoutGaps() async throws {
        try await simulated { world in
            let items = ["a", "b", "c"].map { world.item($0) }
            let player = try QueuePlayer(items: items)
            let started = Collected<String>()
            let events = try await listening(to: player.events) { _ in
                player.play()
                _ = try await listening(to: player.values(of: \.currentItem)) { _ in
                    while player.currentItem != nil {
                        try await world.sleep(.milliseconds(500))
                        started.add("\(world.now) \(player.timeControlStatus)")
                    }
                }
            }
            #expect(currentItems(events) == [items[1], items[2], nil])
            // One second until the first item is ready, then 30 s of media without gaps.
            #expect(world.now == .seconds(31))
            #expect(started.all.dropFirst(2).dropLast().allSatisfy { $0.hasSuffix("playing") })
            #expect(player.rate == 0)
            #expect(player.items().isEmpty)
        }
    }

    @Test func nextItemIsLoadedAfterTheCurrentOne() async throws {
        try await simulated { world in
            let player = try QueuePlayer(items: ["a", "b", "c"].map { world.item($0) })
            player.play()
            try await world.sleep(.milliseconds(2_900))
            #expect(world.engineCount == 1)
            try await world.sleep(.milliseconds(200))
            #expect(world.engineCount == 2)
            try await world.sleep(.seconds(3))
            // The next item is paused, and the one after it is not loaded.
            #expect(world.engine(1)?.log == [])
            #expect(player.items()[1].status == .readyToPlay)
            #expect(player.items()[1].currentTime() == .zero)
            #expect(world.engineCount == 2)
        }
    }

    @Test func endIsReportedBeforeTheNextItemIsCurrent() async throws {
        try await simulated { world in
            let items = ["a", "b"].map { world.item($0) }
            let player = try QueuePlayer(items: items)
            let events = try await listening(to: player.events) { _ in
                player.play()
                try await world.sleep(.seconds(12))
            }
            let end = try #require(events.firstIndex(of: .item(items[0], .notification(.didPlayToEnd))))
            let change = try #require(events.firstIndex(of: .currentItemDidChange(items[1])))
            #expect(end < change)
            let rates = events.compactMap { if case .rateDidChange(let change) = $0 { change.rate } else { nil } }
            #expect(rates == [1])
        }
    }

    @Test func advancingSkipsToTheNextItem() async throws {
        try await simulated { world in
            let items = ["a", "b"].map { world.item($0) }
            let player = try QueuePlayer(items: items)
            player.play()
            try await world.sleep(.seconds(2))
            player.advanceToNextItem()
            #expect(player.currentItem == items[1])
            try await world.sleep(.seconds(2))
            #expect(player.currentTime() == MediaTime(seconds: 1))
            #expect(world.liveEngines == 1)
            player.advanceToNextItem()
            #expect(player.currentItem == nil)
            player.advanceToNextItem()
            try await world.sleep(.seconds(1))
            #expect(world.liveEngines == 0)
        }
    }

    @Test func itemsAreInsertedAfterOthersOrAtTheEnd() async throws {
        try await simulated { world in
            let items = ["a", "b", "c", "d"].map { world.item($0) }
            let player = try QueuePlayer(items: [items[0]])
            try player.insert(items[1], after: nil)
            try player.insert(items[2], after: items[0])
            #expect(player.items() == [items[0], items[2], items[1]])
            #expect(!player.canInsert(items[0], after: nil))
            #expect(!player.canInsert(items[3], after: world.item("e")))
            #expect(player.canInsert(items[3], after: items[1]))
            let twice = #expect(throws: PlayerError.self) { try player.insert(items[1], after: nil) }
            #expect(twice?.code == .itemInUse)
            let nowhere = #expect(throws: PlayerError.self) { try player.insert(items[3], after: world.item("e")) }
            #expect(nowhere?.code == .itemNotQueued)
            #expect(player.canInsert(items[3], after: nil))
        }
    }

    @Test func itemOfAnotherPlayerCannotBeQueued() async throws {
        try await simulated { world in
            let (mine, other) = (world.item("a"), world.item("b"))
            let player = try Player(playerItem: other)
            #expect(throws: PlayerError.self) { try QueuePlayer(items: [mine, other]) }
            // The item that was claimed before the error is released.
            let queue = try QueuePlayer(items: [mine])
            #expect(!queue.canInsert(other, after: nil))
            try player.replaceCurrentItem(with: nil)
            #expect(queue.canInsert(other, after: nil))
            #expect(throws: PlayerError.self) { try QueuePlayer(items: [other, other]) }
            #expect(queue.canInsert(other, after: nil))
        }
    }

    @Test func removedItemIsReleasedAndItsEngineEnds() async throws {
        try await simulated { world in
            let items = ["a", "b", "c"].map { world.item($0) }
            let player = try QueuePlayer(items: items)
            player.play()
            try await world.sleep(.seconds(4))
            #expect(world.liveEngines == 2)
            player.remove(items[1])
            try await world.sleep(.milliseconds(10))
            #expect(player.canInsert(items[1], after: nil))
            // The item after it is loaded instead.
            #expect(world.engineCount == 3)
            #expect(world.liveEngines == 2)
            player.remove(world.item("stranger"))
            #expect(player.items() == [items[0], items[2]])
            player.removeAllItems()
            try await world.sleep(.seconds(1))
            #expect(world.liveEngines == 0)
            #expect(player.currentItem == nil)
        }
    }

    @Test func playedItemsCanBeQueuedAgain() async throws {
        try await simulated { world in
            let items = ["a", "b"].map { world.item($0) }
            let player = try QueuePlayer(items: items)
            player.play()
            try await world.sleep(.seconds(12))
            #expect(player.currentItem == items[1])
            try player.insert(items[0], after: nil)
            try await world.sleep(.seconds(12))
            #expect(player.currentItem == items[0])
            #expect(player.currentTime() > .zero)
        }
    }

    @Test func failedItemIsSkipped() async throws {
        try await simulated { world in
            let bad = world.item("bad", Script(failure: StreamingError(.damaged, "no")))
            let player = try QueuePlayer(items: [bad, world.item("good")])
            player.play()
            try await world.sleep(.seconds(3))
            #expect(player.currentItem?.asset.address.text == "good")
            #expect(player.timeControlStatus == .playing)
            #expect(bad.status == .failed)
        }
    }

    @Test func failedPreparedItemIsSkippedAtTheEndOfTheCurrentOne() async throws {
        try await simulated { world in
            let bad = world.item("bad", Script(failure: StreamingError(.damaged, "no")))
            let player = try QueuePlayer(items: [world.item("a"), bad, world.item("good")])
            player.play()
            try await world.sleep(.seconds(14))
            #expect(player.currentItem?.asset.address.text == "good")
            #expect(player.timeControlStatus == .playing)
        }
    }

    @Test func pausingQueueStopsAtTheEndOfEachItem() async throws {
        try await simulated { world in
            let items = ["a", "b"].map { world.item($0) }
            let player = try QueuePlayer(items: items)
            player.actionAtItemEnd = .pause
            player.play()
            try await world.sleep(.seconds(14))
            #expect(player.currentItem == items[0])
            #expect(player.rate == 0)
            #expect(world.engineCount == 1)
        }
    }

    @Test func queuePlayerIsUsableAsAPlayer() async throws {
        try await simulated { world in
            let player: Player = try QueuePlayer(items: [world.item("a")])
            player.play()
            try await world.sleep(.seconds(2))
            #expect(player.timeControlStatus == .playing)
            #expect(player.actionAtItemEnd == .advance)
        }
    }
}
