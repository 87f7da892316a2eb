import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// An origin of a playlist that has ended; it has all segments but one, and notes when that one is requested.
private final class IncompleteOrigin: Transport {
    private let clock: FollowingClock
    private let missing: String
    private let times = Mutex<[Int64]>([])

    init(_ clock: FollowingClock, missing: String) {
        self.clock = clock
        self.missing = missing
    }

    /// The times of the requests of the missing segment, in seconds.
    var requestTimes: [Int64] { times.withLock { $0 } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let name = request.address.lastPathComponent
        if name == missing {
            times.withLock { $0.append(clock.now.components.seconds) }
            throw TransportError(.status, "not found", address: request.address, status: 404)
        }
        let bytes = Array((name == "live.m3u8" ? RecordingRunDetailTests.playlist : "media").utf8)
        return TransportResponse(to: request, expectedLength: Int64(bytes.count), body: TransportBody(bytes))
    }
}

/// An origin that sends no segment before a number of segments is requested at the same time.
private final class GatheringOrigin: Transport {
    private let expected: Int
    private let running = Mutex((now: 0, most: 0))

    init(expecting expected: Int) { self.expected = expected }

    /// The maximum number of concurrent requests of segments.
    var maximumCount: Int { running.withLock { $0.most } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let isPlaylist = request.address.lastPathComponent == "live.m3u8"
        if !isPlaylist {
            running.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
            while maximumCount < expected { try await Task.sleep(for: .milliseconds(1)) }
            // A further request would arrive now.
            try await Task.sleep(for: .milliseconds(20))
            running.withLock { $0.now -= 1 }
        }
        let bytes = Array((isPlaylist ? RecordingRunDetailTests.playlist : "media").utf8)
        return TransportResponse(to: request, expectedLength: Int64(bytes.count), body: TransportBody(bytes))
    }
}

/// Tests the last requests of a recording, and the number of its concurrent requests.
@Suite(.timeLimit(.minutes(5))) struct RecordingRunDetailTests {
    private static let source = ResourceAddress("https://live.example/live.m3u8")
    /// A playlist with eight segments of four seconds that has ended.
    fileprivate static let playlist =
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:10\n"
        + (10..<18).map { "#EXTINF:4,\ns\($0).ts\n" }.joined() + "#EXT-X-ENDLIST\n"
    private let temporary: TemporaryLibrary
    private let clock = FollowingClock()

    init() throws { temporary = try TemporaryLibrary() }

    private func record(
        _ origin: any Transport,
        fetchCount: Int = 6,
        report: @escaping @Sendable (AssetDownload.Event) -> Void = { _ in }
    ) async throws -> StoredAsset {
        var configuration = DownloadConfiguration(maximumConcurrentFetches: fetchCount)
        configuration.recording = RecordingOptions()
        return try await AssetDownload(
            Self.source,
            into: temporary.library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration,
            time: clock
        ).run(report)
    }

    /// A stream that has ended is recorded from its beginning; a segment that is missing then is requested three more times.
    @Test func missingSegmentIsRequestedALastTime() async throws {
        let origin = IncompleteOrigin(clock, missing: "s12.ts")
        let lost = Mutex<[Int64]>([])
        let asset = try await record(origin) { event in
            if case .lost(_, let count) = event { lost.withLock { $0.append(count) } }
        }
        #expect(origin.requestTimes == [0, 1, 3, 7])
        // The loss is reported once, and nothing else is lost.
        #expect(lost.withLock { $0 } == [1])
        #expect(asset.state == .complete && asset.duration == MediaTime(seconds: 32))
        #expect(asset.bytes == ByteCount(7 * 5))
    }

    /// A server may treat many connections as an attack, so that a recording has at most four.
    @Test(arguments: [(6, 4), (3, 3), (1, 1)])
    func segmentsAreRequestedAFewAtATime(fetchCount: Int, expected: Int) async throws {
        let origin = GatheringOrigin(expecting: expected)
        let asset = try await record(origin, fetchCount: fetchCount)
        #expect(asset.state == .complete && asset.bytes == ByteCount(8 * 5))
        #expect(origin.maximumCount == expected)
    }

    /// The figures are those of the run, and the final progress precedes the end.
    @Test func eventsOfARecordingAreInOrder() async throws {
        let names = Mutex<[String]>([])
        let figures = Mutex<[DownloadFigures]>([])
        let asset = try await record(IncompleteOrigin(clock, missing: "none")) { event in
            let name =
                switch event {
                case .resolved: "resolved"
                case .waiting: "waiting"
                case .lost: "lost"
                case .metadataOmitted: "omitted"
                case .keyNotVerified: "key"
                case .progress: "progress"
                case .ended: "ended"
                case .completed: "completed"
                }
            names.withLock { $0.append(name) }
            if case .ended(_, let found) = event { figures.withLock { $0.append(found) } }
        }
        #expect(names.withLock { $0 } == ["resolved", "ended", "progress", "completed"])
        let expected = DownloadFigures(bytes: ByteCount(8 * 5), requestCount: 8, recoverableErrorCount: 0)
        #expect(figures.withLock { $0 } == [expected])
        #expect(asset.bytes == ByteCount(8 * 5) && asset.state == .complete)
    }

    /// Segments of subtitles are not checked with their key.
    @Test func subtitlesAreRecordedWhateverTheirKeyIs() async throws {
        let base = "https://live.example/"
        func media(_ segment: String, tags: String = "") -> String {
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(tags)#EXTINF:4,\n\(segment)\n#EXT-X-ENDLIST\n"
        }
        let origin = ScriptedTransport(texts: [
            Self.source.text: """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="text.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=500000,SUBTITLES="s"
            video.m3u8

            """,
            base + "video.m3u8": media("v.ts"), base + "v.ts": "video",
            base + "text.m3u8": media("t.vtt", tags: "#EXT-X-KEY:METHOD=AES-128,IV=0x0A,URI=\"key\"\n"),
            base + "t.vtt": "0123456789abcdef", base + "key": "fedcba9876543210",
        ])
        let asset = try await record(origin)
        #expect(asset.state == .complete && asset.renditions.map(\.role) == [.variant, .subtitles])
    }
}
