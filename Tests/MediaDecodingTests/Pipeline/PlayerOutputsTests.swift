import Foundation
import MediaOutput
import MediaTiming
import MediaTransport
import Millstream
import MillstreamTesting
import ResourceAddressing
import StreamingEngine
import Synchronization
import Testing

@testable import MediaDecoding

/// Tests the outputs of a player of the public API.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: SampleStreams.areAvailable, "the sample streams were not made: run Scripts/make-samples")
)
struct PlayerOutputsTests {
    private static func environment(_ outputs: PlayerOutputs, _ simulation: Simulation) throws -> Player.Environment {
        let folder = try #require(SampleStreams.directory)
        var environment = Player.Environment.decoding(for: outputs)
        environment.time = simulation
        environment.decodingExecutor = simulation.actorExecutor
        environment.makeLoading = { _, _ in
            ResourceLoader(FolderTransport(folder: folder, time: simulation), time: simulation, jitter: { 0 })
        }
        environment.network = NetworkStatus()
        return environment
    }

    private static let address = ResourceAddress(FolderTransport.origin + "ad/240p/media.m3u8")

    @Test func environmentDeterminesWhetherThePlayerHasOutputs() throws {
        #expect(Player().outputs != nil && Player().outputs !== Player().outputs)
        #expect(Player(environment: .withoutDecoding).outputs == nil)
        var custom = Player.Environment.standard
        custom.makePipeline = { NonDecodingPipeline(time: SystemTimeSource()) }
        #expect(Player(environment: custom).outputs == nil)
        let outputs = PlayerOutputs(audio: .none)
        let player = Player(environment: .decoding(for: outputs))
        #expect(player.outputs === outputs && player.interstitialController.interstitialPlayer.outputs === outputs)
    }

    @Test func recorderAndAttachedOutputReceiveTheSameFrames() async throws {
        let simulation = Simulation()
        let (recorder, screen) = (RecordedFrames(simulation), RecordedFrames(simulation))
        let audio = RecordedAudio()
        let outputs = PlayerOutputs(audio: .output(audio), recorder: recorder)
        try outputs.video.attach(screen)
        let environment = try Self.environment(outputs, simulation)
        try await simulation.run {
            let player = Player(Self.address, environment: environment)
            player.play()
            for await state in player.states where state.currentItem?.hasPlayedToEnd == true { break }
            await player.shutDown()
        }
        #expect(recorder.all.map(\.time) == screen.all.map(\.time) && recorder.all.count >= 600)
        #expect(!audio.all.isEmpty)
    }

    /// An output that fails, such as a file on a full disk, makes the player fail.
    @Test func playerFailsWithItsPipeline() async throws {
        let simulation = Simulation()
        let recorder = FailingVideoOutput(after: 30)
        let environment = try Self.environment(PlayerOutputs(audio: .none, recorder: recorder), simulation)
        try await simulation.run {
            let player = Player(Self.address, environment: environment)
            let item = try #require(player.currentItem)
            player.play()
            for await state in player.states where state.status == .failed { break }
            #expect(player.error?.code == .mediaServicesLost && item.status == .failed && player.rate == 0)
            #expect(player.error?.message.contains("the decoder is lost") == true, "\(player.error?.message ?? "")")
            await player.shutDown()
        }
    }

    @Test func pipelineThatCannotBeCreatedFailsThePlayer() async throws {
        let simulation = Simulation()
        let outputs = PlayerOutputs(audio: .output(UnavailableAudioOutput()))
        let environment = try Self.environment(outputs, simulation)
        try await simulation.run {
            let player = Player(Self.address, environment: environment)
            let item = try #require(player.currentItem)
            let kinds = Mutex<[String]>([])
            item.addEventObserver { event, session in
                #expect(session.id == item.playbackSession?.id)
                kinds.withLock { $0.append("\(event.kind)".prefix { $0 != "(" }.description) }
            }
            for await state in player.states where state.status == .failed { break }
            #expect(player.error?.code == .mediaServicesLost && item.error?.cause is MediaPipelineError)
            await player.shutDown()
            #expect(kinds.withLock { $0 } == ["error", "statusChanged", "ended"])
        }
    }
}

/// A video output that fails after some frames.
private final class FailingVideoOutput: VideoOutput {
    private let remaining: Mutex<Int>

    init(after count: Int) { remaining = Mutex(count) }

    func show(_ frame: VideoFrame) throws {
        let isLost = remaining.withLock { remaining in
            remaining -= 1
            return remaining < 0
        }
        if isLost { throw MediaPipelineError(.deviceLost, "the decoder is lost") }
    }
}

/// An audio output that cannot be opened.
private struct UnavailableAudioOutput: AudioOutput {
    func start(_ format: AudioFormat) throws -> AudioFormat { throw MediaPipelineError(.deviceLost, "no device") }
    func enqueue(_ samples: AudioSamples) {}
    var queuedDuration: Duration { .zero }
    var underrunDuration: Duration { .zero }
    var isRealTime: Bool { false }
    func flush() {}
    func pause() {}
    func resume() {}
    func setVolume(_ volume: Double, isMuted: Bool) {}
    func finish() {}
}
