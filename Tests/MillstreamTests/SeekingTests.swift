import MediaTiming
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

@Suite struct SeekingTests {
    @Test func seekReportsItsLandingPosition() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            try await world.sleep(.seconds(2))
            let completion = await player.seek(
                to: MediaTime(seconds: 7),
                toleranceBefore: .zero,
                toleranceAfter: .zero
            )
            #expect(completion == SeekResult(isFinished: true, position: MediaTime(seconds: 7)))
            #expect(player.currentTime() == MediaTime(seconds: 7))
            await player.seek(to: MediaTime(seconds: 3))
            #expect(world.engine(0)?.log == ["2: seek 7 exactly", "2: seek 3"])
        }
    }

    @Test func laterSeekInterruptsAnEarlierOne() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            try await world.sleep(.seconds(2))
            async let first = player.seek(to: MediaTime(seconds: 7))
            try await world.sleep(.milliseconds(10))
            async let second = player.seek(to: MediaTime(seconds: 4))
            let completions = await (first, second)
            #expect(!completions.0.isFinished)
            #expect(completions.1 == SeekResult(isFinished: true, position: MediaTime(seconds: 4)))
        }
    }

    @Test func seeksReachTheEngineInOrder() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            try await world.sleep(.seconds(2))
            await withTaskGroup(of: Void.self) { group in
                for second in 1...9 { group.addTask { await player.seek(to: MediaTime(seconds: Int64(second))) } }
            }
            player.play()
            try await world.sleep(.milliseconds(1))
            let log = world.engine(0)?.log ?? []
            #expect(log == (1...9).map { "2: seek \($0)" } + ["2: rate 1.0"])
            #expect(player.currentTime() > MediaTime(seconds: 9))
        }
    }

    @Test func canceledSeeksAreNotFinished() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a", Script(seekDuration: .seconds(5))))
            try await world.sleep(.seconds(2))
            async let seek = player.seek(to: MediaTime(seconds: 7))
            try await world.sleep(.seconds(1))
            player.cancelPendingSeeks()
            let completion = await seek
            #expect(!completion.isFinished)
        }
    }

    @Test func replacingTheItemEndsItsSeek() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a", Script(seekDuration: .seconds(500))))
            try await world.sleep(.seconds(2))
            async let seek = player.seek(to: MediaTime(seconds: 7))
            try await world.sleep(.seconds(1))
            try player.replaceCurrentItem(with: world.item("b"))
            let completion = await seek
            #expect(!completion.isFinished)
            #expect(world.now == .seconds(3))
            try await world.sleep(.seconds(1))
            #expect(world.liveEngines == 1)
        }
    }

    @Test func replacingTheItemBeforeTheEngineStartsEndsItsSeek() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            async let seek = player.seek(to: MediaTime(seconds: 7))
            try player.replaceCurrentItem(with: nil)
            let completion = await seek
            #expect(!completion.isFinished)
        }
    }

    @Test func deallocatingThePlayerEndsASeek() async throws {
        try await simulated { world in
            let item = world.item("a", Script(seekDuration: .seconds(500)))
            var player: Player? = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            #expect(player?.status == .readyToPlay)
            async let seek = item.seek(to: MediaTime(seconds: 7))
            try await world.sleep(.seconds(1))
            player = nil
            let completion = await seek
            #expect(!completion.isFinished)
            #expect(world.now == .seconds(3))
        }
    }

    @Test func canceledTaskStopsWaitingForItsSeek() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a", Script(seekDuration: .seconds(500))))
            try await world.sleep(.seconds(2))
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    let completion = await player.seek(to: MediaTime(seconds: 7))
                    #expect(!completion.isFinished)
                }
                try? await world.sleep(.seconds(1))
                group.cancelAll()
            }
            #expect(world.now == .seconds(3))
        }
    }

    @Test func seekWithoutAnItemIsNotFinished() async throws {
        try await simulated { world in
            let player = Player(environment: world.environment)
            let completion = await player.seek(to: MediaTime(seconds: 7))
            #expect(completion == SeekResult(isFinished: false, position: .zero))
        }
    }

    @Test func seekBeforePlaybackSetsTheStartPosition() async throws {
        try await simulated { world in
            let item = world.item("a")
            let completion = await item.seek(to: MediaTime(seconds: 4))
            #expect(completion == SeekResult(isFinished: true, position: MediaTime(seconds: 4)))
            #expect(item.currentTime() == MediaTime(seconds: 4))
            let player = try Player(playerItem: item)
            player.play()
            try await world.sleep(.seconds(2))
            #expect(item.currentTime() == MediaTime(seconds: 5))
        }
    }
}
