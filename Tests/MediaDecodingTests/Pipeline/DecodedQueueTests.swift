import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import MediaDecoding
@testable import Millstream

/// Tests items of a player that share outputs.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: SampleStreams.areAvailable, "the sample streams were not made: run Scripts/make-samples")
)
struct DecodedQueueTests {
    private struct Stage {
        let simulation = Simulation()
        let stack: VideoOutputStack
        let audio = RecordedAudio()
        let environment: Player.Environment

        init() throws {
            let (simulation, folder) = (simulation, try #require(SampleStreams.directory))
            let outputs = PlayerOutputs(audio: .output(audio))
            stack = outputs.video
            var environment = Player.Environment.decoding(for: outputs)
            environment.time = simulation
            environment.decodingExecutor = simulation.actorExecutor
            environment.makeLoading = { _, _ in
                ResourceLoader(FolderTransport(folder: folder, time: simulation), time: simulation, jitter: { 0 })
            }
            environment.network = NetworkStatus()
            environment.makeSessionID = { "session" }
            environment.date = { simulation.now }
            self.environment = environment
        }

        /// An interstitial event at eight seconds.
        static var advertisement: InterstitialEvent {
            let address = ResourceAddress(FolderTransport.origin + "ad/540p/media.m3u8")
            return InterstitialEvent(id: "ad", at: MediaTime(seconds: 8), .address(address))
        }

        func item(_ path: String) -> PlayerItem {
            PlayerItem(ResourceAddress(FolderTransport.origin + path), environment: environment)
        }

        func wait(for item: PlayerItem, _ condition: @Sendable (PlayerItem.State) -> Bool) async {
            for await state in item.states where condition(state) { return }
        }
    }

    @Test func nextItemPlaysWithoutAGap() async throws {
        let stage = try Stage()
        let screen = RecordedFrames(stage.simulation)
        try stage.stack.attach(screen)
        try await stage.simulation.run {
            let items = [stage.item("ad/240p/media.m3u8"), stage.item("ad/540p/media.m3u8")]
            let player = try QueuePlayer(items: items, environment: stage.environment)
            player.play()
            await stage.wait(for: items[1]) { $0.hasPlayedToEnd }
        }
        let shown = screen.all
        #expect(shown.map { $0.reading?.variant } == Array(repeating: 0, count: 600) + Array(repeating: 1, count: 600))
        #expect(shown.map { $0.reading?.frame } == Array(0..<600) + Array(0..<600))
        let gaps = zip(shown, shown.dropFirst()).map { $1.shownAt - $0.shownAt }
        #expect(gaps.allSatisfy { $0 < .milliseconds(68) }, "\(gaps.max() ?? .zero)")
    }

    @Test func newestOutputReceivesTheFrames() async throws {
        let stage = try Stage()
        let screens = [RecordedFrames(stage.simulation), RecordedFrames(stage.simulation)]
        #expect(!stage.stack.isReadyForDisplay)
        try stage.stack.attach(screens[0])
        try await stage.simulation.run {
            let item = stage.item("ts/180p/media.m3u8")
            let player = try Player(playerItem: item)
            #expect(!stage.stack.isReadyForDisplay)
            await stage.wait(for: item) { $0.status == .readyToPlay }
            try await stage.simulation.sleep(for: .milliseconds(100))
            #expect(stage.stack.isReadyForDisplay && screens[0].all.count == 1)
            player.play()
            try await stage.simulation.sleep(for: .seconds(1))
            let attachment = try stage.stack.attach(screens[1])
            let before = screens[0].all.count
            try await stage.simulation.sleep(for: .seconds(1))
            #expect(screens[0].all.count == before && screens[1].all.count >= 30)
            try stage.stack.detach(attachment)
            try await stage.simulation.sleep(for: .seconds(1))
            #expect(screens[0].all.count > before + 28)
        }
    }

    @Test func muxedAudioTrackCanBeDisabled() async throws {
        let stage = try Stage()
        let screen = RecordedFrames(stage.simulation)
        try stage.stack.attach(screen)
        try await stage.simulation.run {
            let item = stage.item("ts/180p/media.m3u8")
            let player = try Player(playerItem: item)
            player.play()
            await stage.wait(for: item) { $0.timebase.rate == 1 }
            let audio = try #require(item.state.tracks.first { $0.mediaType == .audio })
            #expect(audio.canBeDisabled && audio.isEnabled)
            #expect(item.setEnabled(false, audio))
            try await stage.simulation.sleep(for: .seconds(5))
            #expect(item.state.tracks.first { $0.mediaType == .audio }?.isEnabled == false)
            #expect(screen.all.count > 140)
        }
        let late = stage.audio.all.filter { $0.time > MediaTime(seconds: 1) }
        #expect(!late.isEmpty && late.allSatisfy { $0.samples.allSatisfy { $0 == 0 } })
    }

    @Test func audioMixControlsTheVolumeOverTime() async throws {
        let stage = try Stage()
        try await stage.simulation.run {
            let item = stage.item("ts/180p/media.m3u8")
            item.audioMix.setVolume(0, at: MediaTime(seconds: 2))
            item.audioMix.setVolume(1, at: MediaTime(seconds: 5))
            let player = try Player(playerItem: item)
            player.play()
            await stage.wait(for: item) { $0.timebase.rate == 1 }
            try await stage.simulation.sleep(for: .seconds(9))
        }
        func loudest(_ start: Int64, _ end: Int64) -> Float {
            stage.audio.all.filter { $0.time >= MediaTime(seconds: start) && $0.end <= MediaTime(seconds: end) }
                .flatMap(\.samples).reduce(0) { max($0, abs($1)) }
        }
        #expect(loudest(2, 5) == 0)
        #expect(loudest(0, 2) > 0.05 && loudest(5, 8) > 0.05)
    }

    @Test func volumeOfThePlayerAppliesToAllItsItems() async throws {
        let stage = try Stage()
        try await stage.simulation.run {
            let items = [stage.item("ad/240p/media.m3u8"), stage.item("ad/540p/media.m3u8")]
            let player = try QueuePlayer(items: items, environment: stage.environment)
            player.volume = 0.5
            player.play()
            await stage.wait(for: items[0]) { $0.timebase.rate == 1 }
            #expect(stage.audio.loudness == (0.5, false))
            player.isMuted = true
            await stage.wait(for: items[1]) { $0.hasPlayedToEnd }
            #expect(stage.audio.loudness == (0.5, true))
            player.volume = .nan
            #expect(player.volume == 0)
            // The settings of an earlier player do not apply to a new one.
            let next = try Player(playerItem: stage.item("ad/240p/media.m3u8"), environment: stage.environment)
            await stage.wait(for: try #require(next.currentItem)) { $0.status == .readyToPlay }
            #expect(stage.audio.loudness == (1, false))
        }
    }

    @Test func pausedItemStepsByFrames() async throws {
        let stage = try Stage()
        let screen = RecordedFrames(stage.simulation)
        try stage.stack.attach(screen)
        try await stage.simulation.run {
            let item = stage.item("ts/180p/media.m3u8")
            let player = try Player(playerItem: item)
            await stage.wait(for: item) { $0.status == .readyToPlay }
            #expect(item.state.canStepForward && item.state.canPlayReverse)
            for count in [5, -2] {
                item.step(byCount: count)
                try await stage.simulation.sleep(for: .seconds(1))
            }
            #expect(screen.all.map { $0.reading?.frame } == [0, 5, 3])
            withExtendedLifetime(player) {}
        }
    }

    /// An interstitial is displayed and heard in place of the item, which resumes at the frame where it was
    /// interrupted.
    @Test func interstitialIsDisplayedBetweenTheFramesOfTheItem() async throws {
        let stage = try Stage()
        let screen = RecordedFrames(stage.simulation)
        try stage.stack.attach(screen)
        try await stage.simulation.run {
            let item = stage.item("ts/180p/media.m3u8")
            item.forwardPlaybackEndTime = MediaTime(seconds: 12)
            let player = try Player(playerItem: item)
            var event = Stage.advertisement
            event.resumptionOffset = .zero
            event.playoutLimit = MediaTime(seconds: 5)
            player.interstitialController.schedule([event])
            player.play()
            await stage.wait(for: item) { $0.hasPlayedToEnd }
        }
        let shown = screen.all
        let parts = shown.reduce(into: [[Int]]()) { parts, frame in
            let index = frame.reading?.frame ?? -1
            let isAdvertisement = frame.reading?.variant != shown[0].reading?.variant
            if parts.isEmpty || (parts.count == 2) != isAdvertisement { parts.append([]) }
            parts[parts.count - 1].append(index)
        }
        #expect(parts == [Array(0..<240), Array(0..<150), Array(240..<360)])
        let gaps = zip(shown, shown.dropFirst()).map { $1.shownAt - $0.shownAt }
        #expect(gaps.allSatisfy { $0 < .milliseconds(68) }, "\(gaps.max() ?? .zero)")
    }

    /// A preloaded interstitial is not audible, and does not change the volume of the output.
    @Test func mutedPlayerRemainsMuted() async throws {
        let stage = try Stage()
        try await stage.simulation.run {
            let item = stage.item("ts/180p/media.m3u8")
            item.forwardPlaybackEndTime = MediaTime(seconds: 12)
            let player = try Player(playerItem: item)
            var event = Stage.advertisement
            event.playoutLimit = MediaTime(seconds: 2)
            let controller = player.interstitialController
            controller.schedule([event])
            player.isMuted = true
            player.volume = 0.5
            player.play()
            await stage.wait(for: item) { $0.timebase.rate == 1 }
            for _ in 0..<100 {
                try await stage.simulation.sleep(for: .milliseconds(100))
                #expect(stage.audio.loudness.isMuted && stage.audio.loudness.volume == 0.5)
            }
            #expect(controller.interstitialPlayer.volume == 0.5 && controller.interstitialPlayer.isMuted)
            player.isMuted = false
            await stage.wait(for: item) { $0.hasPlayedToEnd }
            #expect(!stage.audio.loudness.isMuted)
        }
    }

    /// When an interstitial is paused and canceled, the output displays the frame of the item at its current time,
    /// instead of black.
    @Test func pausedItemIsDisplayedAgain() async throws {
        let stage = try Stage()
        let screen = RecordedFrames(stage.simulation)
        try stage.stack.attach(screen)
        try await stage.simulation.run {
            let item = stage.item("ts/180p/media.m3u8")
            let player = try Player(playerItem: item)
            var event = Stage.advertisement
            event.resumptionOffset = .zero
            let controller = player.interstitialController
            controller.schedule([event])
            player.play()
            for await state in controller.interstitialPlayer.states where state.timeControlStatus == .playing { break }
            try await stage.simulation.sleep(for: .seconds(2))
            player.pause()
            controller.cancelCurrentEvent()
            try await stage.simulation.sleep(for: .seconds(1))
            #expect(controller.currentEvent == nil && item.timebase.rate == 0)
        }
        let shown = screen.all
        #expect(
            shown.last?.reading?.frame == 240,
            "\(shown.suffix(3).map { ($0.reading?.variant ?? -1, $0.reading?.frame ?? -1) })"
        )
        #expect(shown.last?.reading?.variant == shown.first?.reading?.variant)
    }
}
