import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Synchronization
import Testing

@testable import Millstream

/// Tests streams with interstitials, played by the real engine in simulated time.
@Suite struct InterstitialTests {
    /// Returns a presentation of 60 s with the given date ranges, and interstitials of 12 s and 6 s.
    private static func texts(_ ranges: String...) -> [String: String] {
        var texts = [
            PlayedOrigin.origin + "main.m3u8": PlayedOrigin.media("v", count: 10)
                .replacing(
                    "#EXTINF",
                    with: "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n"
                        + ranges.map { "#EXT-X-DATERANGE:CLASS=\"com.apple.hls.interstitial\",\($0)\n" }.joined()
                        + "#EXTINF",
                    maxReplacements: 1
                )
        ]
        for number in 0..<10 { texts["\(PlayedOrigin.origin)v\(number).ts"] = "media \(number)" }
        for (name, count) in [("ad", 2), ("spot", 1)] {
            texts["\(PlayedOrigin.origin)\(name).m3u8"] = PlayedOrigin.media(name, count: count)
            for number in 0..<count { texts["\(PlayedOrigin.origin)\(name)\(number).ts"] = "media \(number)" }
        }
        // Requests on behalf of an item have its session identifier as a query parameter.
        for (address, text) in texts where !address.contains("main") {
            texts[address + "?_HLS_primary_id=session"] = text
        }
        return texts
    }

    private static func range(_ id: String, at seconds: Int, _ attributes: String) -> String {
        "ID=\"\(id)\",START-DATE=\"2026-01-01T00:00:\(seconds < 10 ? "0" : "")\(seconds)Z\",\(attributes)"
    }

    private static let ad = "X-ASSET-URI=\"https://origin.example/ad.m3u8\""

    /// A record of the positions of the item and of its interstitials, sampled every half second.
    private final class Recording: Sendable {
        struct Moment: Sendable, CustomStringConvertible {
            let time: Double
            let primary: Double
            let event: String?
            let played: Double

            var description: String { "\(time): \(primary) \(event ?? "-") \(played)" }
        }

        let moments: [Moment]
        let notifications: [String]
        let end: Duration

        init(_ moments: [Moment], _ notifications: [String], _ end: Duration) {
            self.moments = moments
            self.notifications = notifications
            self.end = end
        }

        /// Returns the positions of the item while the given event was played, in seconds.
        func positions(of event: String) -> Set<Double> { Set(moments.filter { $0.event == event }.map(\.primary)) }

        /// Returns the duration for which the given event was played, in seconds.
        func duration(of event: String) -> Double { Double(moments.count { $0.event == event }) / 2 }
    }

    /// Plays a presentation to its end and returns a record of it.
    private func playOut(
        _ texts: [String: String],
        events: [InterstitialEvent]? = nil,
        handles: Bool = true,
        _ act: @escaping @Sendable (Player, Double) async -> Void = { _, _ in }
    ) async throws -> Recording {
        try await PlayedOrigin(texts).run { world in
            let item = world.item()
            item.automaticallyHandlesInterstitialEvents = handles
            let player = try Player(playerItem: item)
            let controller = player.interstitialController
            if let events { controller.schedule(events) }
            var told = controller.notifications.makeAsyncIterator()
            player.play()
            var moments: [Recording.Moment] = []
            for tick in 0..<600 {
                let now = Double(tick) / 2
                moments.append(
                    Recording.Moment(
                        time: now,
                        primary: item.currentTime().seconds,
                        event: controller.currentEvent?.id,
                        played: controller.currentEventPlayoutTime?.seconds ?? 0
                    )
                )
                if item.state.hasPlayedToEnd, player.rate == 0 || item.state.status == .failed { break }
                await act(player, now)
                try await world.simulation.sleep(for: .milliseconds(500))
            }
            #expect(item.state.hasPlayedToEnd && player.timeControlStatus == .paused, "\(moments)")
            var notifications: [String] = []
            controller.hub.finish()
            while let notification = await told.next() {
                switch notification {
                case .eventsDidChange: notifications.append("events")
                case .currentEventDidChange(let event): notifications.append("current \(event?.id ?? "-")")
                case .assetListStatusDidChange(let event, .available): notifications.append("list \(event.id)")
                case .assetListStatusDidChange(let event, .cleared): notifications.append("cleared \(event.id)")
                case .assetListStatusDidChange(let event, .unavailable): notifications.append("no list \(event.id)")
                case .currentEventSkippabilityDidChange(_, let state): notifications.append(state.rawValue)
                case .currentEventWasSkipped(let event): notifications.append("skipped \(event.id)")
                case .eventWasUnscheduled(let event, _): notifications.append("unscheduled \(event.id)")
                case .eventDidFinish(let event, let playoutTime, let isWhole):
                    notifications.append("\(isWhole ? "finished" : "ended") \(event.id) \(playoutTime.seconds)")
                case .dropped: break
                }
            }
            return Recording(moments, notifications, world.simulation.now)
        }
    }

    // MARK: Resumption

    @Test func itemResumesWhereItWasSuspended() async throws {
        let recording = try await playOut(Self.texts(Self.range("a", at: 20, Self.ad + ",X-RESUME-OFFSET=0")))
        #expect(recording.positions(of: "a") == [20] && recording.duration(of: "a") == 12)
        #expect(recording.notifications == ["events", "current a", "finished a 12.0", "current -"])
        #expect(abs(recording.end / .seconds(1) - 72) < 1)
    }

    @Test func interstitialWithoutAResumptionOffsetReplacesItsDuration() async throws {
        let recording = try await playOut(Self.texts(Self.range("a", at: 20, Self.ad)))
        #expect(recording.positions(of: "a") == [20] && recording.duration(of: "a") == 12)
        #expect(abs(recording.end / .seconds(1) - 60) < 1)
        #expect(!recording.moments.contains { $0.primary > 20.5 && $0.primary < 32 })
    }

    @Test func negativeResumptionOffsetDoesNotRepeatTheInterstitial() async throws {
        let recording = try await playOut(Self.texts(Self.range("a", at: 20, Self.ad + ",X-RESUME-OFFSET=-6")))
        #expect(recording.notifications.count { $0.hasPrefix("finished") } == 1)
        #expect(abs(recording.end / .seconds(1) - 78) < 1)
    }

    @Test func playoutLimitEndsTheInterstitial() async throws {
        let recording = try await playOut(Self.texts(Self.range("a", at: 20, Self.ad + ",X-PLAYOUT-LIMIT=5")))
        #expect(recording.duration(of: "a") == 5 && recording.notifications.contains("ended a 5.0"))
        #expect(abs(recording.end / .seconds(1) - 60) < 1)
    }

    @Test func snappedInterstitialStartsAndResumesAtSegmentBoundaries() async throws {
        let recording = try await playOut(
            Self.texts(Self.range("a", at: 20, Self.ad + ",X-SNAP=\"OUT,IN\",X-RESUME-OFFSET=10"))
        )
        // Segments start every 6 s: 18 is nearest to 20, and 30 to 28.
        #expect(recording.positions(of: "a") == [18])
        #expect(!recording.moments.contains { $0.primary > 18.5 && $0.primary < 30 })
        #expect(recording.moments.contains { abs($0.primary - 30) < 0.5 })
    }

    @Test func interstitialsAtOnePositionFormOneBreak() async throws {
        let spot = "X-ASSET-URI=\"https://origin.example/spot.m3u8\",X-RESUME-OFFSET=2"
        let recording = try await playOut(
            Self.texts(Self.range("a", at: 20, Self.ad + ",X-RESUME-OFFSET=0"), Self.range("b", at: 20, spot))
        )
        #expect(recording.positions(of: "a") == [20] && recording.positions(of: "b") == [20])
        #expect(recording.notifications.filter { $0.hasPrefix("current") } == ["current a", "current b", "current -"])
        #expect(abs(recording.end / .seconds(1) - (60 + 18 - 2)) < 1)
    }

    // MARK: Pre-rolls and post-rolls

    @Test func preRollPlaysBeforeTheItem() async throws {
        let recording = try await playOut(
            Self.texts(Self.range("a", at: 30, Self.ad + ",CUE=\"PRE\",X-RESUME-OFFSET=0"))
        )
        #expect(
            recording.positions(of: "a") == [0] && abs(recording.duration(of: "a") - 12) <= 0.5,
            "\(recording.moments)"
        )
        #expect(!recording.moments.contains { $0.event == nil && $0.time > 0.5 && $0.time < 11 })
        #expect(abs(recording.end / .seconds(1) - 72) < 1)
    }

    @Test(arguments: ["CUE=\"POST\",", ""]) func postRollPlaysAfterTheItem(cue: String) async throws {
        var texts = Self.texts(Self.range("a", at: 60, cue + Self.ad + ",X-RESUME-OFFSET=0"))
        texts[PlayedOrigin.origin + "main.m3u8"] = texts[PlayedOrigin.origin + "main.m3u8"]?
            .replacing("00:00:60Z", with: "00:01:00Z")
        let recording = try await playOut(texts)
        #expect(recording.positions(of: "a") == [60] && recording.duration(of: "a") == 12)
        #expect(abs(recording.end / .seconds(1) - 72) < 1)
    }

    @Test func queueAdvancesAfterThePostRoll() async throws {
        let texts = Self.texts(Self.range("a", at: 30, "CUE=\"POST\"," + Self.ad))
        try await PlayedOrigin(texts).run { world in
            let (first, second) = (world.item(), world.item("spot.m3u8"))
            let player = try QueuePlayer(items: [first, second])
            player.play()
            await world.wait(for: player.interstitialController.states) { $0.currentEvent?.id == "a" }
            #expect(player.currentItem == first && player.reasonForWaitingToPlay == .duringInterstitialEvent)
            try await world.simulation.sleep(for: .seconds(11))
            #expect(player.currentItem == first && player.interstitialController.currentEvent != nil)
            await world.wait(for: player.states) { $0.currentItem == second && $0.timeControlStatus == .playing }
            await world.wait(for: player.states) { $0.currentItem == nil }
        }
    }

    @Test func interstitialWithTheOnceCueDoesNotRepeat() async throws {
        let recording = try await playOut(
            Self.texts(Self.range("a", at: 20, Self.ad + ",CUE=\"ONCE\",X-RESUME-OFFSET=0"))
        ) { player, now in
            if now == 40 { await player.seek(to: MediaTime(seconds: 6)) }
        }
        #expect(recording.notifications.count { $0.hasPrefix("finished") } == 1)
    }

    // MARK: Control by the viewer

    @Test func playerWaitsDuringAnInterstitialAndItsPauseAppliesToIt() async throws {
        try await PlayedOrigin(Self.texts(Self.range("a", at: 20, Self.ad))).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            let controller = player.interstitialController
            player.play()
            await world.wait(for: controller.states) { $0.currentEvent != nil }
            #expect(player.timeControlStatus == .waiting(.duringInterstitialEvent) && player.rate == 1)
            await world.wait(for: controller.interstitialPlayer.states) { $0.timeControlStatus == .playing }
            try await world.simulation.sleep(for: .seconds(3))
            player.pause()
            try await world.simulation.sleep(for: .seconds(30))
            #expect(controller.interstitialPlayer.timeControlStatus == .paused && player.timeControlStatus == .paused)
            #expect(controller.currentEventPlayoutTime.map { abs($0.seconds - 3) < 0.1 } == true)
            player.rate = 2
            try await world.simulation.sleep(for: .seconds(3))
            #expect(controller.currentEventPlayoutTime.map { abs($0.seconds - 9) < 0.2 } == true)
            await world.wait(for: controller.states) { $0.currentEvent == nil }
            await world.wait(for: player.states) { $0.timeControlStatus == .playing }
            #expect(player.rate == 2 && abs(item.currentTime().seconds - 32) < 0.5)
        }
    }

    @Test(arguments: [true, false]) func longPauseDoesNotEndAnInterstitial(pausesPrimary: Bool) async throws {
        try await PlayedOrigin(Self.texts(Self.range("a", at: 20, Self.ad))).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            let controller = player.interstitialController
            let paused = pausesPrimary ? player : controller.interstitialPlayer
            player.play()
            await world.wait(for: controller.interstitialPlayer.states) { $0.timeControlStatus == .playing }
            try await world.simulation.sleep(for: .seconds(3))
            paused.pause()
            try await world.simulation.sleep(for: .seconds(600))
            paused.play()
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
            // 20 s of the item, 12 s of the interstitial, the pause, and 28 s of the item.
            #expect(abs(world.simulation.now / .seconds(1) - 660) < 1, "\(world.simulation.now)")
        }
    }

    @Test func restrictedInterstitialCannotBeSkipped() async throws {
        let restricted = Self.ad + ",X-RESUME-OFFSET=0,X-RESTRICT=\"SKIP,JUMP\""
        try await PlayedOrigin(Self.texts(Self.range("a", at: 20, restricted))).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            let controller = player.interstitialController
            player.play()
            await world.wait(for: player.states) { $0.timeControlStatus == .playing }
            try await world.simulation.sleep(for: .seconds(2))
            await player.seek(to: MediaTime(seconds: 50))
            await world.wait(for: controller.states) { $0.currentEvent?.id == "a" }
            await world.wait(for: controller.interstitialPlayer.states) { $0.timeControlStatus == .playing }
            #expect(!player.setRate(2) && !controller.interstitialPlayer.setRate(2) && player.rate == 1)
            #expect(!(await controller.interstitialPlayer.seek(to: MediaTime(seconds: 10))).isFinished)
            #expect(!(await player.seek(to: MediaTime(seconds: 55))).isFinished)
            controller.interstitialPlayer.advanceToNextItem()
            #expect(!controller.skipCurrentEvent())
            try await world.simulation.sleep(for: .seconds(5))
            // Seeking backward is allowed.
            #expect((await controller.interstitialPlayer.seek(to: .zero)).isFinished)
            let began = world.simulation.now
            await world.wait(for: controller.states) { $0.currentEvent == nil }
            #expect(abs((world.simulation.now - began) / .seconds(1) - 12) < 0.5)
            await world.wait(for: player.states) { $0.timeControlStatus == .playing }
            #expect(abs(item.currentTime().seconds - 50) < 0.5)
            #expect(player.setRate(2))
        }
    }

    @Test func seekOfTheItemEndsTheInterstitial() async throws {
        let recording = try await playOut(Self.texts(Self.range("a", at: 20, Self.ad + ",X-RESUME-OFFSET=0"))) {
            player,
            now in
            if now == 24 { await player.seek(to: MediaTime(seconds: 40)) }
        }
        #expect(recording.notifications.contains { $0.hasPrefix("ended a") } && recording.duration(of: "a") < 6)
        #expect(abs(recording.end / .seconds(1) - 44) < 1.5)
    }

    @Test func skipControlSkipsTheInterstitialWhenEligible() async throws {
        let control = ",X-RESUME-OFFSET=0,X-SKIP-CONTROL-OFFSET=4,X-SKIP-CONTROL-DURATION=5"
        let recording = try await playOut(Self.texts(Self.range("a", at: 20, Self.ad + control))) { player, now in
            if now == 22 { #expect(!player.interstitialController.skipCurrentEvent()) }
            if now == 26 { #expect(player.interstitialController.skipCurrentEvent()) }
        }
        #expect(recording.notifications.contains("skipped a") && recording.notifications.contains("notYetEligible"))
        #expect(recording.duration(of: "a") < 8 && abs(recording.end / .seconds(1) - 66) < 1.5)
        let whole = try await playOut(Self.texts(Self.range("a", at: 20, Self.ad + control)))
        #expect(
            whole.notifications == [
                "events", "current a", "notYetEligible", "eligible", "noLongerEligible", "finished a 12.0", "current -",
            ]
        )
    }

    @Test func applicationCancelsTheInterstitial() async throws {
        let recording = try await playOut(Self.texts(Self.range("a", at: 20, Self.ad + ",X-RESUME-OFFSET=0"))) {
            player,
            now in
            if now == 25 {
                player.interstitialController.cancelCurrentEvent(withResumptionOffset: MediaTime(seconds: 10))
            }
        }
        #expect(!recording.moments.contains { $0.primary > 20.5 && $0.primary < 30 })
        #expect(abs(recording.end / .seconds(1) - 55) < 1.5)
    }

    // MARK: Asset lists

    private static let list = PlayedOrigin.origin + "list.json"

    private static func withList(_ json: String, _ attributes: String = "") -> [String: String] {
        var texts = texts(range("a", at: 20, "X-ASSET-LIST=\"list.json\"\(attributes)"))
        texts[list + "?_HLS_primary_id=session"] = json
        return texts
    }

    @Test func assetListPlaysInOrderWithItsSkipControl() async throws {
        let json = """
            {"ASSETS": [{"URI": "https://origin.example/spot.m3u8", "DURATION": 6},
            {"URI": "https://origin.example/ad.m3u8", "DURATION": 12}], "SKIP-CONTROL": {"OFFSET": 7, "X": [1]}}
            """
        let recording = try await playOut(Self.withList(json))
        #expect(recording.duration(of: "a") == 18)
        #expect(
            recording.notifications == [
                "events", "list a", "current a", "notYetEligible", "eligible", "cleared a", "finished a 18.0",
                "current -",
            ]
        )
        #expect(abs(recording.end / .seconds(1) - 60) < 1)
    }

    @Test func failedAssetOfAListIsSkipped() async throws {
        let json = """
            {"ASSETS": [{"URI": "https://origin.example/gone.m3u8", "DURATION": 6},
            {"URI": "https://origin.example/spot.m3u8", "DURATION": 6}, {"URI": "file:///etc/passwd", "DURATION": 6}]}
            """
        let recording = try await playOut(Self.withList(json))
        #expect(recording.notifications.contains("ended a 6.0"), "\(recording.notifications)")
        // Assets that were not played replace no duration.
        #expect(abs(recording.end / .seconds(1) - 60) < 1.5)
    }

    @Test(arguments: [
        ("{\"ASSETS\": []}", "", 60.0), ("{\"ASSETS\": []}", ",X-RESUME-OFFSET=10", 50),
        ("{}", ",X-RESUME-OFFSET=10", 60),
        ("[1, 2", "", 60), ("{\"ASSETS\": [{\"URI\": 7}]}", "", 60),
        ("{\"ASSETS\": [{\"URI\": \"file:///etc/passwd\", \"DURATION\": 1e400}]}", "", 60),
        ("{\"ASSETS\": [{\"URI\": \"https://origin.example/gone.m3u8\"}]}", ",X-RESUME-OFFSET=10", 50),
    ])
    func assetListWithoutPlayableAssetsDoesNotStopPlayback(json: String, attributes: String, end: Double) async throws {
        let recording = try await playOut(Self.withList(json, attributes))
        #expect(abs(recording.end / .seconds(1) - end) < 2, "\(recording.end) \(recording.notifications)")
    }

    @Test(arguments: ["https://origin.example/gone.m3u8", "file:///etc/passwd", "nonsense", "gopher://x/y"])
    func interstitialWithAnUnplayableAddressIsUnscheduled(address: String) async throws {
        let recording = try await playOut(
            Self.texts(Self.range("a", at: 20, "X-ASSET-URI=\"\(address)\",X-RESUME-OFFSET=10"))
        )
        #expect(recording.notifications.contains("unscheduled a"))
        #expect(abs(recording.end / .seconds(1) - 60) < 2, "\(recording.end)")
    }

    @Test func interstitialWithAMissingAssetListIsUnscheduledWithinAMinute() async throws {
        var texts = Self.texts(Self.range("a", at: 20, "X-ASSET-LIST=\"https://slow.example/list.json\""))
        texts["https://slow.example/list.json"] = nil
        let recording = try await playOut(texts)
        #expect(recording.notifications.contains("unscheduled a"))
        #expect(recording.end < .seconds(122))
    }

    // MARK: Scheduling

    @Test func applicationSchedulesItsOwnInterstitials() async throws {
        let texts = Self.texts(Self.range("a", at: 20, Self.ad))
        var event = InterstitialEvent(
            id: "own",
            at: MediaTime(seconds: 30),
            .address(.init(PlayedOrigin.origin + "spot.m3u8"))
        )
        event.resumptionOffset = .zero
        let recording = try await playOut(texts, events: [event], handles: false)
        #expect(
            recording.positions(of: "own") == [30] && recording.duration(of: "own") == 6
                && recording.duration(of: "a") == 0
        )
        #expect(abs(recording.end / .seconds(1) - 66) < 1)
    }

    @Test func streamEventsAreReportedButNotPlayedIfTheApplicationHandlesThem() async throws {
        let recording = try await playOut(Self.texts(Self.range("a", at: 20, Self.ad)), handles: false)
        #expect(recording.notifications == ["events"] && recording.duration(of: "a") == 0)
        #expect(abs(recording.end / .seconds(1) - 60) < 1)
    }

    @Test func interstitialsPlayWithoutAccessToTheController() async throws {
        try await PlayedOrigin(Self.texts(Self.range("a", at: 20, Self.ad + ",X-RESUME-OFFSET=0"))).run { world in
            let player = try Player(playerItem: world.item())
            player.play()
            await world.wait(for: player.states) { $0.reasonForWaitingToPlay == .duringInterstitialEvent }
            #expect(player.interstitialController.currentEvent?.id == "a")
        }
    }

    @Test func nestedInterstitialsAreIgnored() async throws {
        var texts = Self.texts(Self.range("a", at: 20, Self.ad + ",X-RESUME-OFFSET=0"))
        let nested = try #require(texts[PlayedOrigin.origin + "main.m3u8"]).replacing("v", with: "ad")
        texts[PlayedOrigin.origin + "ad.m3u8?_HLS_primary_id=session"] = nested
        for number in 0..<10 { texts["\(PlayedOrigin.origin)ad\(number).ts"] = "media" }
        let recording = try await playOut(texts)
        #expect(recording.duration(of: "a") == 60 && recording.notifications.count { $0.hasPrefix("finished") } == 1)
    }

    @Test func replacingTheItemEndsItsInterstitial() async throws {
        try await PlayedOrigin(Self.texts(Self.range("a", at: 20, Self.ad))).run { world in
            let player = try Player(playerItem: world.item())
            let controller = player.interstitialController
            player.play()
            await world.wait(for: controller.states) { $0.currentEvent != nil }
            let other = world.item("spot.m3u8")
            try player.replaceCurrentItem(with: other)
            await world.wait(for: player.states) { $0.timeControlStatus == .playing }
            await world.wait(for: controller.states) { $0.currentEvent == nil && $0.events.isEmpty }
            #expect(player.currentItem == other && controller.interstitialPlayer.items().isEmpty)
        }
    }

    // MARK: Live streams

    /// Returns a live stream that starts with 48 s of media.
    private static func broadcast(_ ranges: String..., lists: [String: String]) -> PlayedOrigin {
        var responses = texts().mapValues { [ScriptedTransport.Response.text($0)] }
        let playlists = (0..<40).map { reload in
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n"
                + ranges.map { "#EXT-X-DATERANGE:\($0)\n" }.joined()
                + (0..<(8 + reload)).map { "#EXTINF:6,\nv\($0).ts\n" }.joined()
        }
        responses[PlayedOrigin.origin + "main.m3u8"] = playlists.map { .text($0) }
        for number in 10..<48 { responses["\(PlayedOrigin.origin)v\(number).ts"] = [.text("media")] }
        for (address, text) in lists { responses[address] = [.text(text)] }
        return PlayedOrigin(responses: responses)
    }

    private static let oneAd = "{\"ASSETS\": [{\"URI\": \"https://origin.example/ad.m3u8\", \"DURATION\": 12}]}"

    /// The playhead starts 18 s before the live edge, at 30 s, within an interstitial that began at 20 s.
    @Test func joiningWithinAnInterstitialRequestsItsRemainder() async throws {
        let address = Self.list + "?_HLS_primary_id=session&_HLS_start_offset=10"
        let range = Self.range(
            "a",
            at: 20,
            "CLASS=\"com.apple.hls.interstitial\",X-ASSET-LIST=\"list.json\",DURATION=30"
        )
        try await Self.broadcast(range, lists: [address: Self.oneAd]).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: player.interstitialController.states) { $0.currentEvent?.id == "a" }
            let position = item.currentTime().seconds
            await world.wait(for: player.states) { $0.timeControlStatus == .playing }
            #expect(world.transport.requestedAddresses.contains(address))
            // The item resumes later by the played duration, which preserves the distance from the live edge.
            #expect(abs(item.currentTime().seconds - position - 12) < 0.5, "\(position) \(item.currentTime().seconds)")
        }
    }

    /// Returns a preload date range that asks for the asset list of the event `a` to be loaded within 4 s.
    private static func preload(at seconds: Int) -> String {
        let target = "X-TARGET-ID=\"a\",X-TARGET-CLASS=\"com.apple.hls.interstitial\""
        return range("p", at: seconds, "CLASS=\"com.apple.hls.preload\",DURATION=4,X-URI=\"list.json\",\(target)")
    }

    @Test func assetListIsPreloadedWhenTheStreamRequestsIt() async throws {
        let address = Self.list + "?_HLS_primary_id=session"
        let ahead = Self.preload(at: 32)
        let event = Self.range("a", at: 59, "CLASS=\"com.apple.hls.interstitial\",X-ASSET-LIST=\"list.json\"")
        try await Self.broadcast(ahead, event, lists: [address: Self.oneAd]).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            let controller = player.interstitialController
            player.play()
            while !world.transport.requestedAddresses.contains(address) {
                try await world.simulation.sleep(for: .milliseconds(100))
            }
            #expect((32...36.2).contains(item.currentTime().seconds), "\(item.currentTime().seconds)")
            await world.wait(for: controller.states) { $0.currentEvent?.id == "a" }
            await world.wait(for: controller.states) { $0.currentEvent == nil }
            // The asset list is not requested again after its use.
            await world.wait(for: player.states) { $0.timeControlStatus == .playing }
            try await world.simulation.sleep(for: .seconds(20))
            #expect(world.transport.requestedAddresses.count { $0 == address } == 1)
        }
    }

    /// Asset lists are not preloaded if the application handles the events of the stream, or schedules its own.
    @Test(arguments: [true, false]) func assetListThatIsNotPlayedIsNotPreloaded(hasOwn: Bool) async throws {
        try await Self.broadcast(Self.preload(at: 32), lists: [:]).run { world in
            let item = world.item()
            item.automaticallyHandlesInterstitialEvents = hasOwn
            let player = try Player(playerItem: item)
            if hasOwn { player.interstitialController.schedule([]) }
            _ = player.interstitialController
            player.play()
            await world.wait(for: item.states) { $0.timebase.mediaTime(at: world.simulation.now).seconds > 31 }
            try await world.simulation.sleep(for: .seconds(20))
            #expect(!world.transport.requestedAddresses.contains { $0.contains("list.json") })
        }
    }

    @Test func expiredPreloadRangeLoadsNoAssetList() async throws {
        let ahead = Self.preload(at: 2)
        try await Self.broadcast(ahead, lists: [:]).run { world in
            let player = try Player(playerItem: world.item())
            player.play()
            try await world.simulation.sleep(for: .seconds(20))
            #expect(!world.transport.requestedAddresses.contains { $0.contains("list.json") })
        }
    }

    /// The playlist is reloaded while the item is suspended, even if the item makes no requests while it is paused.
    @Test func liveStreamIsReloadedDuringAnInterstitial() async throws {
        let event = Self.range("a", at: 32, "CLASS=\"com.apple.hls.interstitial\"," + Self.ad)
        try await Self.broadcast(event, lists: [:]).run { world in
            let item = world.item()
            item.canUseNetworkResourcesForLiveStreamingWhilePaused = false
            let player = try Player(playerItem: item)
            let controller = player.interstitialController
            player.play()
            await world.wait(for: controller.interstitialPlayer.states) { $0.timeControlStatus == .playing }
            let edge = item.state.seekableTimeRanges.ranges.last?.end.seconds ?? 0
            await world.wait(for: controller.states) { $0.currentEvent == nil }
            #expect((item.state.seekableTimeRanges.ranges.last?.end.seconds ?? 0) >= edge + 6)
            await world.wait(for: player.states) { $0.timeControlStatus == .playing }
            #expect(abs(item.currentTime().seconds - 44) < 0.5, "\(item.currentTime().seconds)")
            player.pause()
            let asked = world.transport.requestedAddresses.count { $0.contains("main.m3u8") }
            try await world.simulation.sleep(for: .seconds(60))
            #expect(world.transport.requestedAddresses.count { $0.contains("main.m3u8") } <= asked + 1)
        }
    }

    // MARK: Failures and special cases

    @Test func playbackContinuesIfTheInterstitialPlayerHasNoPipeline() async throws {
        let world = PlayedOrigin(Self.texts(Self.range("a", at: 20, Self.ad), Self.range("b", at: 40, Self.ad)))
        let pipelines = Mutex(0)
        var environment = world.environment
        let simulation = world.simulation
        environment.makePipeline = {
            let count = pipelines.withLock { count in
                count += 1
                return count
            }
            guard count != 2 else { throw MediaPipelineError(.deviceLost, "no decoder is left") }
            return NonDecodingPipeline(time: simulation)
        }
        let asset = Asset(.init(PlayedOrigin.origin + "main.m3u8"), environment: environment)
        try await world.run { [asset] world in
            let item = PlayerItem(asset: asset)
            let player = try Player(playerItem: item)
            let controller = player.interstitialController
            player.play()
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
            #expect(controller.interstitialPlayer.status == .failed)
            #expect(world.simulation.now < .seconds(62), "\(world.simulation.now)")
        }
    }

    @Test func restrictionsEndWithTheirItem() async throws {
        let restricted = Self.ad + ",X-RESTRICT=\"SKIP,JUMP\""
        try await PlayedOrigin(Self.texts(Self.range("a", at: 20, restricted))).run { world in
            let player = try Player(playerItem: world.item())
            let controller = player.interstitialController
            player.play()
            await world.wait(for: controller.interstitialPlayer.states) { $0.timeControlStatus == .playing }
            #expect(!player.setRate(2))
            let other = world.item("ad.m3u8?_HLS_primary_id=session")
            try player.replaceCurrentItem(with: other)
            await world.wait(for: controller.states) { $0.currentEvent == nil }
            await world.wait(for: player.states) { $0.timeControlStatus == .playing }
            #expect(player.setRate(2))
            #expect((await player.seek(to: MediaTime(seconds: 8))).isFinished)
        }
    }

    @Test func replacementItemLoadsItsOwnAssetList() async throws {
        var texts = Self.withList(Self.oneAd)
        texts[PlayedOrigin.origin + "other.m3u8"] = texts[PlayedOrigin.origin + "main.m3u8"]
        try await PlayedOrigin(texts).run { world in
            let player = try Player(playerItem: world.item())
            let controller = player.interstitialController
            player.play()
            let address = Self.list + "?_HLS_primary_id=session"
            while !world.transport.requestedAddresses.contains(address) {
                try await world.simulation.sleep(for: .milliseconds(100))
            }
            try player.replaceCurrentItem(with: world.item("other.m3u8"))
            let began = world.simulation.now
            await world.wait(for: controller.interstitialPlayer.states) { $0.timeControlStatus == .playing }
            #expect(world.simulation.now - began < .seconds(22))
            #expect(world.transport.requestedAddresses.count { $0 == address } == 2)
        }
    }

    @Test func failedAssetListPreloadIsRetried() async throws {
        var responses = Self.withList("").mapValues { [ScriptedTransport.Response.text($0)] }
        responses[Self.list + "?_HLS_primary_id=session"] = [
            .failure(TransportError(.status, "not yet", status: 404)), .text(Self.oneAd),
        ]
        try await PlayedOrigin(responses: responses).run { world in
            let player = try Player(playerItem: world.item())
            player.play()
            await world.wait(for: player.interstitialController.interstitialPlayer.states) {
                $0.timeControlStatus == .playing
            }
            #expect(player.interstitialController.currentEvent?.id == "a")
        }
    }

    @Test func interstitialIsCanceledBeforeItLoads() async throws {
        let texts = Self.texts(Self.range("a", at: 20, "X-ASSET-LIST=\"list.json\""))
        try await PlayedOrigin(texts, latency: .seconds(8)).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            let controller = player.interstitialController
            player.play()
            await world.wait(for: controller.states) { $0.currentEvent != nil }
            controller.cancelCurrentEvent(withResumptionOffset: MediaTime(seconds: 12))
            await world.wait(for: controller.states) { $0.currentEvent == nil }
            await world.wait(for: player.states) { $0.timeControlStatus == .playing }
            #expect(abs(item.currentTime().seconds - 32) < 0.5, "\(item.currentTime().seconds)")
        }
    }

    @Test func seekOutOfAnInterstitialDoesNotBypassARequiredOne() async throws {
        let jump = Self.ad + ",X-RESUME-OFFSET=0,X-RESTRICT=\"JUMP\""
        let recording = try await playOut(
            Self.texts(Self.range("a", at: 10, Self.ad + ",X-RESUME-OFFSET=0"), Self.range("b", at: 30, jump))
        ) { player, now in
            // The item is suspended at 10 s; 10 s of its interstitial have been played.
            if now == 20 { await player.seek(to: MediaTime(seconds: 40)) }
        }
        #expect(abs(recording.duration(of: "b") - 12) <= 0.5)
        #expect(recording.moments.last.map { $0.primary == 60 } == true)
    }

    @Test func slowViewerSeekOverridesTheResumptionOffset() async throws {
        let texts = Self.texts(Self.range("a", at: 20, Self.ad + ",X-RESUME-OFFSET=5"))
        try await PlayedOrigin(texts, latency: .seconds(2)).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            let controller = player.interstitialController
            player.play()
            await world.wait(for: controller.interstitialPlayer.states) { $0.timeControlStatus == .playing }
            try await world.simulation.sleep(for: .milliseconds(11_000))
            let landed = await player.seek(to: MediaTime(seconds: 57), toleranceBefore: .zero, toleranceAfter: .zero)
            #expect(landed.isFinished && landed.position == MediaTime(seconds: 57))
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
            #expect(controller.currentEvent == nil)
        }
    }

    @Test func reversePlaybackStartsNoInterstitials() async throws {
        try await PlayedOrigin(Self.texts(Self.range("a", at: 20, Self.ad + ",X-RESUME-OFFSET=20"))).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: player.states) { $0.timeControlStatus == .playing }
            try await world.simulation.sleep(for: .seconds(1))
            player.pause()
            await player.seek(to: MediaTime(seconds: 30))
            try await world.simulation.sleep(for: .seconds(1))
            #expect(player.interstitialController.currentEvent == nil)
            if player.setRate(-1) {
                try await world.simulation.sleep(for: .seconds(3))
                #expect(item.currentTime() < MediaTime(seconds: 29))
                player.pause()
                await player.seek(to: MediaTime(seconds: 30))
            }
            player.play()
            await world.wait(for: player.interstitialController.states) { $0.currentEvent?.id == "a" }
            #expect(player.interstitialController.interstitialPlayer.items().count == 1)
        }
    }

    @Test func restrictedInterstitialPlaysAtNormalRateInAFasterPlayer() async throws {
        try await PlayedOrigin(Self.texts(Self.range("a", at: 20, Self.ad + ",X-RESTRICT=\"SKIP\""))).run { world in
            let player = try Player(playerItem: world.item())
            let controller = player.interstitialController
            player.defaultRate = 2
            player.play()
            await world.wait(for: controller.interstitialPlayer.states) { $0.timeControlStatus == .playing }
            #expect(controller.interstitialPlayer.rate == 1 && player.rate == 2)
            player.pause()
            try await world.simulation.sleep(for: .seconds(1))
            player.play()
            await world.wait(for: controller.interstitialPlayer.states) { $0.timeControlStatus == .playing }
            #expect(player.rate == 1)
            await world.wait(for: controller.states) { $0.currentEvent == nil }
        }
    }

    // MARK: Credentials

    @Test(arguments: [
        ("https://ads.example/x.m3u8", false, false), ("https://www.example.com/x.m3u8", true, true),
        ("https://cdn.example.com/x.m3u8", false, false), ("http://www.example.com/x.m3u8", false, false),
        ("https://www.example.com:8443/x.m3u8", false, true),
    ])
    func credentialsOfTheStreamStayWithinTheirScope(address: String, hasFields: Bool, hasCookie: Bool) throws {
        let options = AssetOptions(headerFields: ["X-Token": "t"], cookies: [.init(name: "a", value: "1")])
        let asset = Asset(
            .init("https://www.example.com/main.m3u8"),
            options: options,
            environment: PlayedOrigin([:]).environment
        )
        let made = try InterstitialLoading(primary: asset, sessionID: "s p").asset(at: .init(address))
        #expect(made.options.headerFields.isEmpty == !hasFields)
        let now = UnixSeconds(1_000_000)
        let jar = made.options.makeCookieJar(for: made.address, now: now)
        #expect((jar.header(for: made.address, now: now) != nil) == hasCookie)
        #expect(jar.header(for: ResourceAddress("http://www.example.com/"), now: now) == nil)
        #expect(made.address.text == address + "?_HLS_primary_id=s%20p")
    }

    @Test func referenceRestrictionsOfTheAssetApplyToInterstitials() throws {
        var options = AssetOptions()
        options.referenceRestrictions = .forbidCrossSiteReference
        let environment = PlayedOrigin([:]).environment
        let asset = Asset(.init("https://www.example.com/main.m3u8"), options: options, environment: environment)
        let loading = InterstitialLoading(primary: asset, sessionID: nil)
        #expect(throws: PlayerError.self) { try loading.asset(at: .init("https://ads.example/x.m3u8")) }
        #expect(try loading.asset(at: .init("https://ads.example.com/x.m3u8#f")).address.text.hasSuffix("x.m3u8#f"))
        let file = InterstitialLoading(
            primary: Asset(filePath: "/films/a.m3u8", environment: environment),
            sessionID: "s"
        )
        #expect(try file.asset(at: .init("file:///films/b.m3u8")).address.text == "file:///films/b.m3u8")
        #expect(throws: PlayerError.self) { try file.asset(at: .init("ftp://films/b.m3u8")) }
    }

    // MARK: Integrated timeline

    @Test func integratedTimelineContainsTheItemAndItsInterstitials() async throws {
        let fill = Self.ad + ",X-RESUME-OFFSET=0,DURATION=12,X-TIMELINE-OCCUPIES=\"RANGE\""
        let compared = Collected<Double>()
        let recording = try await playOut(
            Self.texts(
                Self.range("a", at: 20, fill),
                Self.range("b", at: 40, Self.ad + ",DURATION=6,X-PLAYOUT-LIMIT=6"),
                Self.range("c", at: 43, Self.ad)
            )
        ) { player, now in
            guard now == 26 else { return }
            compared.add(now)
            guard let timeline = player.interstitialController.integratedTimeline else {
                Issue.record("there is no timeline")
                return
            }
            let shape = timeline.segments.map { segment in
                let name = segment.event?.id ?? "\(segment.source.start.seconds)-\(segment.source.end.seconds)"
                return "\(name) \(segment.target.start.seconds)-\(segment.target.end.seconds)"
            }
            #expect(
                shape == [
                    "0.0-20.0 0.0-20.0", "a 20.0-32.0", "20.0-40.0 32.0-52.0", "b 52.0-52.0", "46.0-60.0 52.0-66.0",
                ]
            )
            #expect(timeline.duration == MediaTime(seconds: 66))
            let time = player.interstitialController.integratedTime
            #expect(time.map { abs($0.seconds - 26) < 0.5 } == true, "\(String(describing: time))")
            let (segment, position) = timeline.segment(at: MediaTime(seconds: 60)) ?? (timeline.segments[0], .zero)
            #expect(segment.event == nil && position == MediaTime(seconds: 54))
            #expect(timeline.segment(at: MediaTime(seconds: 25))?.segment.event?.id == "a")
            #expect(timeline.time(at: MediaTime(seconds: 50)) == MediaTime(seconds: 56))
        }
        #expect(compared.all == [26])
        #expect(!recording.notifications.contains("current c"))
        #expect(recording.moments.contains { $0.time == 26 && $0.event == "a" })
    }
}
