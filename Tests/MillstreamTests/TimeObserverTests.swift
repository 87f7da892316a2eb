import MediaTiming
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

@Suite struct TimeObserverTests {
    private let second = MediaTime(seconds: 1)

    @Test func aPeriodicObserverHearsStartIntervalsAndStop() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let heard = Collected<String>()
            let observer = player.addPeriodicTimeObserver(
                forInterval: second,
                performing: { time in
                    heard.add("\(time) at \(world.now)")
                }
            )
            player.play()
            try await world.pass(.milliseconds(4_500))
            player.pause()
            try await world.pass(.seconds(3))
            #expect(
                heard.all == [
                    "0 at 1.0 seconds", "1 at 2.0 seconds", "2 at 3.0 seconds", "3 at 4.0 seconds",
                    "3.5 at 4.5 seconds",
                ]
            )
            player.removeTimeObserver(observer)
        }
    }

    @Test func atTwiceTheSpeedTwiceAsManyComeInTheSameTime() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let times = try await listening(to: player.periodicTimes(every: second)) { _ in
                player.rate = 2
                try await world.pass(.milliseconds(4_200))
            }
            #expect(times.map(\.seconds) == [0, 1, 2, 3, 4, 5, 6])
        }
    }

    @Test func aJumpIsHeard() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            try await world.pass(.seconds(2))
            let times = try await listening(to: player.periodicTimes(every: second)) { _ in
                try await world.pass(.zero)
                await player.seek(to: MediaTime(seconds: 7))
                try await world.pass(.seconds(1))
            }
            #expect(times == [MediaTime(seconds: 7)])
        }
    }

    @Test func boundariesAreHeardInPlayAndNotInSeeks() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let thirds = [MediaTime(value: 10, timescale: 3), MediaTime(value: 20, timescale: 3)]
            let heard = Collected<MediaTime>()
            let observer = player.addBoundaryTimeObserver(forTimes: thirds, performing: { heard.add($0) })
            player.play()
            try await world.pass(.seconds(6))
            #expect(heard.all == [thirds[0]])
            await player.seek(to: MediaTime(seconds: 8))
            await player.seek(to: MediaTime(seconds: 1))
            try await world.pass(.seconds(20))
            #expect(heard.all == [thirds[0], thirds[0], thirds[1]])
            player.removeTimeObserver(observer)
        }
    }

    @Test func aBlockThatStillRunsMakesTheNextOnesDropOut() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let heard = Collected<MediaTime>()
            let observer = player.addPeriodicTimeObserver(
                forInterval: second,
                performing: { time in
                    heard.add(time)
                    if time == MediaTime(seconds: 2) { try? await world.pass(.milliseconds(3_500)) }
                }
            )
            player.play()
            try await world.pass(.milliseconds(9_900))
            #expect(heard.all.map(\.seconds) == [0, 1, 2, 6, 7, 8])
            player.removeTimeObserver(observer)
        }
    }

    @Test func afterRemovalNoBlockRuns() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let heard = Collected<MediaTime>()
            let observer = player.addPeriodicTimeObserver(forInterval: second, performing: { heard.add($0) })
            player.play()
            try await world.pass(.seconds(3))
            let count = heard.all.count
            player.removeTimeObserver(observer)
            try await world.pass(.seconds(5))
            #expect(heard.all.count == count)
        }
    }

    @Test func aBlockThatRunsMayRemoveItself() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let (heard, observers) = (Collected<MediaTime>(), Collected<TimeObserver>())
            observers.add(
                player.addPeriodicTimeObserver(
                    forInterval: second,
                    performing: { time in
                        heard.add(time)
                        for observer in observers.all { player.removeTimeObserver(observer) }
                    }
                )
            )
            player.play()
            try await world.pass(.seconds(5))
            #expect(heard.all.count == 1)
        }
    }

    @Test func aBlockThatRunsAtItsRemovalComesToItsEndAndNoOtherBegins() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let heard = Collected<String>()
            let observer = player.addPeriodicTimeObserver(
                forInterval: second,
                performing: { _ in
                    heard.add("begin")
                    // It does not notice that its task is cancelled.
                    await Task(executorPreference: world.simulation) { try? await world.pass(.seconds(2)) }.value
                    heard.add("end")
                }
            )
            player.play()
            try await world.pass(.milliseconds(1_500))
            player.removeTimeObserver(observer)
            try await world.pass(.seconds(6))
            #expect(heard.all == ["begin", "end"])
        }
    }

    @Test func withoutItsTokenNoBlockRuns() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let heard = Collected<MediaTime>()
            _ = player.addPeriodicTimeObserver(forInterval: second, performing: { heard.add($0) })
            player.play()
            try await world.pass(.seconds(3))
            #expect(heard.all.isEmpty)
        }
    }

    @Test func observersDoNotKeepThePlayer() async throws {
        try await simulated { world in
            var player: Player? = try Player(playerItem: world.item("a"))
            weak let gone = player
            let observer = player?.addPeriodicTimeObserver(forInterval: second, performing: { _ in })
            player?.play()
            try await world.pass(.seconds(3))
            player = nil
            #expect(gone == nil)
            try await world.pass(.seconds(1))
            #expect(world.liveEngines == 0)
            withExtendedLifetime(observer) {}
        }
    }

    @Test func anotherItemIsAJump() async throws {
        try await simulated { world in
            let player = try QueuePlayer(items: [world.item("a"), world.item("b")])
            let times = try await listening(to: player.periodicTimes(every: MediaTime(seconds: 5))) { _ in
                player.play()
                try await world.pass(.milliseconds(17_500))
            }
            // The end of the one is the start of the other; whether the jump is told before the start, or they are one, is
            // nobody's business.
            let heard = times.map(\.seconds).filter { $0 != 10 }
            let different = heard.prefix(1) + zip(heard.dropFirst(), heard).filter { $0 != $1 }.map(\.0)
            #expect(different == [0, 5, 0, 5])
        }
    }

    @Test @MainActor func onTheMainActorBlocksRunThereAndNotAfterRemoval() async throws {
        let world = World()
        let player = try Player(playerItem: world.item("a"))
        var heard = 0
        let observer = player.addPeriodicTimeObserver(
            forInterval: second,
            using: { _ in
                MainActor.assertIsolated()
                heard += 1
            }
        )
        try await world.simulation.run {
            player.play()
            try await world.pass(.seconds(4))
            while await MainActor.run(body: { heard == 0 }) { await Task.yield() }
        }
        player.removeTimeObserver(observer)
        let count = heard
        #expect(count > 0)
        try await world.simulation.run { try await world.pass(.seconds(4)) }
        #expect(heard == count)
    }

    @Test func removingTwiceIsAProgrammersError() async {
        await #expect(processExitsWith: .failure) {
            let player = Player(environment: World().environment)
            let observer = player.addPeriodicTimeObserver(forInterval: MediaTime(seconds: 1), performing: { _ in })
            player.removeTimeObserver(observer)
            player.removeTimeObserver(observer)
        }
    }

    @Test func removingFromAnotherPlayerIsAProgrammersError() async {
        await #expect(processExitsWith: .failure) {
            let environment = World().environment
            let (player, other) = (Player(environment: environment), Player(environment: environment))
            let observer = player.addPeriodicTimeObserver(forInterval: MediaTime(seconds: 1), performing: { _ in })
            other.removeTimeObserver(observer)
        }
    }
}
