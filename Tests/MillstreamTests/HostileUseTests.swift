import MediaTiming
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Testing

@testable import Millstream

/// Tests concurrent use from many threads, without simulated time.
///
/// The final state must be correct in any order of execution.
@Suite struct HostileUseTests {
    private struct Clock: TimeSource {
        private let clock = SystemTimeSource()
        var now: Duration { clock.now }
        func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration / 100) }
    }

    private func environment(_ world: World) -> Player.Environment {
        var environment = world.environment
        environment.time = Clock()
        return environment
    }

    @Test(.timeLimit(.minutes(10))) func commandsFromManyTasksLeaveOneEngineThatFollowsTheLastCommand() async throws {
        let world = World()
        let environment = environment(world)
        let player = Player(environment: environment)
        let items = (0..<8).map { _ in PlayerItem(asset: Asset(world.item("a").asset.address, environment: environment))
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                group.addTask {
                    switch number % 5 {
                    case 0: try? player.replaceCurrentItem(with: items[number % items.count])
                    case 1: player.play()
                    case 2: player.pause()
                    case 3: _ = await player.seek(to: MediaTime(seconds: Int64(number % 10)))
                    default: items[number % items.count].preferredPeakBitRate = BitRate(bitsPerSecond: Int64(number))
                    }
                }
            }
        }
        let last = PlayerItem(asset: items[0].asset)
        try player.replaceCurrentItem(with: last)
        player.pause()
        player.play()
        while player.timeControlStatus != .playing { await Task.yield() }
        #expect(player.currentItem == last)
        while world.liveEngines != 1 { await Task.yield() }
        // All other items can be used by other players.
        for item in items {
            let other = try Player(playerItem: item)
            try other.replaceCurrentItem(with: nil)
        }
        try player.replaceCurrentItem(with: nil)
        while world.liveEngines != 0 { await Task.yield() }
    }

    @Test(.timeLimit(.minutes(10))) func itemRequestedByManyPlayersIsInExactlyOne() async throws {
        let world = World()
        let environment = environment(world)
        let item = PlayerItem(asset: Asset(world.item("a").asset.address, environment: environment))
        let players = (0..<8).map { _ in Player(environment: environment) }
        for _ in 0..<50 {
            let winners = await withTaskGroup(of: Bool.self) { group in
                for player in players {
                    group.addTask { (try? player.replaceCurrentItem(with: item)) != nil }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(winners == 1)
            let owner = try #require(players.first { $0.currentItem == item })
            try owner.replaceCurrentItem(with: nil)
        }
        while world.liveEngines != 0 { await Task.yield() }
    }

    @Test(.timeLimit(.minutes(10))) func concurrentObserversReceiveTheFinalStatus() async throws {
        let world = World()
        let environment = environment(world)
        let item = PlayerItem(asset: Asset(world.item("a").asset.address, environment: environment))
        let player = Player(environment: environment)
        await withTaskGroup(of: PlayerItem.Status?.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    for await status in item.values(of: \.status) where status == .readyToPlay { return status }
                    return nil
                }
                group.addTask { await item.events.first { _ in true }.map { _ in .readyToPlay } }
            }
            try? player.replaceCurrentItem(with: item)
            player.play()
            for await status in group { #expect(status == .readyToPlay) }
        }
    }

    @Test(.timeLimit(.minutes(10))) func playerReleasedDuringUseLeavesNoEngines() async throws {
        let world = World()
        let environment = environment(world)
        for _ in 0..<40 {
            let player = try QueuePlayer(
                items: (0..<3).map { _ in
                    PlayerItem(asset: Asset(world.item("a").asset.address, environment: environment))
                }
            )
            player.play()
            async let seek = player.seek(to: MediaTime(seconds: 3))
            player.advanceToNextItem()
            _ = await seek
        }
        while world.liveEngines != 0 { await Task.yield() }
        #expect(world.engineCount > 0)
    }
}
