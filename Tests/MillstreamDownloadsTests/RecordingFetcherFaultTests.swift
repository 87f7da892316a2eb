import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import AssetStorage
@testable import MillstreamDownloads

/// Tests which files of a recording are requested again, and until when, on a clock that a test advances.
@Suite(.timeLimit(.minutes(5))) struct RecordingFetcherFaultTests {
    private static let source = ResourceAddress("https://live.example/live.m3u8")
    private let temporary: TemporaryLibrary
    private let clock = QuickTime()

    init() throws { temporary = try TemporaryLibrary() }

    /// Returns a live playlist with six segments of four seconds, each with its own key.
    private static func playlist(target: Int = 4, from first: Int = 10) throws -> MediaPlaylist {
        let segments = (first..<first + 6).map { number in
            "#EXT-X-KEY:METHOD=AES-128,URI=\"key\(number)\",IV=0x0A\n#EXTINF:4,\ns\(number).ts\n"
        }
        let header = "#EXTM3U\n#EXT-X-TARGETDURATION:\(target)\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
        return try MediaPlaylist(
            parsing: Array((header + segments.joined()).utf8),
            context: PlaylistContext(address: source)
        )
    }

    /// A recording of which the server has no files.
    private struct Recording {
        let files: BegunRecording
        let track: RecordingTrack
        let fetcher: RecordingFetcher
        let activity: RecordingActivity
        let transport: ScriptedTransport

        /// The names of the requested files, in their order.
        var requests: [String] { transport.requests.map(\.address.lastPathComponent) }
    }

    /// Begins a recording of six segments that were not requested yet.
    private func begin(
        target: Int = 4,
        report: @escaping @Sendable (AssetDownload.Event) -> Void = { _ in }
    ) throws -> Recording {
        let playlist = try Self.playlist(target: target)
        let recording = try temporary.beginRecording(of: playlist, at: Self.source, segmentCount: 6)
        let transport = ScriptedTransport()
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        let asset = try temporary.library.asset(recording.id)
        let environment = RecordingEnvironment(
            download: AssetDownload(Self.source, into: temporary.library, loader: loader, time: clock),
            assetID: recording.id,
            resolver: DownloadResolver(loader: loader, selection: DownloadSelection()),
            meter: ProgressMeter(ProgressCounter(asset, recordingGoal: nil)),
            budget: DownloadBudget(asset, in: temporary.library, DownloadLimits(), isRecording: true),
            report: report
        )
        let activity = RecordingActivity(at: clock.now)
        return Recording(
            files: recording,
            track: RecordingTrack(recording.writer, PlannedRendition(only: playlist, at: Self.source)),
            fetcher: RecordingFetcher(environment, trackCount: 1, activity: activity),
            activity: activity,
            transport: transport
        )
    }

    /// Returns the requests that follow a version of the playlist.
    private func repeatedRequests(
        _ recording: Recording,
        in playlist: MediaPlaylist
    ) async throws -> [RecordingRequest] {
        var requests: [RecordingRequest] = []
        try await recording.fetcher.repeatRequests(of: recording.track, in: playlist) { requests.append($0) }
        return requests
    }

    // MARK: Repeated requests

    /// Four segments are requested again with each version.
    ///
    /// Segments that are missing for a long time are requested a last time.
    ///
    /// The time is that of three target durations, and at least 15 seconds.
    @Test(arguments: [(4, 15), (10, 30)] as [(Int, Int64)])
    func missingSegmentsAreRequestedForAWhile(target: Int, seconds: Int64) async throws {
        let recording = try begin(target: target)
        let playlist = recording.files.playlist
        try await recording.fetcher.fetch(
            recording.files.segments.map { RecordingRequest(file: $0) },
            of: recording.track
        )
        #expect(recording.requests.count == 6)
        clock.advance(by: .seconds(seconds) - .milliseconds(1))
        let first = try await repeatedRequests(recording, in: playlist)
        #expect(first.count == 4 && first.allSatisfy { $0.isRepeated && !$0.isLast && $0.deadline == nil })
        clock.advance(by: .milliseconds(1))
        let second = try await repeatedRequests(recording, in: playlist)
        #expect(second.count == 2 && second.allSatisfy { $0.isRepeated && $0.isLast && $0.deadline == nil })
        let third = try await repeatedRequests(recording, in: playlist)
        #expect(third.isEmpty)
        #expect(Set((first + second).map(\.file.position)) == Set(0..<6))
    }

    /// All segments that the playlist no longer lists are requested a last time.
    @Test func segmentsThatLeftThePlaylistAreRequestedALastTime() async throws {
        let recording = try begin()
        try await recording.fetcher.fetch(
            recording.files.segments.map { RecordingRequest(file: $0) },
            of: recording.track
        )
        let requests = try await repeatedRequests(recording, in: Self.playlist(from: 11))
        #expect(requests.filter(\.isLast).map(\.file.sequence) == [10])
        #expect(requests.filter { !$0.isLast }.count == 4)
        let others = try await repeatedRequests(recording, in: Self.playlist(from: 16))
        #expect(others.count == 1 && others.allSatisfy(\.isLast))
    }

    /// Two keys are requested again with each version that has a new segment.
    @Test func missingKeysAreRequestedTwoAtATime() async throws {
        let recording = try begin()
        let keys = try (10..<13).map { try recording.files.key("key\($0)") }
        try await recording.fetcher.fetch(keys.map { RecordingRequest(file: $0) }, of: recording.track)
        var counts: [Int] = []
        for _ in 0..<3 {
            var count = 0
            recording.fetcher.repeatSharedRequests(of: recording.track) { request in
                count += request.file.isSegment || request.isLast ? 100 : 1
            }
            counts.append(count)
        }
        #expect(counts == [2, 1, 0])
        let requests = try await repeatedRequests(recording, in: recording.files.playlist)
        #expect(requests.isEmpty)
    }

    /// After the end of the stream, a segment is requested three times, and once if it has been missing for 15 seconds.
    @Test(arguments: [(14_000, 2), (13_999, 3), (0, 4)] as [(Int64, Int)])
    func segmentThatIsMissingForLongHasOneMoreRequest(milliseconds: Int64, requestCount: Int) async throws {
        let recording = try begin()
        let segment = try #require(recording.files.segments.first)
        try await recording.fetcher.fetch([RecordingRequest(file: segment)], of: recording.track)
        clock.advance(by: .milliseconds(milliseconds))
        try await recording.fetcher.fetchFailedFiles(of: recording.track)
        #expect(recording.requests == Array(repeating: "s10.ts", count: requestCount))
    }

    // MARK: Ends

    /// A segment is open until it was requested.
    ///
    /// It can then be stored or missing.
    @Test(arguments: [true, false]) func segmentIsOpenUntilItWasRequested(isAvailable: Bool) async throws {
        let recording = try begin()
        let (writer, playlist) = (recording.files.writer, recording.files.playlist)
        let segments = recording.files.segments
        for file in segments.prefix(2) { recording.fetcher.add(file, of: writer, in: playlist) }
        #expect(recording.fetcher.ends == [writer.folder: 0])
        if isAvailable { recording.transport.setResponses(for: segments[0].resource.address.text, .text("media")) }
        try await recording.fetcher.fetch([RecordingRequest(file: segments[0])], of: recording.track)
        #expect(recording.fetcher.ends == [writer.folder: 1])
        let stored = try temporary.library.resources(recording.files.id).filter { $0.bytes != nil }.map(\.path)
        #expect(stored == (isAvailable ? [segments[0].resource.path] : []))
        let requests = try await repeatedRequests(recording, in: playlist)
        #expect(requests.map(\.file.position) == (isAvailable ? [] : [0]))
    }

    /// A segment is lost without a further request if its time has passed.
    @Test(arguments: [(0, 0), (1, 1)] as [(Int64, Int)])
    func requestsHaveADeadline(milliseconds: Int64, requestCount: Int) async throws {
        let lost = Mutex<Int64>(0)
        let recording = try begin { event in
            if case .lost(_, let count) = event { lost.withLock { $0 += count } }
        }
        let segment = try #require(recording.files.segments.first)
        let deadline = clock.now + .milliseconds(milliseconds)
        let request = RecordingRequest(file: segment, isRepeated: true, isLast: true, deadline: deadline)
        try await recording.fetcher.fetch([request], of: recording.track)
        #expect(recording.requests.count == requestCount && lost.withLock { $0 } == 1)
    }

    /// After a stall has ended the recording for half a minute, only files that were requested before, and keys, are requested.
    @Test func noNewSegmentIsRequestedAfterTheEnd() async throws {
        let recording = try begin()
        recording.activity.end(DownloadError(TransportError(.timedOut, "it happened")), at: clock.now)
        clock.advance(by: .seconds(30))
        let segments = recording.files.segments
        let requests = [
            RecordingRequest(file: segments[0]), RecordingRequest(file: segments[1], isRepeated: true),
            RecordingRequest(file: segments[2], isLast: true), RecordingRequest(file: try recording.files.key("key10")),
        ]
        for request in requests { try await recording.fetcher.fetch([request], of: recording.track) }
        #expect(recording.requests == ["s11.ts", "s12.ts", "key10"])
    }
}
