import Foundation
import MediaTiming
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Testing

@testable import MediaDecoding

/// Tests trick play with an I-frame playlist (RFC 8216bis §4.4.3.6), and the return to normal speed.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: SampleStreams.areAvailable, "the sample streams were not made: run Scripts/make-samples")
)
struct FastMotionTests {
    private func stream(replacing replacements: [String: [UInt8]] = [:]) throws -> DecodedStream {
        var options = StreamingOptions()
        // Limit the forward buffer, so that little is loaded before trick play starts.
        options.preferredForwardBufferDuration = .seconds(6)
        return try DecodedStream(
            "ts/multivariant.m3u8",
            in: try #require(SampleStreams.directory),
            replacing: replacements,
            options: options
        )
    }

    /// Returns the segments that were loaded since the event with the given index.
    private func fetched(_ stream: DecodedStream, since first: Int) -> [LoadedSegment] {
        stream.events.dropFirst(first).compactMap { event in
            guard case .segmentLoaded(let segment) = event.kind else { return nil }
            return segment
        }
    }

    @Test func onlyIFramesAreFetchedDuringTrickPlay() async throws {
        let stream = try stream()
        try await stream.run {
            await stream.engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(2))
            let (events, frames) = (stream.events.count, stream.shown.all.count)
            await stream.engine.setRate(8)
            try await stream.simulation.sleep(for: .seconds(5))
            let scanned = fetched(stream, since: events)
            #expect(scanned.count >= 8)
            #expect(scanned.allSatisfy { $0.address.contains("iframe") && $0.mediaType == .video })
            let pictures = stream.shown.all.dropFirst(frames)
            // All frames start a group of 60 frames, and no group is skipped during trick play.
            let numbers = pictures.compactMap(\.reading?.frame).filter { $0 > 75 }
            #expect(numbers.count > 12 && numbers.allSatisfy { $0 % 60 == 0 }, "\(numbers)")
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 - $0 == 60 }, "\(numbers)")
            #expect(
                zip(numbers, pictures.suffix(numbers.count)).allSatisfy {
                    $1.time == MediaTime(value: Int64($0), timescale: 30)
                }
            )
            let back = stream.events.count
            await stream.engine.setRate(1)
            let position = stream.engine.snapshot.timebase.mediaTime(at: stream.simulation.now)
            #expect(position > MediaTime(seconds: 40) && position < MediaTime(seconds: 44))
            let count = stream.shown.all.count
            try await stream.wait { $0.hasPlayedToEnd }
            #expect(fetched(stream, since: back).allSatisfy { !$0.address.contains("iframe") })
            // The frame that is displayed already is displayed once more from the variant.
            let all = stream.shown.all.dropFirst(count).compactMap(\.reading?.frame)
            let first = try #require(all.first)
            let rest = Array(all.drop { $0 == first })
            #expect(abs(first - Int(position.seconds * 30)) <= 2)
            // From there, every frame up to the last one is displayed.
            #expect(rest == Array((first + 1)..<2160))
        }
        let kinds = stream.events.map(\.kind.name)
        #expect(!kinds.contains("seek") && !kinds.contains("seekEnd") && !kinds.contains("error"))
        #expect(kinds.count { $0 == "timeJump" } == 1)
        #expect(kinds.count { $0 == "trackChange" } == 1)
    }

    @Test func onlyIFramesAreFetchedDuringReverseTrickPlay() async throws {
        let stream = try stream()
        try await stream.run {
            try await stream.wait { $0.status == .readyToPlay }
            _ = await stream.engine.seek(to: MediaTime(seconds: 60), tolerance: .exact)
            let (events, frames) = (stream.events.count, stream.shown.all.count)
            await stream.engine.setRate(-8)
            try await stream.simulation.sleep(for: .seconds(5))
            let position = stream.engine.snapshot.timebase.mediaTime(at: stream.simulation.now)
            #expect(position > MediaTime(seconds: 18) && position < MediaTime(seconds: 24))
            #expect(fetched(stream, since: events).allSatisfy { $0.address.contains("iframe") })
            let numbers = stream.shown.all.dropFirst(frames).compactMap(\.reading?.frame)
            #expect(numbers.count > 15 && numbers.allSatisfy { $0 % 60 == 0 })
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 - $1 == 60 }, "\(numbers)")
            await stream.engine.setRate(0)
            try await stream.wait { $0.timebase.rate == 0 && $0.isPlaybackLikelyToKeepUp }
            let stopped = stream.engine.snapshot.timebase.mediaTime(at: stream.simulation.now)
            // The exact frame of that time is displayed, not the nearest I-frame.
            #expect(stream.shown.all.last?.reading?.frame == Int(stopped.seconds * 30))
        }
    }

    @Test func iFramesAreSkippedAtTheHighestRate() async throws {
        let stream = try stream()
        try await stream.run {
            try await stream.wait { $0.status == .readyToPlay }
            let events = stream.events.count
            await stream.engine.setRate(32)
            try await stream.wait { $0.hasPlayedToEnd }
            // The playlist lists 36 I-frames; eight per second of real time are sufficient.
            let pictures = fetched(stream, since: events).filter { $0.address.contains("iframe") }
            #expect(pictures.count >= 12 && pictures.count <= 20, "\(pictures.count)")
            // After playback to the end, the player remains there.
            try await stream.simulation.sleep(for: .seconds(5))
            #expect(stream.engine.snapshot.hasPlayedToEnd)
        }
    }

    @Test(arguments: ["ts/iframe/media.m3u8", "ts/iframe/iframes.ts"]) func trickPlayUsesRegularSegmentsWithoutIFrames(
        missing: String
    ) async throws {
        let stream = try stream(replacing: [missing: []])
        try await stream.run {
            await stream.engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(2))
            await stream.engine.setRate(8)
            try await stream.simulation.sleep(for: .seconds(5))
            let position = stream.engine.snapshot.timebase.mediaTime(at: stream.simulation.now)
            #expect(position > MediaTime(seconds: 30))
            await stream.engine.setRate(1)
            try await stream.wait { $0.hasPlayedToEnd }
        }
        #expect(stream.engine.snapshot.error == nil)
        let numbers = stream.shown.all.compactMap(\.reading?.frame)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(numbers.last == 2159)
    }
}
