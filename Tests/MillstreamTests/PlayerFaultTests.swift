import Foundation
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

/// Tests requests, options and the lifecycle of a player that no other suite reaches.
@Suite struct PlayerFaultTests {
    // MARK: Options

    @Test func theVolumeReachesTheEngines() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            #expect(player.volume == 1 && !player.isMuted)
            try await world.sleep(.seconds(1))
            player.volume = 0.25
            player.isMuted = true
            #expect(player.volume == 0.25 && player.isMuted)
            try await world.sleep(.seconds(1))
            let settings = try #require(world.engine(0)?.options.audioSettings)
            #expect(settings.volume == 0.25 && settings.isMuted)
            player.isMuted = false
            player.volume = 0.5
            try player.replaceCurrentItem(with: world.item("b"))
            try await world.sleep(.seconds(1))
            let next = try #require(world.engine(1)?.request.options.audioSettings)
            #expect(next.volume == 0.5 && !next.isMuted)
        }
    }

    @Test func optionsOfThePlayerAreRead() throws {
        let player = Player(environment: World().environment)
        #expect(player.actionAtItemEnd == .pause && player.automaticallyWaitsToMinimizeStalling)
        player.actionAtItemEnd = .none
        player.automaticallyWaitsToMinimizeStalling = false
        player.defaultRate = 1.5
        #expect(player.actionAtItemEnd == .none && !player.automaticallyWaitsToMinimizeStalling)
        #expect(player.defaultRate == 1.5 && player.state.defaultRate == 1.5)
        let queue = try QueuePlayer(items: [], environment: World().environment)
        #expect(queue.actionAtItemEnd == .advance)
    }

    @Test func anInterruptionOfTheAudioSessionPausesThePlayer() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            player.play()
            try await world.sleep(.seconds(2))
            let events = try await listening(to: player.events) { _ in
                player.audioSessionWasInterrupted()
                try await world.sleep(.milliseconds(1))
            }
            let changes = events.compactMap { if case .rateDidChange(let change) = $0 { change } else { nil } }
            #expect(changes.first?.reason == .audioSessionInterrupted && changes.first?.rate == 0 && player.rate == 0)
        }
    }

    // MARK: Requests

    @Test func aScheduledStartNeedsARate() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            #expect(!player.setRate(1, time: nil, atHostTime: .seconds(3)))
            try await world.sleep(.seconds(2))
            #expect(!player.setRate(0, time: nil, atHostTime: .seconds(3)))
            #expect(player.setRate(1, time: nil, atHostTime: .seconds(3)))
            try await world.sleep(.milliseconds(1))
            #expect(world.engine(0)?.log.first == "2: setRate 1.0 from here at 3" && player.hostTime == world.now)
        }
    }

    @Test func prerollingEndsWithAnAnswer() async throws {
        let failing = Script(failure: StreamingError(.damaged, "no"))
        try await simulated { world in
            let player = try Player(playerItem: world.item("a", Script(seekDuration: .seconds(5))))
            #expect(!(await player.preroll(atRate: 0)))
            #expect(world.now == .zero)
            #expect(await player.preroll(atRate: 1))
            #expect(world.now == .seconds(1))
            // A seek ends before.
            async let landing = player.seek(to: MediaTime(seconds: 3))
            try await world.sleep(.seconds(1))
            await world.engine(0)?.updateSnapshot { _ in }
            #expect(await player.preroll(atRate: 1))
            #expect(world.now == .seconds(6))
            let landed = await landing
            #expect(landed.isFinished)
            try player.replaceCurrentItem(with: world.item("bad", failing))
            #expect(!(await player.preroll(atRate: 1)))
            // Another item replaces the item that is prerolled.
            try player.replaceCurrentItem(with: world.item("b"))
            async let isPrerolled = player.preroll(atRate: 1)
            try await world.sleep(.milliseconds(100))
            try player.replaceCurrentItem(with: world.item("c"))
            let isReplacedPrerolled = await isPrerolled
            #expect(!isReplacedPrerolled)
            try player.replaceCurrentItem(with: nil)
            #expect(!(await player.preroll(atRate: 1)))
        }
    }

    /// Returns the time at which the player has been prerolled; `nil` if it has not.
    private static func prerollTime(_ player: Player, _ world: World) async -> Duration? {
        await player.preroll(atRate: 1) ? world.now : nil
    }

    @Test func prerollingWaitsForTheBuffer() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            async let first = Self.prerollTime(player, world)
            try await world.sleep(.milliseconds(500))
            let engine = try #require(world.engine(0))
            // The item is not ready yet.
            await engine.updateSnapshot { $0.isPlaybackLikelyToKeepUp = true }
            let ready = await first
            #expect(ready == .seconds(1))
            await engine.updateSnapshot { $0.isPlaybackLikelyToKeepUp = false }
            async let second = Self.prerollTime(player, world)
            try await world.sleep(.seconds(1))
            await engine.updateSnapshot { $0.isPlaybackBufferFull = true }
            let full = await second
            #expect(full == .seconds(2))
            // The rate is changed meanwhile.
            await engine.updateSnapshot { $0.isPlaybackBufferFull = false }
            async let third = Self.prerollTime(player, world)
            try await world.sleep(.milliseconds(100))
            player.rate = 1
            try await world.sleep(.milliseconds(100))
            await engine.updateSnapshot { $0.isPlaybackLikelyToKeepUp = true }
            let changed = await third
            #expect(changed == nil)
        }
    }

    @Test func playingIsLimitedWhileTheNormalRateIsRequired() async throws {
        try await simulated { world in
            let player = try QueuePlayer(items: ["a", "b"].map { world.item($0) })
            player.change { $0.setRequiresNormalRate(true) }
            for (rate, expected) in [(2, 1), (0.5, 0.5)] as [(Double, Double)] {
                player.defaultRate = rate
                player.play()
                #expect(player.rate == expected)
            }
            player.advanceToNextItem()
            #expect(player.items().count == 2)
        }
    }

    @Test func anItemWithoutInterstitialsNeedsNoController() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            try await world.sleep(.seconds(2))
            #expect(player.status == .readyToPlay)
            #expect(player.interstitials.controller == nil)
        }
    }

    @Test func aPlayerThatEndsIsNotPrerolled() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            player.hub.finish()
            #expect(!(await player.preroll(atRate: 1)))
        }
    }

    @Test func theFirstItemOfAQueueIsReplaced() async throws {
        try await simulated { world in
            let items = ["a", "b", "c"].map { world.item($0) }
            let player = try QueuePlayer(items: items)
            let other = world.item("d")
            try player.replaceCurrentItem(with: other)
            #expect(player.items() == [other, items[1], items[2]])
            #expect(player.canInsert(items[0], after: nil) && !player.canInsert(other, after: nil))
            try player.replaceCurrentItem(with: nil)
            #expect(player.items().isEmpty)
        }
    }

    @Test func aSeekThatIsCompleteIsNotExecuted() async throws {
        try await simulated { world in
            let item = world.item("a")
            let player = try Player(playerItem: item)
            let request = item.beginSeek(to: .time(MediaTime(seconds: 3)), tolerance: .exact)
            request.complete(SeekResult(isFinished: false, position: .zero))
            try await world.sleep(.seconds(2))
            #expect(world.engine(0)?.log == [] && player.currentTime() == .zero)
        }
    }

    // MARK: Sessions

    /// Tests that reports of an earlier engine do not change the item or its player.
    @Test(arguments: [true, false]) func anEndedEngineChangesNothing(isAddedAgain: Bool) async throws {
        try await simulated { world in
            let item = world.item("a")
            let observed = Collected<String>()
            item.addEventObserver { event, _ in observed.add(event.kind.name) }
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            let engine = try #require(world.engine(0))
            try player.replaceCurrentItem(with: nil)
            if isAddedAgain {
                try player.replaceCurrentItem(with: item)
                // The state of the earlier session does not apply to the new one.
                #expect(item.status == .unknown && item.loadedTimeRanges.isEmpty && item.duration == nil)
            }
            try await world.sleep(.seconds(2))
            let count = observed.all.count { $0 == PlaybackEvent.Kind.playedToEnd.name }
            await engine.updateSnapshot { $0.status = .failed }
            await engine.emit(.playedToEnd)
            #expect(item.status == .readyToPlay && !item.hasPlayedToEnd)
            #expect(player.playback.status == (isAddedAgain ? .readyToPlay : .unknown))
            // An event that follows the end of the last session is still reported.
            let reported = observed.all.count { $0 == PlaybackEvent.Kind.playedToEnd.name } - count
            #expect(reported == (isAddedAgain ? 0 : 1))
        }
    }

    @Test func theEndIsKnownBeforeTheStateThatReportsIt() async throws {
        try await simulated { world in
            let item = world.item("a")
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            #expect(!item.hasPlayedToEnd)
            await world.engine(0)?.emit(.playedToEnd)
            #expect(item.hasPlayedToEnd && player.rate == 0)
        }
    }

    @Test func aRemovedItemIsAtRest() async throws {
        try await simulated { world in
            let item = world.item("a", Script(seekDuration: .seconds(5)))
            let player = try Player(playerItem: item)
            player.play()
            try await world.sleep(.seconds(2))
            async let landing = player.seek(to: MediaTime(seconds: 7))
            try await world.sleep(.seconds(1))
            await world.engine(0)?.updateSnapshot { _ in }
            #expect(item.isSeeking && item.state.playback.desiredRate == 1)
            #expect(item.state.playback.timeControl == .playing)
            try player.replaceCurrentItem(with: nil)
            #expect(!item.isSeeking && item.state.playback.desiredRate == 0 && item.timebase.rate == 0)
            #expect(item.state.playback.timeControl == .paused)
            let landed = await landing
            #expect(!landed.isFinished)
        }
    }

    @Test(arguments: ["ready", "ended", "live", "early"])
    func anItemIsContinuedWhereItWasLeft(name: String) async throws {
        try await simulated { world in
            let item = world.item("a", Script(duration: name == "live" ? nil : MediaTime(seconds: 10)))
            let player = try Player(playerItem: item)
            player.play()
            try await world.sleep(name == "ended" ? .seconds(20) : name == "early" ? .milliseconds(500) : .seconds(4))
            try player.replaceCurrentItem(with: nil)
            #expect(item.state.configuration.options.startTime == (name == "ready" ? MediaTime(seconds: 3) : nil))
        }
    }

    @Test func anItemHasTheTimeOfItsPlayer() async throws {
        let other = World()
        try await simulated { world in
            let item = PlayerItem(ResourceAddress("a"), environment: other.environment)
            let player = try Player(playerItem: item, environment: world.environment)
            player.play()
            try await world.sleep(.seconds(4))
            #expect(item.currentTime() == MediaTime(seconds: 3) && other.now == .zero)
        }
    }

    // MARK: Throughput

    @Test(arguments: [true, false]) func onlyANewEstimateIsRecorded(isNew: Bool) async throws {
        let history = ThroughputHistory(network: { "home" })
        let (initial, measured) = (BitRate(bitsPerSecond: 1_000_000), BitRate(bitsPerSecond: 2_000_000))
        history.record(BitRate(bitsPerSecond: 50_000_000), at: .seconds(1_000_000))
        try await simulated { world in
            var environment = world.environment
            environment.throughputHistory = history
            let item = PlayerItem(ResourceAddress("https://a.example/a"), environment: environment)
            item.initialThroughput = initial
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            let engine = try #require(world.engine(0))
            // What the application sets takes precedence over the history.
            #expect(engine.request.options.initialThroughput == initial)
            await engine.updateSnapshot { $0.throughput = isNew ? measured : initial }
            await player.shutDown()
            #expect(engine.hasEnded)
            let recorded = try #require(history.estimate(at: environment.date()))
            #expect((recorded < BitRate(bitsPerSecond: 40_000_000)) == isNew, "\(recorded)")
        }
    }

    @Test func savedEstimatesAreNotSavedAgain() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("throughput")
        let history = ThroughputHistory(file: file, network: { "home" })
        history.record(BitRate(bitsPerSecond: 1_000_000), at: .seconds(1_800_000_000))
        try history.save()
        #expect(FileManager.default.fileExists(atPath: file.path))
        try FileManager.default.removeItem(at: file)
        try history.save()
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    // MARK: Environments

    @Test func anEnvironmentHasDefaults() {
        let environment = Player.Environment(
            time: SystemTimeSource(),
            makeLoading: { _, _ in ResourceLoader(FileTransport()) },
            makeSessionID: { "session" },
            date: { .zero }
        )
        #expect(environment.canDecode("any") && environment.findCache(ResourceAddress("a")) == nil)
        #expect(environment.throughputHistory == nil && environment.network.cost == nil)
    }

    @Test func theStandardEnvironmentHasTheDateAndTheStateOfTheSystem() {
        let environment = Player.Environment.withoutDecoding
        let date = environment.date() / .seconds(1)
        #expect(abs(date - Date().timeIntervalSince1970) < 3_600)
        #expect(environment.throughputHistory === ThroughputHistory.shared)
        #expect(environment.network === NetworkStatus.system)
        #expect(environment.makeSessionID() != environment.makeSessionID())
    }
}
