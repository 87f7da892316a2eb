import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

/// Tests the requests, players and lifecycle of interstitials that no other suite reaches.
@Suite struct InterstitialControllerFaultTests {
    private static let address = ResourceAddress("https://www.example.com/main.m3u8")

    private static func event(_ content: InterstitialEvent.Content, at seconds: Int64 = 2) -> InterstitialEvent {
        var event = InterstitialEvent(id: "a", at: MediaTime(seconds: seconds), content)
        event.resumptionOffset = .zero
        return event
    }

    private static func asset(_ name: String, _ world: World) -> InterstitialEvent.Content {
        .assets([Asset(ResourceAddress(name), environment: world.environment)])
    }

    // MARK: Addresses

    private func loading(_ asset: Asset, sessionID: String? = "s") -> InterstitialLoading {
        InterstitialLoading(primary: asset, sessionID: sessionID)
    }

    @Test func optionsOfTheStreamAreNotThoseOfItsInterstitials() throws {
        var options = AssetOptions(headerFields: ["X-A": "1"], userAgent: "test", primarySessionID: "mine")
        options.overrideMIMEType = "video/mp4"
        let primary = Asset(Self.address, options: options, environment: PlayedOrigin([:]).environment)
        let made = try loading(primary).asset(at: ResourceAddress("https://www.example.com/ad.m3u8"))
        #expect(made.options.overrideMIMEType == nil && made.options.primarySessionID == nil)
        #expect(made.options.userAgent == "test" && made.options.headerFields == ["X-A": "1"])
    }

    @Test func interstitialsAreLoadedOnlyFromAllowedAddresses() throws {
        func message(_ address: ResourceAddress, of primary: Asset) -> String? {
            do throws(PlayerError) {
                _ = try loading(primary).asset(at: address)
                return nil
            } catch {
                #expect(error.code == .notLoaded)
                return error.message
            }
        }
        let (remote, local) = (PlayedOrigin([:]).environment, World().environment)
        let (file, data) = (ResourceAddress("file:///films/b.m3u8"), ResourceAddress("data:,x"))
        let stream = Asset(Self.address, environment: remote)
        let unknown = "Interstitials cannot be loaded from this address."
        #expect(message(file, of: stream) == unknown && message(ResourceAddress("ftp://a/b"), of: stream) == unknown)
        #expect(message(data, of: stream) == nil && message(Self.address, of: stream) == nil)
        let refused = message(Self.address.resolving("file:///films/b.m3u8"), of: stream)
        #expect(refused?.contains("local file") == true)
        #expect(message(file, of: Asset(filePath: "/films/a.m3u8", environment: remote)) == nil)
        // The files of a download do not refer to others.
        #expect(message(file, of: Asset(filePath: "/films/a.package", environment: local)) == unknown)
    }

    @Test(arguments: [true, false]) func theItemOfAnInterstitialHasOptionsOfTheStream(forbidsAdvancing: Bool) throws {
        let environment = World().environment
        let primary = PlayerItem(Self.address, environment: environment)
        let film = Presentation.film
        primary.initialThroughput = BitRate(bitsPerSecond: 1_000)
        primary.forwardPlaybackEndTime = MediaTime(seconds: 9)
        primary.preferredPeakBitRate = BitRate(bitsPerSecond: 2_000)
        primary.mediaSelectionRules.audioLanguages = ["fr"]
        let asset = Asset(ResourceAddress("ad"), environment: environment)
        let first = PlayerItem(asset, forbidsAdvancing: forbidsAdvancing, as: primary).state.configuration
        #expect(first.requiresLinearPlayback == forbidsAdvancing && first.options.forwardPlaybackEndTime == nil)
        #expect(first.options.initialThroughput == BitRate(bitsPerSecond: 1_000))
        #expect(first.options.preferredPeakBitRate == BitRate(bitsPerSecond: 2_000))
        #expect(first.options.selectionRules.audioLanguages == ["fr"])
        // The options that are being played are preferred.
        primary.modify { core in
            core.state.playback.presentation = film
            core.state.playback.throughput = BitRate(bitsPerSecond: 3_000)
            core.state.playback.selection[.audio] = film.group(.audio)?.options.last
            core.state.playback.selection[.subtitles] = film.group(.subtitles)?.options.first
        }
        let second = PlayerItem(asset, forbidsAdvancing: forbidsAdvancing, as: primary).state.configuration.options
        #expect(second.initialThroughput == BitRate(bitsPerSecond: 3_000))
        #expect(second.selectionRules.audioLanguages == ["de", "fr"])
        #expect(second.selectionRules.subtitleLanguages == ["de"])
    }

    // MARK: Asset lists

    @Test(
        arguments: [
            (nil, ""), (10, "&_HLS_start_offset=10"), (1.5, "&_HLS_start_offset=1.500"),
            (1.05, "&_HLS_start_offset=1.050"), (12.0004, "&_HLS_start_offset=12"), (0, "&_HLS_start_offset=0"),
        ] as [(Double?, String)]
    )
    func theStartOffsetIsInDecimalSeconds(offset: Double?, parameter: String) async throws {
        let list = PlayedOrigin.origin + "list.json"
        let address = list + "?_HLS_primary_id=s\(parameter)"
        try await PlayedOrigin([address: "{\"ASSETS\": [{\"URI\": \"ad.m3u8\"}]}"]).run { world in
            let loading = InterstitialLoading(primary: world.item().asset, sessionID: "s")
            let start = offset.flatMap { MediaTime(approximating: $0) }
            let loaded = try await loading.list(at: ResourceAddress(list), startOffset: start)
            #expect(loaded.entries.map(\.address.text) == [PlayedOrigin.origin + "ad.m3u8"])
        }
    }

    @Test(arguments: [(1 << 20, true), (1 << 20 + 1, false)])
    func aListHasAMebibyteAtMost(size: Int, isLoaded: Bool) async throws {
        let json = "{\"ASSETS\": []}"
        let text = json + String(repeating: " ", count: size - json.utf8.count)
        try await PlayedOrigin([PlayedOrigin.origin + "list.json": text]).run { world in
            let loading = InterstitialLoading(primary: world.item().asset, sessionID: nil)
            let address = ResourceAddress(PlayedOrigin.origin + "list.json")
            let loaded = try? await loading.list(at: address, startOffset: nil)
            #expect((loaded != nil) == isLoaded)
        }
    }

    @Test func aListIsNotRequestedFromAnotherKindOfAddress() async throws {
        try await PlayedOrigin(["ftp://origin.example/list.json": "{\"ASSETS\": []}"]).run { world in
            let loading = InterstitialLoading(primary: world.item().asset, sessionID: nil)
            let address = ResourceAddress("ftp://origin.example/list.json")
            let error = await #expect(throws: PlayerError.self) {
                try await loading.list(at: address, startOffset: nil)
            }
            #expect(error?.message == "Interstitials cannot be loaded from this address.")
            #expect(world.transport.requests.isEmpty)
        }
    }

    /// Tests that an asset list which is not needed any more is not requested.
    @Test(arguments: ["canceled", "replaced", "released"])
    func requestsEndWithTheirInterstitial(reason: String) async throws {
        var texts = [PlayedOrigin.origin + "main.m3u8": PlayedOrigin.media("v", count: 10)]
        for number in 0..<10 { texts["\(PlayedOrigin.origin)v\(number).ts"] = "media" }
        try await PlayedOrigin(texts, latency: .seconds(8)).run { world in
            var player: Player? = try Player(playerItem: world.item())
            let list = InterstitialEvent.Content.list(ResourceAddress(PlayedOrigin.origin + "list.json"))
            let controller = try #require(player).interstitialController
            controller.schedule([Self.event(list, at: 0)])
            player?.play()
            await world.wait(for: controller.states) { $0.currentEvent != nil }
            try await world.simulation.sleep(for: .seconds(1))
            switch reason {
            case "canceled": controller.cancelCurrentEvent()
            case "replaced": try player?.replaceCurrentItem(with: nil)
            default: player = nil
            }
            try await world.simulation.sleep(for: .seconds(20))
            #expect(!world.transport.requestedAddresses.contains { $0.contains("list.json") })
            _ = player
        }
    }

    // MARK: Players

    @Test func theInterstitialPlayerHasTheVolumeOfThePlayer() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let controller = player.interstitialController
            #expect(controller.currentEventPlayoutTime == nil && controller.currentEvent == nil)
            #expect(!controller.skipCurrentEvent() && controller.state.skippability == .notSkippable)
            controller.schedule([Self.event(Self.asset("ad", world))])
            player.volume = 0.5
            player.isMuted = true
            player.play()
            try await world.sleep(.seconds(5))
            #expect(controller.currentEvent?.id == "a" && controller.currentEventPlayoutTime != nil)
            #expect(controller.interstitialPlayer.volume == 0.5 && controller.interstitialPlayer.isMuted)
            await player.shutDown()
            #expect(controller.interstitialPlayer.items().isEmpty)
        }
    }

    /// Tests requests while neither player reports anything.
    @Test func requestsOfTheApplicationTakeEffectAtOnce() async throws {
        try await simulated { world in
            let item = world.item("a", Script(duration: MediaTime(seconds: 60)))
            let player = try Player(playerItem: item)
            let controller = player.interstitialController
            controller.schedule([Self.event(Self.asset("ad", world))])
            player.play()
            try await world.sleep(.seconds(5))
            #expect(controller.currentEvent?.id == "a" && controller.events.count == 1)
            controller.cancelCurrentEvent(withResumptionOffset: MediaTime(seconds: 30))
            try await world.sleep(.milliseconds(500))
            #expect(controller.currentEvent == nil && player.timeControlStatus == .playing)
            #expect(abs(item.currentTime().seconds - 32) < 1, "\(item.currentTime())")
            controller.schedule([])
            try await world.sleep(.milliseconds(1))
            #expect(controller.events.isEmpty)
        }
    }

    @Test func itemsThatTheApplicationInsertsArePartOfTheInterstitial() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let controller = player.interstitialController
            controller.schedule([Self.event(Self.asset("ad", world))])
            var told = controller.notifications.makeAsyncIterator()
            player.play()
            // The item is ready after a second, and the interstitial begins at 2 s; its media has 10 s.
            try await world.sleep(.seconds(8))
            #expect(controller.currentEvent?.id == "a")
            for (number, seconds) in ([6, 4, 3] as [Int64]).enumerated() {
                let more = world.item("more \(number)", Script(duration: MediaTime(seconds: seconds)))
                try controller.interstitialPlayer.insert(more, after: nil)
            }
            try await world.sleep(.seconds(30))
            controller.hub.finish()
            var played: MediaTime?
            while let notification = await told.next() {
                if case .eventDidFinish(_, let time, _) = notification { played = time }
            }
            #expect(played.map { abs($0.seconds - 23) < 0.5 } == true, "\(String(describing: played))")
        }
    }

    @Test func theInterstitialPlayerIsEmptyAfterItsPlayer() async throws {
        try await simulated { world in
            var player: Player? = try Player(playerItem: world.item("a"))
            let queue = try #require(player).interstitialController.interstitialPlayer
            player?.interstitialController.schedule([Self.event(Self.asset("ad", world))])
            player?.play()
            try await world.sleep(.seconds(5))
            #expect(queue.items().count == 1)
            player = nil
            try await world.sleep(.seconds(2))
            #expect(queue.items().isEmpty && world.liveEngines == 0)
        }
    }

    @Test func notificationsEndWithThePlayer() async throws {
        try await simulated { world in
            var player: Player? = try Player(playerItem: world.item("a"))
            let notifications = try #require(player).interstitialController.notifications
            let ends = Collected<Bool>()
            let task = launch(on: world.simulation) {
                for await _ in notifications {}
                ends.add(true)
            }
            try await world.sleep(.seconds(1))
            #expect(ends.all == [])
            player = nil
            try await world.sleep(.seconds(1))
            #expect(ends.all == [true])
            task.cancel()
        }
    }

    /// Tests that the players are observed when a decision is due, not all the time.
    @Test func theNextDecisionIsAwaitedInOneSleep() async throws {
        try await simulated { world in
            let sleeps = Collected<Duration>()
            var environment = world.environment
            environment.time = ObservedTime(base: world.simulation, willSleep: { sleeps.add($0) })
            let player = Player(ResourceAddress("a"), environment: environment)
            let ad = Asset(ResourceAddress("ad"), environment: environment)
            player.interstitialController.schedule([Self.event(.assets([ad]), at: 8)])
            player.play()
            try await world.sleep(.seconds(11))
            #expect(player.interstitialController.currentEvent?.id == "a")
            #expect(sleeps.all.count < 100 && sleeps.all.contains { $0 > .seconds(1) }, "\(sleeps.all.count) sleeps")
        }
    }

    @Test func theObservationOfTheInterstitialPlayerHasItsOptions() throws {
        let player = try QueuePlayer(items: [], environment: World().environment)
        for action in PlayerState.ActionAtItemEnd.allCases {
            player.actionAtItemEnd = action
            let queue = InterstitialObservation.Queue(player.state)
            #expect(queue.advancesAtItemEnd == (action == .advance) && !queue.hasFailed && queue.rate == 0)
        }
    }

    @Test func restrictionsOfTheItemEndWithItsInterstitial() async throws {
        try await simulated { world in
            let item = world.item("a", Script(duration: MediaTime(seconds: 60)))
            let player = try Player(playerItem: item)
            var event = Self.event(Self.asset("ad", world))
            event.restrictions = .requiresPlaybackAtPreferredRateForAdvancement
            player.interstitialController.schedule([event])
            player.play()
            try await world.sleep(.seconds(6))
            #expect(player.state.requiresNormalRate && item.state.configuration.requiresLinearPlayback)
            try await world.sleep(.seconds(12))
            #expect(player.interstitialController.currentEvent == nil && !player.state.requiresNormalRate)
            #expect(!item.state.configuration.requiresLinearPlayback)
            let landing = await player.seek(to: MediaTime(seconds: 50))
            #expect(landing.isFinished)
        }
    }

    @Test func theIntegratedTimelineHasTheInterstitialsBeforeAndAfterTheItem() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let controller = player.interstitialController
            #expect(controller.integratedTimeline == nil && controller.integratedTime == nil)
            let content = Self.asset("ad", world)
            controller.schedule([
                InterstitialEvent(id: "post", .leavePrimary, content), Self.event(content, at: 5),
                InterstitialEvent(id: "pre", .joinPrimary, content),
            ])
            try await world.sleep(.seconds(2))
            let timeline = try #require(controller.integratedTimeline)
            #expect(timeline.segments.map { $0.event?.id ?? "-" } == ["pre", "-", "a", "-", "post"])
            #expect(controller.integratedTime == .zero && controller.currentEvent == nil)
        }
    }
}
