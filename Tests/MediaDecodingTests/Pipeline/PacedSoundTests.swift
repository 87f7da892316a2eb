import Foundation
import MediaOutput
import MediaTiming
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Testing

@testable import MediaDecoding

/// Tests playback that follows the clock of an audio device.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: SampleStreams.areAvailable, "the sample streams were not made: run Scripts/make-samples")
)
struct PacedSoundTests {
    /// A clock that is slightly fast or slow, like those of devices.
    private struct DriftingClock: TimeSource {
        let base: Simulation
        let permille: Int64

        var now: Duration { base.now + base.now / 1000 * Int(permille) }
        func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
    }

    private func end(
        _ playlist: String,
        replacing replacements: [String: [UInt8]] = [:],
        permille: Int64 = 0
    ) async throws -> (DecodedStream, Duration) {
        let stream = try DecodedStream(
            playlist,
            in: try #require(SampleStreams.directory),
            replacing: replacements,
            device: { SilentAudioOutput(time: DriftingClock(base: $0, permille: permille)) }
        )
        try await stream.run {
            await stream.engine.setRate(1)
            try await stream.wait { $0.hasPlayedToEnd }
        }
        return (stream, stream.simulation.now)
    }

    @Test(arguments: [-2, 0, 2]) func playbackFollowsTheClockOfTheDevice(permille: Int64) async throws {
        let (stream, end) = try await end("ts/180p/media.m3u8", permille: permille)
        let frames = stream.shown.all.compactMap { $0.reading?.frame }
        #expect(frames == Array(0..<2160))
        let expected = 72.0 * (1 - Double(permille) / 1000)
        #expect(abs(end / .seconds(1) - expected) < 0.15, "\(end)")
    }

    /// Audio that ends before the video must not stop the video.
    @Test func videoContinuesAfterTheEndOfTheAudio() async throws {
        let folder = try #require(SampleStreams.directory)
        let text = try String(contentsOf: folder.appendingPathComponent("fmp4/audio-en/media.m3u8"), encoding: .utf8)
        var lines = text.split(separator: "\n").map(String.init)
        let half = try #require(lines.firstIndex { $0.hasPrefix("5.") || $0.hasSuffix("/5.m4s") })
        lines = lines[...half] + ["#EXT-X-ENDLIST", ""]
        let (stream, end) = try await end(
            "fmp4/multivariant.m3u8",
            replacing: ["fmp4/audio-en/media.m3u8": Array(lines.joined(separator: "\n").utf8)]
        )
        #expect(stream.shown.all.count == 1800)
        #expect(abs(end / .seconds(1) - 60) < 0.15, "\(end)")
    }
}
