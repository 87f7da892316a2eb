import HTTPTypes
import Hummingbird
import Logging
import MediaTransport
import MillstreamTesting
import NIOEmbedded
import Synchronization
import Testing

@testable import MillstreamServer

/// A transport that sends no request until a test permits it.
private final class HeldTransport: Transport {
    private let transport: ScriptedTransport
    private let isOpen = Mutex(false)

    init(_ transport: ScriptedTransport) { self.transport = transport }

    /// Permits all requests.
    func open() { isOpen.withLock { $0 = true } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        while !isOpen.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
        return try await transport.send(request)
    }
}

/// Tests that clients which request the same manifest at the same time have one manifest.
@Suite(.timeLimit(.minutes(2))) struct ChannelManifestSharingTests {
    private static let host = "http://10.0.0.1/"
    private static let multivariant = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360\nv.m3u8\n"

    private let transport: HeldTransport
    private let capacity = ServerCapacity(ServerLimits())
    private let route: PlaylistRoute

    init() {
        let resources: [String: ScriptedTransport.Response] = [
            "main.m3u8": .text(Self.multivariant), "v.m3u8": .text(ChannelManifestRouteTests.media("v")),
            "v.mp4": .bytes(FragmentedMovie.initialization(.video)),
            "v0.m4s": .bytes(FragmentedMovie.fragment(at: 5_250)),
        ]
        let scripted = ScriptedTransport()
        for (name, response) in resources { scripted.setResponses(for: Self.host + name, response) }
        transport = HeldTransport(scripted)
        let policy = SourcePolicy(allowedHosts: ["10.0.0.1"], catalog: []) { _ in false }
        let access: SourceAccess.Access = (
            ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)), policy, HostCache()
        )
        route = PlaylistRoute(
            PlaybackEnvironment(
                sources: SourceAccess(trusted: access, foreign: access),
                signer: SegmentSigner(ServerSecret(bytes: [UInt8](repeating: 1, count: 32))),
                capacity: capacity,
                workers: .callingTask
            )
        )
    }

    /// Requests a manifest for several clients, and returns the requests when all of them wait and a number of manifests is being
    /// written.
    private func requests(_ queries: [String], manifestCount: Int) async throws -> [Task<Response, any Error>] {
        let tasks = queries.map { query in
            Task { () async throws -> Response in
                let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                var context = ServerRequestContext(
                    source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger)
                )
                context.initiator = .player
                return try await route.playManifest(.get("/play.mpd?url=\(Self.host)main.m3u8&\(query)"), context)
            }
        }
        while route.manifests.waiterCount < queries.count || capacity.pendingRequests < manifestCount {
            try await Task.sleep(for: .milliseconds(5))
        }
        return tasks
    }

    @Test func equalRequestsAreAnsweredTogether() async throws {
        let clients = try await requests(Array(repeating: "live=loop", count: 4), manifestCount: 1)
        // The clients that wait hold no capacity.
        #expect(capacity.pendingRequests == 1)
        transport.open()
        var texts: Set<String> = []
        for client in clients {
            let response = try await client.value
            #expect(response.status == .ok)
            texts.insert(try await response.body.recorded().text)
        }
        #expect(texts.count == 1 && texts.first?.contains("<MPD") == true, "\(texts)")
        #expect(route.manifests.waiterCount == 0)
    }

    @Test func requestsWithOtherEditsAreAnsweredSeparately() async throws {
        let clients = try await requests(["live=loop", "live=loop", "duration=8&live=loop"], manifestCount: 2)
        #expect(capacity.pendingRequests == 2)
        transport.open()
        for client in clients {
            let status = try await client.value.status
            #expect(status == .ok)
        }
    }

    @Test func clientThatLeavesDoesNotEndTheRequestsOfOthers() async throws {
        let clients = try await requests(Array(repeating: "live=loop", count: 2), manifestCount: 1)
        clients[0].cancel()
        while route.manifests.waiterCount > 1 { try await Task.sleep(for: .milliseconds(5)) }
        transport.open()
        let status = try await clients[1].value.status
        #expect(status == .ok)
    }
}
