import Foundation
import MediaTiming
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Testing

@testable import MediaDecoding

/// Tests timed metadata in the media.
@Suite(.enabled(if: SampleStreams.areAvailable, "the sample streams were not made: run Scripts/make-samples"))
struct MetadataTests {
    /// Returns an event message of version 0, whose time is relative to the start of its segment (ISO/IEC 23009-1
    /// §5.10.3.3).
    private static func message(id: Int, after delta: Int, duration: Int, of payload: [UInt8]) -> [UInt8] {
        var body: [UInt8] = [0, 0, 0, 0] + Array("urn:test".utf8) + [0] + Array("v".utf8) + [0]
        for number in [1_000, delta, duration, id] { body += MovieEncryption.big(number) }
        return MovieEncryption.box("emsg", body + payload)
    }

    /// Creates a stream whose first four-second segments each contain a message at one second, with a duration of two
    /// seconds; the message of the second segment occurs twice.
    private func stream() throws -> DecodedStream {
        let folder = try #require(SampleStreams.directory)
        var replacements: [String: [UInt8]] = [:]
        for number in 0..<4 {
            let name = "fmp4/360p/\(number).m4s"
            let bytes = [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
            let box = Self.message(id: number, after: 1_000, duration: 2_000, of: [UInt8(number)])
            replacements[name] = (number == 1 ? box : []) + box + bytes
        }
        return try DecodedStream("fmp4/360p/media.m3u8", in: folder, replacing: replacements)
    }

    private func messages(_ stream: DecodedStream) -> [(message: TimedMetadata, at: MediaTime?)] {
        stream.events.compactMap { event in
            guard case .timedMetadata(let message) = event.kind else { return nil }
            return (message, event.mediaTime)
        }
    }

    @Test func metadataIsDeliveredOnceAtItsTime() async throws {
        let stream = try stream()
        try await stream.run {
            await stream.engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(20))
        }
        let given = messages(stream)
        #expect(given.map { Int($0.message.id) } == [0, 1, 2, 3])
        #expect(given.map(\.message.payload) == [[0], [1], [2], [3]])
        for (message, at) in given {
            // One second after the start of each four-second segment.
            #expect(abs(message.time.seconds - Double(message.id * 4 + 1)) < 0.04)
            let at = try #require(at)
            #expect(abs(at.seconds - message.time.seconds) < 0.04)
            #expect(message.duration == MediaTime(seconds: 2) && message.scheme == "urn:test")
        }
    }

    @Test func seekDeliversActiveAndSubsequentMetadata() async throws {
        let stream = try stream()
        try await stream.run {
            await stream.engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(14))
            await stream.engine.setRate(0)
            let before = messages(stream).count
            _ = await stream.engine.seek(to: MediaTime(seconds: 6), tolerance: .exact)
            try await stream.simulation.sleep(for: .seconds(1))
            // The message of the second segment is active at six seconds.
            #expect(messages(stream).dropFirst(before).map { Int($0.message.id) } == [1])
            await stream.engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(5))
            #expect(messages(stream).dropFirst(before).map { Int($0.message.id) } == [1, 2])
        }
    }

    private func message(_ id: UInt32, at seconds: Double) -> TimedMetadata {
        TimedMetadata(
            kind: .eventMessage,
            time: MediaTime(value: Int64(seconds * 1_000), timescale: 1_000),
            id: id,
            payload: []
        )
    }

    @Test func oldAndDiscardedMetadataIsNotDelivered() {
        var feed = MetadataFeed()
        feed.insert([message(1, at: 5)], of: .video, offset: .zero)
        #expect(feed.takeDue(at: MediaTime(seconds: 6)).isEmpty, "nothing was sought yet")
        feed.seek(to: .zero)
        #expect(feed.nextTime(after: .zero) == MediaTime(seconds: 5))
        #expect(feed.takeDue(at: MediaTime(seconds: 6)).map(\.id) == [1])
        #expect(feed.takeDue(at: MediaTime(seconds: 7)).isEmpty)
        // Metadata that arrives slightly late is delivered; old or repeated metadata is not.
        feed.insert([message(2, at: 4), message(1, at: 5.005), message(3, at: 10)], of: .video, offset: .zero)
        #expect(feed.takeDue(at: MediaTime(seconds: 7)).map(\.id) == [2])
        #expect(feed.takeDue(at: MediaTime(seconds: 60)).isEmpty)
        feed.insert([message(4, at: 1)], of: .audio, offset: MediaTime(seconds: 99))
        feed.discard(.video, in: MediaTimeRange(start: .zero, end: MediaTime(seconds: 200)))
        feed.seek(to: .zero)
        #expect(feed.nextTime(after: .zero) == MediaTime(seconds: 100))
    }
}
