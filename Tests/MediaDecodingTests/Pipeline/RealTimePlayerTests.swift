import Foundation
import MediaOutput
import MediaTiming
import Millstream
import MillstreamTesting
import Testing

@testable import MediaDecoding

/// Tests a player that decodes in real time, which runs while no other test keeps the cores busy.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: SampleStreams.areAvailable, "the sample streams were not made: run Scripts/make-samples")
)
struct RealTimePlayerTests {
    /// With the audio device of the machine if there is one.
    @Test func playerDecodesByDefault() async throws {
        let file = try #require(SampleStreams.directory).appendingPathComponent("ad/multivariant.m3u8")
        let player = Player(url: file)
        let outputs = try #require(player.outputs)
        #expect(!outputs.video.isReadyForDisplay)
        let (frames, continuation) = AsyncStream.makeStream(of: MediaTime.self)
        try outputs.video.attach(CallbackVideoOutput { frame in continuation.yield(frame.time) })
        player.play()
        let item = try #require(player.currentItem)
        var shown: [MediaTime] = []
        for await time in frames {
            shown.append(time)
            if shown.count == 6 { break }
        }
        #expect(shown == shown.sorted() && Set(shown).count == 6)
        #expect(item.error == nil && item.playedVariant != nil)
        // The counts are reported less often than frames.
        for await state in item.states where state.frameCounts.decoded >= 6 { break }
        await player.shutDown()
        #expect(player.currentItem == nil)
    }
}
