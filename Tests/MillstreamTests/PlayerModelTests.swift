import MediaTiming
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Testing

@testable import Millstream

@Suite struct PlayerModelTests {
    @Test(.timeLimit(.minutes(10))) @MainActor func modelFollowsTheStateOfThePlayer() async throws {
        let world = World()
        let player = try Player(playerItem: world.item("a"))
        let model = PlayerModel(player)
        #expect(!model.canPlay)
        #expect(!model.isPlaying)
        async let following: Void = model.run(every: MediaTime(seconds: 1))
        try await world.simulation.run {
            try await world.sleep(.seconds(2))
            player.play()
            try await world.sleep(.milliseconds(3_500))
            player.pause()
        }
        // The model may still have the state before playback, in which it is paused too.
        while model.isPlaying || model.currentTime != MediaTime(value: 7, timescale: 2) { await Task.yield() }
        #expect(model.canPlay)
        #expect(model.duration == MediaTime(seconds: 10))
        #expect(!model.hasFailed)
        try await world.simulation.run {
            try player.replaceCurrentItem(with: nil)
            try await world.sleep(.seconds(1))
        }
        while model.canPlay { await Task.yield() }
        player.hub.finish()
        await following
    }
}
