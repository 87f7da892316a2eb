import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

@Suite struct PlayerTests {
    @Test func newPlayerWaitsForAnItem() async throws {
        try await simulated { world in
            let player = Player(environment: world.environment)
            #expect(player.currentItem == nil)
            #expect(player.timeControlStatus == .paused)
            player.play()
            #expect(player.rate == 1)
            #expect(player.reasonForWaitingToPlay == .noItemToPlay)
            #expect(player.status == .unknown)
        }
    }

    @Test func playAndPauseSetTheRateImmediatelyAndReachTheEngineInOrder() async throws {
        try await simulated { world in
            let player = Player(ResourceAddress("a"), environment: world.environment)
            player.play()
            #expect(player.rate == 1)
            #expect(player.timeControlStatus == .waiting(.evaluatingBufferingRate))
            try await world.sleep(.seconds(2))
            #expect(player.timeControlStatus == .playing)
            player.pause()
            #expect(player.rate == 0)
            #expect(player.timeControlStatus == .paused)
            player.rate = 2
            player.rate = 0
            player.defaultRate = 0.5
            player.play()
            try await world.sleep(.seconds(1))
            #expect(player.rate == 0.5)
            let log = world.engine(0)?.log
            #expect(log == ["0: rate 1.0", "2: rate 0.0", "2: rate 2.0", "2: rate 0.0", "2: rate 0.5"])
        }
    }

    @Test(arguments: [0.5, 1, 2])
    func mediaTimeAdvancesAtTheRate(rate: Double) async throws {
        try await simulated { world in
            let item = world.item("a", Script(duration: MediaTime(seconds: 100)))
            let player = try Player(playerItem: item)
            player.rate = rate
            try await world.sleep(.seconds(21))
            #expect(player.currentTime().seconds == 20 * rate)
        }
    }

    @Test func playHasNoEffectAtTheEndUntilASeek() async throws {
        try await simulated { world in
            let item = world.item("a")
            let player = try Player(playerItem: item)
            let ends = try await listening(to: item.notifications) { _ in
                player.play()
                try await world.sleep(.seconds(20))
                #expect(player.rate == 0)
                #expect(player.currentItem == item)
                #expect(player.currentTime() == MediaTime(seconds: 10))
                player.play()
                try await world.sleep(.seconds(1))
                #expect(player.rate == 0)
                #expect(player.currentTime() == MediaTime(seconds: 10))
            }
            #expect(ends.filter { $0 == .didPlayToEnd }.count == 1)
            let landed = await player.seek(to: .zero)
            #expect(landed == SeekResult(isFinished: true, position: .zero))
            player.play()
            #expect(player.rate == 1)
            try await world.sleep(.seconds(3))
            #expect(player.rate == 1)
            #expect(player.currentTime() == MediaTime(seconds: 3))
        }
    }

    @Test func playDuringASeekToTheStartReplays() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            player.play()
            try await world.sleep(.seconds(20))
            let rates = try await listening(to: player.values(of: \.rate)) { _ in
                async let seek = player.seek(to: .zero)
                try await world.sleep(.milliseconds(1))
                player.play()
                let completion = await seek
                #expect(completion.isFinished)
                try await world.sleep(.seconds(2))
            }
            #expect(rates == [0, 1])
            #expect(player.currentTime().seconds > 1)
        }
    }

    @Test func statusBecomesReadyWithTheFirstItem() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let statuses = try await listening(to: player.values(of: \.status)) { _ in
                try await world.sleep(.seconds(3))
            }
            #expect(statuses == [.unknown, .readyToPlay])
        }
    }

    @Test func failedItemStopsThePlayerButLeavesItUsable() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("bad", Script(failure: StreamingError(.damaged, "no"))))
            player.play()
            try await world.sleep(.seconds(2))
            #expect(player.rate == 0)
            #expect(player.status == .unknown)
            #expect(player.currentItem?.status == .failed)
            #expect(player.currentItem?.error?.code == .damaged)
            player.play()
            #expect(player.rate == 0)
            try player.replaceCurrentItem(with: world.item("good"))
            player.play()
            try await world.sleep(.seconds(2))
            #expect(player.status == .readyToPlay)
            #expect(player.timeControlStatus == .playing)
        }
    }

    @Test func lostPipelineFailsThePlayer() async throws {
        try await simulated { world in
            let script = Script(failure: StreamingError(.pipelineLost, "the sound device is gone"))
            let player = try Player(playerItem: world.item("a", script))
            player.play()
            try await world.sleep(.seconds(2))
            #expect(player.status == .failed)
            #expect(player.error?.code == .mediaServicesLost)
            #expect(player.error?.message.contains("sound device") == true)
            #expect(player.rate == 0)
            player.play()
            #expect(player.rate == 0)
            #expect(world.liveEngines == 0)
        }
    }

    @Test func playerFailsWithoutAPipeline() async throws {
        let world = World(pipelineError: StreamingError(.pipelineLost, "no sound device"))
        try await simulated(world) { world in
            let player = try Player(playerItem: world.item("a"))
            player.play()
            try await world.sleep(.seconds(1))
            #expect(player.status == .failed)
            #expect(player.currentItem?.status == .failed)
            #expect(world.engineCount == 0)
            let entry = try #require(player.currentItem?.errorLog.events.first)
            #expect(entry.errorStatusCode == -11_819 && entry.errorDomain == "Millstream")
            #expect(player.currentItem?.playbackSummary?.errorEvent?.comment.contains("no sound device") == true)
        }
    }

    @Test func rateBecomesZeroWhenTheApplicationIsSuspended() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            player.play()
            try await world.sleep(.seconds(2))
            let events = try await listening(to: player.events) { _ in
                player.applicationWillSuspend()
                #expect(player.rate == 0)
                try await world.sleep(.seconds(1))
            }
            let changes = events.compactMap { if case .rateDidChange(let change) = $0 { change } else { nil } }
            #expect(changes.map(\.reason) == [.appBackgrounded])
            #expect(world.engine(0)?.log.last == "2: rate 0.0 appBackgrounded")
        }
    }

    @Test(arguments: [-1, -0.5, -2, .nan, .infinity, 33, 1e300])
    func unsupportedRateIsRejected(rate: Double) async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            player.play()
            try await world.sleep(.seconds(2))
            let events = try await listening(to: player.events) { _ in
                #expect(!player.setRate(rate))
                #expect(player.rate == 1)
                try await world.sleep(.milliseconds(10))
            }
            #expect(
                events == [.rateDidChange(RateChange(rate: 1, previousRate: 1, reason: .setRateFailed))]
            )
        }
    }

    @Test func replacingTheItemKeepsTheRateAndEndsThePreviousEngine() async throws {
        try await simulated { world in
            let (first, second) = (world.item("a"), world.item("b"))
            let player = try Player(playerItem: first)
            player.play()
            try await world.sleep(.seconds(3))
            let current = try await listening(to: player.values(of: \.currentItem)) { _ in
                try await world.sleep(.zero)
                try player.replaceCurrentItem(with: second)
                #expect(player.currentItem == second)
                #expect(player.rate == 1)
                try await world.sleep(.seconds(2))
            }
            #expect(current == [first, second])
            #expect(second.currentTime() == MediaTime(seconds: 1))
            #expect(world.liveEngines == 1)
            #expect(first.timebase.rate == 0)
            #expect(first.currentTime() == MediaTime(seconds: 2))
            // The item can be played again, from its last position.
            try player.replaceCurrentItem(with: first)
            try await world.sleep(.seconds(2))
            #expect(world.engine(2)?.request.options.startTime == MediaTime(seconds: 2))
            #expect(first.currentTime() == MediaTime(seconds: 3))
        }
    }

    @Test func removingTheItemEndsItsEngine() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            player.play()
            try await world.sleep(.seconds(3))
            #expect(world.liveEngines == 1)
            try player.replaceCurrentItem(with: nil)
            try await world.sleep(.seconds(1))
            #expect(world.liveEngines == 0)
            #expect(player.reasonForWaitingToPlay == .noItemToPlay)
            #expect(player.currentTime() == .zero)
        }
    }

    @Test func engineEndsWithThePlayer() async throws {
        try await simulated { world in
            let item = world.item("a")
            var player: Player? = try Player(playerItem: item)
            weak let gone = player
            player?.play()
            try await world.sleep(.seconds(3))
            #expect(world.liveEngines == 1)
            let states = player?.states
            player = nil
            #expect(gone == nil)
            try await world.sleep(.seconds(1))
            #expect(world.liveEngines == 0)
            // The sequence of states ends, and the item can be used by another player.
            var iterator = try #require(states).makeAsyncIterator()
            while await iterator.next() != nil {}
            #expect(throws: Never.self) { try Player(playerItem: item) }
        }
    }

    @Test func enginesOfQuicklyReplacedItemsEnd() async throws {
        try await simulated { world in
            let player = Player(environment: world.environment)
            for number in 0..<20 {
                try player.replaceCurrentItem(with: world.item("\(number)"))
                player.play()
            }
            try await world.sleep(.seconds(2))
            #expect(world.liveEngines == 1)
            #expect(player.timeControlStatus == .playing)
        }
    }

    @Test func twoPlayersPlayOneAssetWithDifferentOptions() async throws {
        try await simulated { world in
            let asset = Asset(ResourceAddress("film"), environment: world.environment)
            _ = world.item("film", Script(presentation: .film))
            let (one, other) = (PlayerItem(asset: asset), PlayerItem(asset: asset))
            let players = [try Player(playerItem: one), try Player(playerItem: other)]
            let group = try #require(try await asset.loadMediaSelectionGroup(for: .audible))
            one.select(group.options[1], in: group)
            for player in players { player.play() }
            try await world.sleep(.seconds(3))
            #expect(one.currentMediaSelection[.audio]?.name == "Deutsch")
            #expect(other.currentMediaSelection[.audio] == nil)
            #expect(players.allSatisfy { $0.timeControlStatus == .playing })
            #expect(world.engine(0)?.log.contains("1: select Deutsch AUDIO") == true)
            #expect(world.engine(1)?.log.contains { $0.contains("select") } == false)
            #expect(world.inspections == 1)
        }
    }

    @Test func itemIsInAtMostOnePlayer() async throws {
        try await simulated { world in
            let item = world.item("a")
            let player = try Player(playerItem: item)
            let other = Player(environment: world.environment)
            let error = #expect(throws: PlayerError.self) { try other.replaceCurrentItem(with: item) }
            #expect(error?.code == .itemInUse)
            #expect(throws: PlayerError.self) { try Player(playerItem: item) }
            #expect(throws: Never.self) { try player.replaceCurrentItem(with: item) }
            try player.replaceCurrentItem(with: nil)
            #expect(throws: Never.self) { try other.replaceCurrentItem(with: item) }
            try await world.sleep(.seconds(2))
            #expect(other.status == .readyToPlay)
            #expect(world.liveEngines == 1)
        }
    }

    @Test func playImmediatelyDoesNotWait() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            player.play()
            player.playImmediately(atRate: 1)
            try await world.sleep(.seconds(1))
            #expect(world.engine(0)?.log == ["0: rate 1.0", "0: rate 1.0 at once"])
        }
    }

    @Test func playerOptionsReachItsEngines() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            player.actionAtItemEnd = .none
            player.automaticallyWaitsToMinimizeStalling = false
            try await world.sleep(.seconds(1))
            let first = try #require(world.engine(0)?.options)
            #expect(!first.pausesAtEnd && !first.waitsToMinimizeStalls)
            try player.replaceCurrentItem(with: world.item("b"))
            try await world.sleep(.seconds(1))
            let options = try #require(world.engine(1)?.request.options)
            #expect(!options.pausesAtEnd)
            #expect(!options.waitsToMinimizeStalls)
        }
    }

    @Test func playerAdoptsARateChangeOfTheEngine() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("live", Script(duration: nil)))
            player.rate = 2
            try await world.sleep(.seconds(5))
            let engine = try #require(world.engine(0))
            let events = try await listening(to: player.events) { _ in
                let change = RateChange(rate: 1, previousRate: 2, reason: .playheadReachedLiveEdge)
                await engine.emit(.rateChanged(change))
                await engine.updateSnapshot { $0.desiredRate = 1 }
                try await world.sleep(.milliseconds(1))
            }
            #expect(player.rate == 1)
            let reasons = events.compactMap { if case .rateDidChange(let change) = $0 { change.reason } else { nil } }
            #expect(reasons == [.playheadReachedLiveEdge])
        }
    }
}
