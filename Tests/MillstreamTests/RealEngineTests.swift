import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

/// Tests playback from the public API through the real engine to a scripted transport, in simulated time.
@Suite struct RealEngineTests {
    @Test func presentationPlaysToItsEnd() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.play()
            #expect(player.timeControlStatus == .waiting(.evaluatingBufferingRate))
            let notifications = try await listening(to: item.notifications) { _ in
                await world.wait(for: player.states) { $0.playback.hasPlayedToEnd }
                try await world.simulation.sleep(for: .seconds(1))
            }
            #expect(notifications.count { $0 == .didPlayToEnd } == 1)
            #expect(!notifications.contains(.playbackStalled))
            #expect(item.currentTime() == MediaTime(seconds: 60))
            #expect(item.duration == MediaTime(seconds: 60))
            #expect(world.simulation.now == .seconds(61))
            #expect(player.rate == 0)
            #expect(player.status == .readyToPlay)
            #expect(item.accessLog.events.isEmpty == false)
            #expect(item.errorLog.events.isEmpty)
            #expect(item.playbackMetrics?.watchedDuration == MediaTime(seconds: 60).duration)
        }
    }

    @Test func playHasNoEffectAtTheEndUntilASeek() async throws {
        try await PlayedOrigin(PlayedOrigin.film(count: 2)).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
            player.play()
            try await world.simulation.sleep(for: .seconds(5))
            #expect(item.currentTime() == MediaTime(seconds: 12))
            #expect(player.rate == 0)
            let landing = await player.seek(to: .zero)
            #expect(landing == SeekResult(isFinished: true, position: .zero))
            player.play()
            await world.wait(for: item.states) { $0.timebase.rate == 1 }
            try await world.simulation.sleep(for: .seconds(3))
            #expect(item.currentTime() == MediaTime(seconds: 3))
        }
    }

    @Test func playersWithTheSameScheduledStartAreSynchronized() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let players = try (0..<2).map { _ in try Player(playerItem: world.item()) }
            for player in players { #expect(await player.preroll(atRate: 1)) }
            let moment = players[0].hostTime + .seconds(2)
            #expect(players[0].setRate(1, time: MediaTime(seconds: 9), atHostTime: moment))
            try await world.simulation.sleep(for: .seconds(1))
            #expect(players[0].currentTime() == MediaTime(seconds: 9))
            #expect(players[0].reasonForWaitingToPlay == .forCoordinatedPlayback)
            // The start of the other player is scheduled for a host time that has already passed.
            try await world.simulation.sleep(for: .seconds(4))
            #expect(players[0].currentTime() == MediaTime(seconds: 12) && players[0].timeControlStatus == .playing)
            #expect(players[1].setRate(1, time: MediaTime(seconds: 9), atHostTime: moment))
            try await world.simulation.sleep(for: .seconds(2))
            let difference = (players[0].currentTime() - players[1].currentTime()).seconds
            #expect(abs(difference) < 0.01, "\(difference)")
            #expect(players[1].currentTime() == MediaTime(seconds: 14))
        }
    }

    @Test func laterRateCancelsAScheduledStart() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let player = try Player(playerItem: world.item())
            #expect(!player.setRate(1, time: .zero, atHostTime: .zero), "it is not ready")
            #expect(await player.preroll(atRate: 1))
            #expect(player.setRate(1, time: MediaTime(seconds: 5), atHostTime: player.hostTime + .seconds(3)))
            player.pause()
            try await world.simulation.sleep(for: .seconds(6))
            #expect(player.rate == 0 && player.currentItem?.state.timebase.rate == 0)
            player.play()
            async let prepared = player.preroll(atRate: 1)
            #expect(await prepared == false, "it plays")
        }
    }

    @Test func seekCancelsAScheduledStart() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let player = try Player(playerItem: world.item())
            #expect(await player.preroll(atRate: 1))
            #expect(player.setRate(1, time: MediaTime(seconds: 5), atHostTime: player.hostTime + .seconds(30)))
            try await world.simulation.sleep(for: .seconds(1))
            #expect(player.reasonForWaitingToPlay == .forCoordinatedPlayback)
            await player.seek(to: MediaTime(seconds: 12))
            try await world.simulation.sleep(for: .seconds(2))
            #expect(player.timeControlStatus == .playing && player.currentTime() == MediaTime(seconds: 14))
        }
    }

    @Test func pauseCancelsAScheduledStartThatIsStillSeeking() async throws {
        try await PlayedOrigin(PlayedOrigin.film(), latency: .milliseconds(1_500)).run { world in
            let player = try Player(playerItem: world.item())
            #expect(await player.preroll(atRate: 1))
            #expect(player.setRate(1, time: MediaTime(seconds: 50), atHostTime: player.hostTime + .seconds(1)))
            try await world.simulation.sleep(for: .milliseconds(500))
            #expect(player.rate == 1, "that it stands until then is nobody's wish")
            player.pause()
            try await world.simulation.sleep(for: .seconds(10))
            #expect(player.rate == 0 && player.currentItem?.state.timebase.rate == 0)
        }
    }

    @Test func scheduledStartCompensatesForTheDurationOfItsSeek() async throws {
        try await PlayedOrigin(PlayedOrigin.film(), latency: .milliseconds(1_500)).run { world in
            let player = try Player(playerItem: world.item())
            #expect(await player.preroll(atRate: 1))
            let moment = player.hostTime + .milliseconds(500)
            #expect(player.setRate(1, time: MediaTime(seconds: 36), atHostTime: moment))
            await world.wait(for: player.states) { $0.playback.timebase.rate == 1 }
            try await world.simulation.sleep(for: .seconds(5))
            let position = MediaTime(seconds: 36) + MediaTime(player.hostTime - moment)
            #expect(abs((player.currentTime() - position).seconds) < 0.05)
        }
    }

    @Test func reversePlaybackStopsAtItsEndTime() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            #expect(await player.preroll(atRate: -1))
            item.reversePlaybackEndTime = MediaTime(seconds: 15)
            await player.seek(to: MediaTime(seconds: 20))
            let start = player.currentTime()
            #expect(start > MediaTime(seconds: 15) && player.setRate(-1))
            try await world.simulation.sleep(for: .seconds(12))
            #expect(abs(player.currentTime().seconds - 15) < 0.05)
            #expect(player.rate == 0)
        }
    }

    @Test func seekAfterTheEndResumesPlaybackWithoutAnActionAtTheEnd() async throws {
        try await PlayedOrigin(PlayedOrigin.film(count: 2)).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.actionAtItemEnd = .none
            player.play()
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
            try await world.simulation.sleep(for: .seconds(5))
            #expect(player.rate == 1)
            #expect(player.timeControlStatus == .paused)
            await player.seek(to: .zero)
            try await world.simulation.sleep(for: .seconds(3))
            #expect(item.currentTime() == MediaTime(seconds: 3))
            #expect(player.timeControlStatus == .playing)
        }
    }

    @Test func forwardPlaybackStopsAtItsEndTime() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let item = world.item()
            item.forwardPlaybackEndTime = MediaTime(seconds: 10)
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
            #expect(world.simulation.now == .seconds(10))
            #expect(player.currentTime() == MediaTime(seconds: 10))
            #expect(player.rate == 0)
        }
    }

    @Test func disabledTrackIsNotLoadedWhileOthersPlay() async throws {
        try await PlayedOrigin(PlayedOrigin.film(count: 20)).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.timebase.rate == 1 }
            try await world.simulation.sleep(for: .seconds(10))
            let audio = try #require(item.tracks.first { $0.mediaType == .audio })
            #expect(audio.canBeDisabled)
            #expect(item.tracks.first { $0.mediaType == .video }?.canBeDisabled == false)
            #expect(item.setEnabled(false, audio))
            #expect(item.tracks.first { $0.mediaType == .audio }?.isEnabled == false)
            try await world.simulation.sleep(for: .seconds(20))
            #expect(player.currentTime() == MediaTime(seconds: 30))
            #expect(!world.requestedMedia.contains("en8.ts"))
            #expect(item.setEnabled(true, audio))
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
            #expect(world.simulation.now == .seconds(120))
            #expect(world.requestedMedia.contains("en8.ts"))
        }
    }

    @Test func seekReachesAProgramDateTime() async throws {
        let start = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n"
        let segments = (0..<10).map { "#EXTINF:6,\ns\($0).ts\n" }.joined() + "#EXT-X-ENDLIST\n"
        var texts = [PlayedOrigin.origin + "main.m3u8": start + segments]
        for number in 0..<10 { texts[PlayedOrigin.origin + "s\(number).ts"] = "media" }
        try await PlayedOrigin(texts).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.timebase.rate == 1 }
            let date = try #require(item.currentDate())
            let landing = await player.seek(to: date.advanced(by: MediaTime(seconds: 33)))
            #expect(landing == SeekResult(isFinished: true, position: MediaTime(seconds: 33)))
            try await world.simulation.sleep(for: .seconds(2))
            #expect(item.currentDate() == date.advanced(by: MediaTime(seconds: 35)))
        }
    }

    @Test func seekToADateFailsWithoutProgramDateTimes() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let player = try Player(playerItem: world.item())
            await world.wait(for: player.states) { $0.playback.status == .readyToPlay }
            let landing = await player.seek(to: ProgramDateTime(sinceEpoch: MediaTime(seconds: 1_000_000)))
            #expect(landing == SeekResult(isFinished: false, position: .zero))
        }
    }

    @Test func periodicObserverIsCalledAtEachIntervalOfMediaTime() async throws {
        try await PlayedOrigin(PlayedOrigin.film(count: 2)).run { world in
            let player = try Player(playerItem: world.item())
            let reported = Collected<String>()
            let observer = player.addPeriodicTimeObserver(
                forInterval: MediaTime(seconds: 4),
                performing: { reported.add("\($0) at \(world.simulation.now)") }
            )
            player.setRate(2)
            await world.wait(for: player.states) { $0.playback.hasPlayedToEnd }
            try await world.simulation.sleep(for: .seconds(1))
            player.removeTimeObserver(observer)
            #expect(
                reported.all == [
                    "0 at 0.0 seconds", "4 at 2.0 seconds", "8 at 4.0 seconds", "12 at 6.0 seconds",
                ]
            )
        }
    }

    @Test func rateChangeOnSuspensionHasItsReason() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let player = try Player(playerItem: world.item())
            player.play()
            try await world.simulation.sleep(for: .seconds(5))
            let events = try await listening(to: player.events) { _ in
                player.applicationWillSuspend()
                try await world.simulation.sleep(for: .seconds(5))
            }
            let reasons = events.compactMap { event -> RateChange.Reason? in
                guard case .rateDidChange(let change) = event else { return nil }
                return change.reason
            }
            #expect(reasons == [.appBackgrounded])
            #expect(player.currentTime() == MediaTime(seconds: 5))
        }
    }

    @Test(arguments: [0.5, 2.0])
    func mediaTimeAdvancesAtTheRate(rate: Double) async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let player = try Player(playerItem: world.item())
            #expect(player.setRate(rate))
            await world.wait(for: player.states) { $0.timeControlStatus == .playing }
            let before = player.currentTime()
            try await world.simulation.sleep(for: .seconds(10))
            #expect(player.currentTime() - before == MediaTime(seconds: Int64(10 * rate)))
            #expect(player.rate == rate)
        }
    }

    @Test func pauseStopsThePlayhead() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let player = try Player(playerItem: world.item())
            player.play()
            await world.wait(for: player.states) { $0.timeControlStatus == .playing }
            try await world.simulation.sleep(for: .seconds(4))
            player.pause()
            #expect(player.timeControlStatus == .paused)
            try await world.simulation.sleep(for: .seconds(4))
            #expect(player.currentTime() == MediaTime(seconds: 4))
        }
    }

    @Test func seeksRespectTolerancesAndLaterOnesInterruptEarlierOnes() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let player = try Player(playerItem: world.item())
            await world.wait(for: player.states) { $0.playback.status == .readyToPlay }
            let target = try #require(MediaTime(decimal: "41.7"))
            async let first = player.seek(to: MediaTime(seconds: 50))
            async let second = player.seek(to: target, toleranceBefore: .zero, toleranceAfter: .zero)
            let landings = await [first, second]
            #expect(landings.count { $0.isFinished } == 1)
            let exact = await player.seek(to: target, toleranceBefore: .zero, toleranceAfter: .zero)
            #expect(exact == SeekResult(isFinished: true, position: target))
            let near = await player.seek(to: target)
            #expect(near == SeekResult(isFinished: true, position: MediaTime(seconds: 40)))
        }
    }

    @Test func pendingSeekIsInterruptedByAnotherSeekOrACancellation() async throws {
        try await PlayedOrigin(PlayedOrigin.film(count: 100), latency: .milliseconds(200)).run { world in
            let player = try Player(playerItem: world.item())
            player.play()
            await world.wait(for: player.states) { $0.timeControlStatus == .playing }
            async let first = player.seek(to: MediaTime(seconds: 300))
            try await world.simulation.sleep(for: .milliseconds(50))
            #expect(player.playback.isSeeking)
            async let second = player.seek(to: MediaTime(seconds: 400))
            let interrupted = await first
            #expect(!interrupted.isFinished)
            let finished = await second
            #expect(finished == SeekResult(isFinished: true, position: MediaTime(seconds: 400)))
            async let third = player.seek(to: MediaTime(seconds: 500))
            try await world.simulation.sleep(for: .milliseconds(50))
            player.cancelPendingSeeks()
            let cancelled = await third
            #expect(!cancelled.isFinished)
            try await world.simulation.sleep(for: .seconds(10))
            #expect(player.currentTime() < MediaTime(seconds: 420))
            #expect(player.timeControlStatus == .playing)
        }
    }

    @Test func slowNetworkStallsPlaybackAndTheStallIsReported() async throws {
        try await PlayedOrigin(PlayedOrigin.film(count: 10), latency: .seconds(8)).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.play()
            let notifications = try await listening(to: item.notifications) { _ in
                await world.wait(for: player.states) { $0.reasonForWaitingToPlay == .toMinimizeStalls }
                #expect(item.isPlaybackBufferEmpty)
                #expect(!item.isPlaybackLikelyToKeepUp)
                #expect(player.rate == 1)
                #expect(item.timebase.rate == 0)
                await world.wait(for: item.states) { $0.hasPlayedToEnd }
            }
            let stalls = notifications.count { $0 == .playbackStalled }
            #expect(stalls > 0)
            #expect(item.playbackMetrics?.stallCount == stalls)
        }
    }

    @Test func seekBeforePlaybackSetsTheStartPosition() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let item = world.item()
            let unplayed = await item.seek(to: MediaTime(seconds: 30))
            #expect(unplayed == SeekResult(isFinished: true, position: MediaTime(seconds: 30)))
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.timebase.rate == 1 }
            #expect(item.currentTime() == MediaTime(seconds: 30))
            #expect(world.requestedMedia.allSatisfy { !$0.hasSuffix("0.ts") })
        }
    }

    @Test func seekOfARemovedItemIsNotFinished() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            async let seek = player.seek(to: MediaTime(seconds: 30))
            await Task.yield()
            try player.replaceCurrentItem(with: nil)
            let landing = await seek
            #expect(!landing.isFinished)
            #expect(player.currentItem == nil)
        }
    }

    @Test func missingStreamFailsWithTheHTTPStatus() async throws {
        try await PlayedOrigin([:]).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.status == .failed }
            #expect(item.error?.status == 404)
            #expect(item.errorLog.events.map(\.errorStatusCode) == [404])
            #expect(player.status == .unknown)
            #expect(player.rate == 0)
        }
    }

    @Test func selectedLanguageReplacesBufferedAudioWithoutInterruption() async throws {
        try await PlayedOrigin(PlayedOrigin.film(count: 20)).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.timebase.rate == 1 }
            try await world.simulation.sleep(for: .seconds(10))
            let group = try #require(item.mediaSelectionGroup(for: .audible))
            #expect(item.currentMediaSelection[.audio]?.language == "en")
            item.select(group.options.first { $0.language == "ko" }, in: group)
            #expect(item.currentMediaSelection[.audio]?.language == "ko")
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
            #expect(world.requestedMedia.first { $0.hasPrefix("ko") } == "ko1.ts")
            #expect(world.simulation.now == .seconds(120))
        }
    }

    @Test func selectedVideoReplacesBufferedVideo() async throws {
        var texts = [
            PlayedOrigin.origin + "main.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="Main",DEFAULT=YES,AUTOSELECT=YES
            #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="Goal",URI="goal.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=640x360,VIDEO="v"
            wide.m3u8
            """
        ]
        for name in ["wide", "goal"] {
            texts["\(PlayedOrigin.origin)\(name).m3u8"] = PlayedOrigin.media(name, count: 20)
            for index in 0..<20 { texts["\(PlayedOrigin.origin)\(name)\(index).ts"] = "media" }
        }
        try await PlayedOrigin(texts).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.timebase.rate == 1 }
            try await world.simulation.sleep(for: .seconds(10))
            let group = try #require(item.mediaSelectionGroup(for: .visual))
            #expect(item.currentMediaSelection[.video]?.name == "Main")
            item.select(group.options.first { $0.name == "Goal" }, in: group)
            #expect(item.currentMediaSelection[.video]?.name == "Goal")
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
            #expect(world.requestedMedia.filter { $0.hasPrefix("goal") } == (1..<20).map { "goal\($0).ts" })
            #expect(player.rate == 0)
        }
    }

    @Test(arguments: ["one", "two"]) func playbackUsesThePathwayOfTheSteeringManifest(pathway: String) async throws {
        let steering = "\(PlayedOrigin.origin)steering.json?_HLS_pathway=%22two%22"
        var texts = [
            steering: "{\"VERSION\":1,\"PATHWAY-PRIORITY\":[\"\(pathway)\"]}",
            PlayedOrigin.origin + "main.m3u8": """
            #EXTM3U
            #EXT-X-CONTENT-STEERING:SERVER-URI="steering.json",PATHWAY-ID="two"
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=640x360,PATHWAY-ID="one"
            one.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=640x360,PATHWAY-ID="two"
            two.m3u8
            """,
        ]
        for name in ["one", "two"] {
            texts["\(PlayedOrigin.origin)\(name).m3u8"] = PlayedOrigin.media(name, count: 3)
            for index in 0..<3 { texts["\(PlayedOrigin.origin)\(name)\(index).ts"] = "media" }
        }
        try await PlayedOrigin(texts).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
            // Playback begins with the initial pathway while the manifest is loaded.
            #expect(world.transport.requestedAddresses.contains(steering))
            #expect(world.transport.requestedAddresses.contains("\(PlayedOrigin.origin)two.m3u8"))
            #expect(world.requestedMedia.suffix(2) == ["\(pathway)1.ts", "\(pathway)2.ts"])
            #expect(world.requestedMedia.count == 3)
            #expect(item.errorLog.events.isEmpty && player.rate == 0)
        }
    }

    @Test func selectionsBeforePlaybackAreRespected() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let item = world.item()
            let group = try #require(try await item.asset.loadMediaSelectionGroup(for: .audible))
            item.select(group.options.first { $0.language == "ko" }, in: group)
            item.preferredPeakBitRate = BitRate(bitsPerSecond: 1_000_000)
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
            #expect(world.requestedMedia.contains("ko9.ts"))
            #expect(!world.requestedMedia.contains("en9.ts"))
            #expect(!world.requestedMedia.contains { $0.hasPrefix("high") })
        }
    }

    @Test func liveStreamHasASeekableWindowAndNoDuration() async throws {
        let texts = [PlayedOrigin.origin + "main.m3u8": PlayedOrigin.media("s", count: 10, ended: false)]
        let segments = (0..<10).map { (PlayedOrigin.origin + "s\($0).ts", "media \($0)") }
        try await PlayedOrigin(texts.merging(segments) { old, _ in old }).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            await world.wait(for: item.states) { $0.status == .readyToPlay }
            #expect(item.playbackType == .live)
            #expect(item.duration == nil)
            #expect(item.seekableTimeRanges.ranges.first?.start == .zero)
            #expect(item.recommendedTimeOffsetFromLive == MediaTime(seconds: 18))
            #expect(player.currentTime() > MediaTime(seconds: 30))
        }
    }

    @Test func headerFieldsAreSentWithEveryRequest() async throws {
        try await PlayedOrigin(PlayedOrigin.film(count: 2)).run { world in
            let item = world.item(options: AssetOptions(headerFields: ["X-Token": "1"]))
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: player.states) { $0.playback.hasPlayedToEnd }
            #expect(world.transport.requests.count > 4)
            #expect(world.transport.requests.allSatisfy { $0.allHeaders.contains(HeaderField("X-Token", "1")) })
        }
    }

    @Test func loadingEndsWithThePlayer() async throws {
        try await PlayedOrigin(PlayedOrigin.film(count: 100)).run { world in
            var player: Player? = try Player(playerItem: world.item())
            player?.play()
            try await world.simulation.sleep(for: .seconds(20))
            let asked = world.transport.requests.count
            weak let gone = player
            player = nil
            try await world.simulation.sleep(for: .seconds(100))
            #expect(gone == nil)
            #expect(asked > 4)
            #expect(world.transport.requests.count == asked)
        }
    }

    @Test func twoPlayersPlayOneAssetWithDifferentLanguages() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let asset = world.item().asset
            let items = [PlayerItem(asset: asset), PlayerItem(asset: asset)]
            let players = try items.map { try Player(playerItem: $0) }
            await world.wait(for: items[1].states) { $0.status == .readyToPlay }
            let group = try #require(items[1].mediaSelectionGroup(for: .audible))
            items[1].select(group.options[1], in: group)
            for player in players { player.play() }
            for item in items { await world.wait(for: item.states) { $0.hasPlayedToEnd } }
            #expect(items.map { $0.currentMediaSelection[.audio]?.language } == ["en", "ko"])
            #expect(world.simulation.now == .seconds(60))
        }
    }
}
