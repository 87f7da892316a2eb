import MediaTiming
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

@Suite struct TimeObserverTests {
    private let second = MediaTime(seconds: 1)

    @Test func periodicObserverIsCalledAtStartIntervalsAndStop() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let reported = Collected<String>()
            let observer = player.addPeriodicTimeObserver(
                forInterval: second,
                performing: { time in
                    reported.add("\(time) at \(world.now)")
                }
            )
            player.play()
            try await world.sleep(.milliseconds(4_500))
            player.pause()
            try await world.sleep(.seconds(3))
            #expect(
                reported.all == [
                    "0 at 1.0 seconds", "1 at 2.0 seconds", "2 at 3.0 seconds", "3 at 4.0 seconds",
                    "3.5 at 4.5 seconds",
                ]
            )
            player.removeTimeObserver(observer)
        }
    }

    @Test func doubledRateCallsTheObserverTwiceAsOften() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let times = try await listening(to: player.periodicTimes(every: second)) { _ in
                player.rate = 2
                try await world.sleep(.milliseconds(4_200))
            }
            #expect(times.map(\.seconds) == [0, 1, 2, 3, 4, 5, 6])
        }
    }

    @Test func jumpCallsThePeriodicObserver() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            try await world.sleep(.seconds(2))
            let times = try await listening(to: player.periodicTimes(every: second)) { _ in
                try await world.sleep(.zero)
                await player.seek(to: MediaTime(seconds: 7))
                try await world.sleep(.seconds(1))
            }
            #expect(times == [MediaTime(seconds: 7)])
        }
    }

    @Test func boundaryObserverIsCalledDuringPlaybackButNotForSeeks() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let thirds = [MediaTime(value: 10, timescale: 3), MediaTime(value: 20, timescale: 3)]
            let reported = Collected<MediaTime>()
            let observer = player.addBoundaryTimeObserver(forTimes: thirds, performing: { reported.add($0) })
            player.play()
            try await world.sleep(.seconds(6))
            #expect(reported.all == [thirds[0]])
            await player.seek(to: MediaTime(seconds: 8))
            await player.seek(to: MediaTime(seconds: 1))
            try await world.sleep(.seconds(20))
            #expect(reported.all == [thirds[0], thirds[0], thirds[1]])
            player.removeTimeObserver(observer)
        }
    }

    @Test func timesDueDuringARunningBlockAreDropped() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let reported = Collected<MediaTime>()
            let observer = player.addPeriodicTimeObserver(
                forInterval: second,
                performing: { time in
                    reported.add(time)
                    if time == MediaTime(seconds: 2) { try? await world.sleep(.milliseconds(3_500)) }
                }
            )
            player.play()
            try await world.sleep(.milliseconds(9_900))
            #expect(reported.all.map(\.seconds) == [0, 1, 2, 6, 7, 8])
            player.removeTimeObserver(observer)
        }
    }

    @Test func noBlockRunsAfterRemoval() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let reported = Collected<MediaTime>()
            let observer = player.addPeriodicTimeObserver(forInterval: second, performing: { reported.add($0) })
            player.play()
            try await world.sleep(.seconds(3))
            let count = reported.all.count
            player.removeTimeObserver(observer)
            try await world.sleep(.seconds(5))
            #expect(reported.all.count == count)
        }
    }

    @Test func runningBlockCanRemoveItsObserver() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let (reported, observers) = (Collected<MediaTime>(), Collected<TimeObserver>())
            observers.add(
                player.addPeriodicTimeObserver(
                    forInterval: second,
                    performing: { time in
                        reported.add(time)
                        for observer in observers.all { player.removeTimeObserver(observer) }
                    }
                )
            )
            player.play()
            try await world.sleep(.seconds(5))
            #expect(reported.all.count == 1)
        }
    }

    @Test func blockThatRunsDuringRemovalCompletesAndNoOtherStarts() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let reported = Collected<String>()
            let observer = player.addPeriodicTimeObserver(
                forInterval: second,
                performing: { _ in
                    reported.add("begin")
                    // A nested task, which is not canceled with the task of the block.
                    await Task(executorPreference: world.simulation) { try? await world.sleep(.seconds(2)) }.value
                    reported.add("end")
                }
            )
            player.play()
            try await world.sleep(.milliseconds(1_500))
            player.removeTimeObserver(observer)
            try await world.sleep(.seconds(6))
            #expect(reported.all == ["begin", "end"])
        }
    }

    @Test func noBlockRunsWithoutItsToken() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let reported = Collected<MediaTime>()
            _ = player.addPeriodicTimeObserver(forInterval: second, performing: { reported.add($0) })
            player.play()
            try await world.sleep(.seconds(3))
            #expect(reported.all.isEmpty)
        }
    }

    @Test func observersDoNotRetainThePlayer() async throws {
        try await simulated { world in
            var player: Player? = try Player(playerItem: world.item("a"))
            weak let gone = player
            let observer = player?.addPeriodicTimeObserver(forInterval: second, performing: { _ in })
            player?.play()
            try await world.sleep(.seconds(3))
            player = nil
            #expect(gone == nil)
            try await world.sleep(.seconds(1))
            #expect(world.liveEngines == 0)
            withExtendedLifetime(observer) {}
        }
    }

    @Test func changeOfItemIsAJump() async throws {
        try await simulated { world in
            let player = try QueuePlayer(items: [world.item("a"), world.item("b")])
            let times = try await listening(to: player.periodicTimes(every: MediaTime(seconds: 5))) { _ in
                player.play()
                try await world.sleep(.milliseconds(17_500))
            }
            // The end of the first item is the start of the second; the jump may be reported separately from the start
            // or together with it.
            let reported = times.map(\.seconds).filter { $0 != 10 }
            let different = reported.prefix(1) + zip(reported.dropFirst(), reported).filter { $0 != $1 }.map(\.0)
            #expect(different == [0, 5, 0, 5])
        }
    }

    @Test @MainActor func mainActorBlocksRunThereAndNotAfterRemoval() async throws {
        let world = World()
        let player = try Player(playerItem: world.item("a"))
        var reported = 0
        let observer = player.addPeriodicTimeObserver(
            forInterval: second,
            using: { _ in
                MainActor.assertIsolated()
                reported += 1
            }
        )
        try await world.simulation.run {
            player.play()
            try await world.sleep(.seconds(4))
            while await MainActor.run(body: { reported == 0 }) { await Task.yield() }
        }
        player.removeTimeObserver(observer)
        let count = reported
        #expect(count > 0)
        try await world.simulation.run { try await world.sleep(.seconds(4)) }
        #expect(reported == count)
    }

    @Test func removingAnObserverTwiceIsAPreconditionFailure() async {
        await #expect(processExitsWith: .failure) {
            let player = Player(environment: World().environment)
            let observer = player.addPeriodicTimeObserver(forInterval: MediaTime(seconds: 1), performing: { _ in })
            player.removeTimeObserver(observer)
            player.removeTimeObserver(observer)
        }
    }

    @Test func removingAnObserverOfAnotherPlayerIsAPreconditionFailure() async {
        await #expect(processExitsWith: .failure) {
            let environment = World().environment
            let (player, other) = (Player(environment: environment), Player(environment: environment))
            let observer = player.addPeriodicTimeObserver(forInterval: MediaTime(seconds: 1), performing: { _ in })
            other.removeTimeObserver(observer)
        }
    }
}
