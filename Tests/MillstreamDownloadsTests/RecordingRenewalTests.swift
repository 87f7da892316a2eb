import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// An origin whose multivariant playlist names a media playlist with another token each time; the URLs with the first token do
/// not work for long.
private final class TokenOrigin: Transport {
    private struct State {
        var token = 0
        var requests: [String] = []
    }

    private let clock: FollowingClock
    private let status: Int
    /// A Boolean value that indicates whether the URLs of segments have expired instead of those of playlists.
    private let expiresSegments: Bool
    private let state = Mutex(State())

    init(_ clock: FollowingClock, status: Int, expiresSegments: Bool) {
        self.clock = clock
        self.status = status
        self.expiresSegments = expiresSegments
    }

    /// Returns the number of requests for a URL.
    func count(_ address: String) -> Int { state.withLock { $0.requests.count { $0 == address } } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let name = request.address.lastPathComponent
        let isFirst = request.address.text.hasSuffix("?t=1")
        let token = state.withLock { state in
            state.requests.append(request.address.text)
            if name == "main.m3u8" { state.token += 1 }
            return state.token
        }
        let text: String
        switch name {
        case "main.m3u8": text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=500000\nlive.m3u8?t=\(token)\n"
        case "live.m3u8":
            if isFirst, !expiresSegments, clock.now >= .seconds(4) { throw expired(request) }
            let segments = (10..<16).map { "#EXTINF:4,\ns\($0).ts?t=\(isFirst ? 1 : 2)\n" }.joined()
            let hasEnded = expiresSegments || clock.now >= .seconds(8)
            text =
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:10\n\(segments)"
                + (hasEnded ? "#EXT-X-ENDLIST\n" : "")
        default:
            if isFirst, expiresSegments { throw expired(request) }
            text = "media"
        }
        let bytes = Array(text.utf8)
        return TransportResponse(to: request, expectedLength: Int64(bytes.count), body: TransportBody(bytes))
    }

    private func expired(_ request: TransportRequest) -> TransportError {
        TransportError(.status, "the URL has expired", address: request.address, status: status)
    }
}

/// Tests recordings whose URLs expire while they run.
@Suite(.timeLimit(.minutes(5))) struct RecordingRenewalTests {
    private static let base = "https://live.example/"
    private let temporary: TemporaryLibrary
    private let clock = FollowingClock()

    init() throws { temporary = try TemporaryLibrary() }

    private func record(_ origin: TokenOrigin) async throws -> StoredAsset {
        var configuration = DownloadConfiguration()
        configuration.recording = RecordingOptions(startsFromBeginning: true)
        return try await AssetDownload(
            ResourceAddress(Self.base + "main.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration,
            time: clock
        ).run()
    }

    /// The multivariant playlist is loaded again at once if it can name another URL.
    @Test(arguments: [401, 403, 404, 410]) func playlistWithAnotherAddressIsFollowed(status: Int) async throws {
        let origin = TokenOrigin(clock, status: status, expiresSegments: false)
        let asset = try await record(origin)
        #expect(asset.state == .complete && asset.duration == MediaTime(seconds: 24))
        #expect(clock.now == .seconds(8))
        #expect(origin.count(Self.base + "main.m3u8") == 2 && origin.count(Self.base + "live.m3u8?t=1") == 2)
    }

    @Test func otherErrorsDoNotIndicateAnotherAddress() async throws {
        let origin = TokenOrigin(clock, status: 500, expiresSegments: false)
        let error = await #expect(throws: DownloadError.self) { try await record(origin) }
        #expect(error?.detail == "http-status" && clock.now == .seconds(300))
        #expect(origin.count(Self.base + "main.m3u8") == 1)
    }

    @Test(arguments: [401, 403, 410]) func segmentsWithOtherAddressesAreFetched(status: Int) async throws {
        let origin = TokenOrigin(clock, status: status, expiresSegments: true)
        let asset = try await record(origin)
        #expect(asset.state == .complete && asset.duration == MediaTime(seconds: 24))
        #expect(asset.bytes == ByteCount(6 * 5))
        for number in 10..<16 {
            // Each URL is tried once.
            #expect(origin.count("\(Self.base)s\(number).ts?t=1") == 1, "\(number)")
            #expect(origin.count("\(Self.base)s\(number).ts?t=2") == 1, "\(number)")
        }
    }
}
