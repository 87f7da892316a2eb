import MediaTiming
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Synchronization
import Testing

@testable import Millstream

/// Tests of a pipeline that loses its decoder, or cannot decode its media, during playback.
@Suite struct DecoderLossTests {
    /// Plays a stream until its item fails, with a pipeline that accepts the first segments of video only.
    private func playUntilFailure(
        _ error: MediaPipelineError,
        _ body: @escaping @Sendable (Player, PlayerItem, [PlayerItem.Notification]) throws -> Void
    ) async throws {
        let world = PlayedOrigin(PlayedOrigin.film())
        let simulation = world.simulation
        var environment = world.environment
        environment.makePipeline = { FailingPipeline(accepting: 3, then: error, time: simulation) }
        let asset = Asset(.init(PlayedOrigin.origin + "main.m3u8"), environment: environment)
        try await world.run { [asset] world in
            let item = PlayerItem(asset: asset)
            let player = try Player(playerItem: item)
            let notifications = try await listening(to: item.notifications) { _ in
                player.play()
                await world.wait(for: item.states) { $0.status == .failed }
                try await simulation.sleep(for: .seconds(1))
            }
            try body(player, item, notifications)
        }
    }

    @Test func lostDecoderFailsThePlayerDuringPlayback() async throws {
        try await playUntilFailure(MediaPipelineError(.deviceLost, "decoder gone")) { player, item, notifications in
            #expect(item.status == .failed && item.error?.number == -11_819)
            #expect(player.status == .failed && player.error?.code == .mediaServicesLost && player.rate == 0)
            #expect(notifications.count { if case .failedToPlayToEnd = $0 { true } else { false } } == 1)
            let entry = try #require(item.errorLog.events.last)
            #expect(entry.errorStatusCode == -11_819 && entry.errorComment?.contains("decoder gone") == true)
        }
    }

    @Test func mediaThatCannotBeDecodedFailsTheItemAndNotThePlayer() async throws {
        try await playUntilFailure(MediaPipelineError(.notDecodable, "no frame")) { player, item, notifications in
            #expect(item.status == .failed && item.error?.number == -11_821)
            #expect(player.status != .failed && player.rate == 0)
            #expect(notifications.count { if case .failedToPlayToEnd = $0 { true } else { false } } == 1)
            // The media before the failure was played.
            #expect(item.currentTime() >= MediaTime(seconds: 12))
        }
    }
}

/// A pipeline that refuses video after a number of segments.
private final class FailingPipeline: MediaPipeline {
    private let base: NonDecodingPipeline
    private let remaining: Mutex<Int>
    private let error: MediaPipelineError

    init(accepting count: Int, then error: MediaPipelineError, time: any TimeSource) {
        base = NonDecodingPipeline(time: time)
        remaining = Mutex(count)
        self.error = error
    }

    func canDecode(_ codecs: [String]) -> Bool { true }

    func append(_ segment: PipelineSegment) async throws -> MediaTimeRange {
        if segment.type != .audio {
            let isAccepted = remaining.withLock { remaining in
                remaining -= 1
                return remaining >= 0
            }
            guard isAccepted else { throw error }
        }
        return try await base.append(segment)
    }

    func discard(_ type: MediaType, in range: MediaTimeRange) async { await base.discard(type, in: range) }

    func seek(to time: MediaTime, tolerance: SeekTolerance) async throws -> MediaTime {
        try await base.seek(to: time, tolerance: tolerance)
    }

    func setRate(_ rate: Double, at time: Duration?) async { await base.setRate(rate, at: time) }

    var timebase: Timebase { base.timebase }
    var frameCounts: FrameCounts { base.frameCounts }
    var events: AsyncStream<MediaPipelineEvent> { base.events }

    func close() async { await base.close() }
}
