import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// A clock that advances when a recording waits for the next load of its playlist; the task that reports the progress sleeps
/// until it is canceled.
final class FollowingClock: TimeSource {
    private let passed = Mutex(Duration.zero)

    var now: Duration { passed.withLock { $0 } }

    func sleep(for duration: Duration) async throws {
        guard duration == .milliseconds(200) else {
            try Task.checkCancellation()
            return passed.withLock { $0 += duration }
        }
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        defer { continuation.finish() }
        for await _ in stream {}
        throw CancellationError()
    }
}

/// An origin of a live playlist whose text depends on the time, and which has all segments.
private final class TimedOrigin: Transport {
    private let clock: FollowingClock
    private let text: @Sendable (_ seconds: Int64) -> String?
    /// The name of a segment, and the time in seconds; the segment is received after the playlist was loaded at that time.
    private let lateSegment: (name: String, loadTime: Int64)?
    private let loads = Mutex<[Int64]>([])

    /// Creates an origin; without a text, the server responds with status 500.
    init(
        _ clock: FollowingClock,
        lateSegment: (name: String, loadTime: Int64)? = nil,
        _ text: @escaping @Sendable (_ seconds: Int64) -> String?
    ) {
        self.clock = clock
        self.lateSegment = lateSegment
        self.text = text
    }

    /// The times of the loads of the playlist, in seconds.
    var loadTimes: [Int64] { loads.withLock { $0 } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        var text = "media"
        if let lateSegment, request.address.lastPathComponent == lateSegment.name {
            while loadTimes.last ?? 0 < lateSegment.loadTime { try await Task.sleep(for: .milliseconds(1)) }
            // A recording that does not wait for the segment cancels its request now.
            try await Task.sleep(for: .milliseconds(50))
        }
        if request.address.lastPathComponent == "live.m3u8" {
            let seconds = clock.now.components.seconds
            loads.withLock { $0.append(seconds) }
            guard let found = self.text(seconds) else {
                throw TransportError(.status, "the server responded with 500", address: request.address, status: 500)
            }
            text = found
        }
        let bytes = Array(text.utf8)
        return TransportResponse(to: request, expectedLength: Int64(bytes.count), body: TransportBody(bytes))
    }
}

/// Tests when a recording loads its playlist, and when it ends, on a clock that only the recording advances.
@Suite(.timeLimit(.minutes(5))) struct RecordingClockTests {
    private static let source = ResourceAddress("https://live.example/live.m3u8")
    private let temporary: TemporaryLibrary
    private let clock = FollowingClock()

    init() throws { temporary = try TemporaryLibrary() }

    /// Returns the text of a live playlist with six segments of four seconds.
    private static func text(from first: Int64, hasEnded: Bool = false, target: Int = 4) -> String {
        let segments = (first..<first + 6).map { "#EXTINF:4,\ns\($0).ts\n" }.joined()
        return "#EXTM3U\n#EXT-X-TARGETDURATION:\(target)\n#EXT-X-MEDIA-SEQUENCE:\(first)\n\(segments)"
            + (hasEnded ? "#EXT-X-ENDLIST\n" : "")
    }

    private func record(
        _ origin: TimedOrigin,
        _ options: RecordingOptions = RecordingOptions(startsFromBeginning: true),
        limits: DownloadLimits = DownloadLimits(),
        report: @escaping @Sendable (AssetDownload.Event) -> Void = { _ in }
    ) async throws -> StoredAsset {
        var configuration = DownloadConfiguration(limits: limits)
        configuration.recording = options
        return try await AssetDownload(
            Self.source,
            into: temporary.library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration,
            time: clock
        ).run(report)
    }

    // MARK: Loads

    /// After a version without a new segment, the next one is loaded after half of the target duration.
    @Test func playlistIsLoadedAtTheTargetDuration() async throws {
        let origin = TimedOrigin(clock) { seconds in
            Self.text(from: seconds < 4 ? 10 : seconds < 10 ? 11 : 12, hasEnded: seconds >= 14)
        }
        let asset = try await record(origin)
        #expect(origin.loadTimes == [0, 4, 8, 10, 14])
        #expect(asset.duration == MediaTime(seconds: 32) && asset.state == .complete)
    }

    /// A playlist without segments is not an error while a stream is recorded.
    @Test func versionWithoutSegmentsIsLoadedAgain() async throws {
        let origin = TimedOrigin(clock) { seconds in
            guard seconds >= 4, seconds < 8 else { return Self.text(from: 10, hasEnded: seconds >= 8) }
            return "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:16\n"
        }
        let asset = try await record(origin)
        #expect(origin.loadTimes == [0, 4, 6, 8])
        #expect(asset.duration == MediaTime(seconds: 24))
    }

    // MARK: Ends

    /// A stall is reported after two and a half target durations; it ends the recording after five minutes, or after three
    /// target durations if these are longer.
    @Test(arguments: [(4, 10, 300), (200, 520, 620)] as [(Int, Int64, Int64)])
    func stallEndsTheRecording(target: Int, stall: Int64, end: Int64) async throws {
        let origin = TimedOrigin(clock) { _ in Self.text(from: 10, target: target) }
        let stalls = Mutex<[String]>([])
        let error = await #expect(throws: DownloadError.self) {
            try await record(origin) { event in
                if case .waiting(let error) = event { stalls.withLock { $0.append(error.message) } }
            }
        }
        let prefix = "the live playlist has had no new segment for"
        #expect(stalls.withLock { $0.count } == 1)
        #expect(stalls.withLock { $0.first }?.hasPrefix("\(prefix) \(stall) seconds") == true)
        #expect(error?.message.hasPrefix("\(prefix) \(end) seconds") == true, "\(error?.message ?? "")")
        #expect(origin.loadTimes.last == end)
    }

    /// A segment is being received when the stall ends the recording.
    @Test func requestsInProgressAreFinishedAfterAStall() async throws {
        let origin = TimedOrigin(clock, lateSegment: ("s15.ts", 300)) { _ in Self.text(from: 10) }
        let error = await #expect(throws: DownloadError.self) { try await record(origin) }
        #expect(error?.message.hasPrefix("the live playlist has had no new segment for 300 seconds") == true)
        #expect(origin.loadTimes.last == 300)
        let asset = try #require(try temporary.library.assets().first)
        #expect(asset.state == .complete && asset.duration == MediaTime(seconds: 24))
        #expect(try temporary.library.resources(asset.id).allSatisfy { $0.bytes != nil })
    }

    /// Later versions of the playlist are even larger, so that it is not loaded again.
    @Test(arguments: [
        String(repeating: "# a comment\n", count: 1_000), "# " + String(repeating: "a", count: 70_000) + "\n",
    ])
    func playlistThatHasBecomeTooLargeEndsTheRecording(comments: String) async throws {
        let origin = TimedOrigin(clock) { seconds in Self.text(from: 10) + (seconds < 8 ? "" : comments) }
        let limits = DownloadLimits(playlistSize: ByteCount(10_000))
        let error = await #expect(throws: DownloadError.self) { try await record(origin, limits: limits) }
        #expect(error?.code == .tooLarge && error?.detail == "too-large")
        #expect(error?.message.hasPrefix("the live playlist has become too large (") == true)
        #expect(error?.message.hasSuffix("); the recording is stored up to there") == true)
        #expect(origin.loadTimes == [0, 4, 6, 8])
    }

    /// A playlist from which segments are removed does not grow without limit, so that the large response was an error of the server.
    @Test func largeResponseForASlidingWindowIsAFailedLoad() async throws {
        let comments = String(repeating: "# a comment\n", count: 1_000)
        let origin = TimedOrigin(clock) { seconds in
            guard seconds < 8 || seconds >= 16 else { return Self.text(from: 12) + comments }
            return Self.text(from: seconds < 4 ? 10 : seconds < 8 ? 11 : 13, hasEnded: seconds >= 16)
        }
        let asset = try await record(origin, limits: DownloadLimits(playlistSize: ByteCount(10_000)))
        #expect(origin.loadTimes == [0, 4, 8, 12, 16])
        #expect(asset.state == .complete && asset.duration == MediaTime(seconds: 36))
    }

    @Test func largeResponsesForASlidingWindowEndTheRecordingAfterFiveMinutes() async throws {
        let comments = String(repeating: "# a comment\n", count: 1_000)
        let origin = TimedOrigin(clock) { seconds in
            Self.text(from: seconds < 4 ? 10 : 11) + (seconds < 8 ? "" : comments)
        }
        let error = await #expect(throws: DownloadError.self) {
            try await record(origin, limits: DownloadLimits(playlistSize: ByteCount(10_000)))
        }
        #expect(error?.code == .tooLarge)
        #expect(origin.loadTimes.last == 304)
    }

    /// The time begins anew with each version that can be loaded.
    @Test func failedLoadsEndTheRecordingAfterFiveMinutes() async throws {
        let origin = TimedOrigin(clock) { seconds in
            guard seconds > 0, seconds != 100 else { return Self.text(from: seconds == 0 ? 10 : 11) }
            return nil
        }
        let error = await #expect(throws: DownloadError.self) { try await record(origin) }
        #expect(error?.detail == "http-status")
        let expected: [Int64] = Array(stride(from: 0, through: 400, by: 4))
        #expect(origin.loadTimes == expected)
    }

    @Test func anotherKindOfPlaylistIsAFailedLoad() async throws {
        let origin = TimedOrigin(clock) { seconds in
            seconds == 0 ? Self.text(from: 10) : "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlive.m3u8\n"
        }
        let error = await #expect(throws: DownloadError.self) { try await record(origin) }
        #expect(error?.code == .notAPlaylist && error?.address == Self.source)
        #expect(error?.message == "the URL is no longer that of a media playlist")
        #expect(origin.loadTimes.last == 300)
    }

    // MARK: Duration

    /// A track may end a tenth of a second early.
    @Test(arguments: [("8", 8), ("8.1", 8), ("8.101", 12), ("4.1", 4)] as [(String, Int64)])
    func durationOfARecordingHasATolerance(duration: String, recorded: Int64) async throws {
        let origin = TimedOrigin(clock) { _ in Self.text(from: 10) }
        for startsFromBeginning in [true, false] {
            let options = RecordingOptions(
                duration: MediaTime(decimal: duration),
                startsFromBeginning: startsFromBeginning
            )
            let asset = try await record(origin, options)
            #expect(asset.duration == MediaTime(seconds: recorded) && asset.state == .complete)
            let paths = try temporary.library.resources(asset.id).map(\.address.lastPathComponent)
            let first = startsFromBeginning ? 10 : 13
            #expect(paths == (0..<Int(recorded / 4)).map { "s\(first + $0).ts" })
            try temporary.library.delete(asset.id)
        }
        // Everything is in the first version.
        #expect(origin.loadTimes == [0, 0])
    }

    /// The recorded duration includes that of earlier runs.
    @Test func continuedRecordingEndsAtTheWholeDuration() async throws {
        let first = TimedOrigin(clock) { _ in Self.text(from: 10) }
        let short = RecordingOptions(duration: MediaTime(seconds: 8), startsFromBeginning: true)
        let id = try await record(first, short).id
        let again = try await record(first, short)
        #expect(again.id == id && again.duration == MediaTime(seconds: 8))
        let longer = RecordingOptions(duration: MediaTime(seconds: 16), startsFromBeginning: true)
        let asset = try await record(first, longer)
        #expect(asset.id == id && asset.duration == MediaTime(seconds: 16))
        let paths = try temporary.library.resources(id).map(\.address.lastPathComponent)
        #expect(paths == ["s10.ts", "s11.ts", "s12.ts", "s13.ts"])
    }
}
