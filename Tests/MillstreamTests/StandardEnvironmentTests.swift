import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Synchronization
import Testing

@testable import Millstream

/// Tests the environments with the system clock and the network, in real time.
@Suite struct StandardEnvironmentTests {
    /// Creates a presentation of one second in a new temporary directory, and returns the URL of its playlist.
    private static func makeFilm() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "millstream film-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let playlist = """
            #EXTM3U
            #EXT-X-TARGETDURATION:1
            #EXTINF:0.5,
            first.ts
            #EXTINF:0.5,
            second.ts
            #EXT-X-ENDLIST

            """
        for (name, text) in ["film.m3u8": playlist, "first.ts": "first", "second.ts": "second"] {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }
        return folder.appending(path: "film.m3u8")
    }

    @Test(.timeLimit(.minutes(10))) func localPresentationPlaysWithoutDecoding() async throws {
        let url = try Self.makeFilm()
        defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        let player = Player(url: url, environment: .withoutDecoding)
        let item = try #require(player.currentItem)
        let notifications = item.notifications
        player.play()
        let end = await notifications.first { $0 == .didPlayToEnd }
        #expect(end == .didPlayToEnd)
        #expect(item.currentTime() == MediaTime(seconds: 1))
        #expect(item.accessLog.events.first?.playbackSessionID.flatMap { UUID(uuidString: $0) } != nil)
        let duration = try await item.asset.load(.duration)
        #expect(duration == MediaTime(seconds: 1))
    }

    private final class TokenAuthorizer: RequestAuthorizer {
        let renewals = Mutex(0)

        func authorize(_ request: TransportRequest) async throws -> TransportRequest {
            var request = request
            request.headers.append(HeaderField("X-Signature", "\(renewals.withLock { $0 })"))
            return request
        }

        func renewCredentials(after error: TransportError) async throws -> Bool {
            renewals.withLock { $0 += 1 }
            return error.status == 403
        }
    }

    /// The server refuses the first request of each segment; the authorizer renews its credentials, and the item plays.
    @Test(.timeLimit(.minutes(10))) func authorizerSignsRequestsAndRenewsCredentials() async throws {
        let film = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:0.5,\nfirst.ts\n#EXT-X-ENDLIST\n"
        try await MisbehavingServer.withServer([
            "/film.m3u8": .init(Array(film.utf8), contentType: "application/vnd.apple.mpegurl"),
            "/first.ts": .init([1, 2, 3], contentType: "video/mp2t"),
        ]) { server in
            server.behave("/first.ts", .status(403), [])
            let authorizer = TokenAuthorizer()
            var options = AssetOptions()
            options.authorizer = authorizer
            let copy = options
            #expect(options == copy)
            #expect(options != AssetOptions())
            let url = try #require(URL(string: server.address("/film.m3u8")))
            let item = PlayerItem(asset: Asset(url: url, options: options, environment: .withoutDecoding))
            let player = try Player(playerItem: item)
            let notifications = item.notifications
            player.play()
            let end = await notifications.first { $0 == .didPlayToEnd }
            #expect(end == .didPlayToEnd)
            #expect(authorizer.renewals.withLock { $0 } == 1)
            let signatures = server.requests.map { "\($0.path) \($0.header("X-Signature") ?? "none")" }
            #expect(signatures == ["/film.m3u8 0", "/first.ts 0", "/first.ts 1"])
        }
    }

    @Test(.timeLimit(.minutes(10))) func assetOptionsAreAppliedToAllRequests() async throws {
        let film = """
            #EXTM3U
            #EXT-X-TARGETDURATION:1
            #EXTINF:0.25,
            first.ts
            #EXTINF:0.25,
            second.ts
            #EXT-X-ENDLIST

            """
        try await MisbehavingServer.withServer([
            "/film.m3u8": .init(Array(film.utf8), contentType: "application/vnd.apple.mpegurl"),
            "/first.ts": .init([1, 2, 3], contentType: "video/mp2t"),
            "/second.ts": .init([4, 5, 6], contentType: "video/mp2t"),
        ]) { server in
            let options = AssetOptions(
                headerFields: ["X-Token": "secret"],
                cookies: [.init(name: "a", value: "1")],
                userAgent: "Player of a test"
            )
            let url = try #require(URL(string: server.address("/film.m3u8")))
            let item = PlayerItem(asset: Asset(url: url, options: options, environment: .withoutDecoding))
            let player = try Player(playerItem: item)
            let notifications = item.notifications
            player.play()
            let end = await notifications.first { $0 == .didPlayToEnd }
            #expect(end == .didPlayToEnd)
            #expect(server.requests.count == 3)
            for request in server.requests {
                #expect(request.header("User-Agent") == "Player of a test")
                #expect(request.header("X-Token") == "secret")
                #expect(request.header("Cookie") == "a=1")
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func unreachableHostFailsTheLoad() async throws {
        // Port 1 of the loopback interface, on which no server listens.
        let loader = ResourceLoader(
            Player.Environment.standard.makeLoading(ResourceAddress("http://127.0.0.1:1/"), AssetOptions()).transport,
            policy: RecoveryPolicy(retries: 0)
        )
        let address = ResourceAddress("http://127.0.0.1:1/film.m3u8")
        await #expect(throws: TransportError.self) {
            try await loader.load(TransportRequest(address, kind: .playlist))
        }
    }

    @Test func remotePlaylistCannotReferenceLocalFiles() async throws {
        let loading = Player.Environment.standard.makeLoading(ResourceAddress("https://example.com/"), AssetOptions())
        let request = TransportRequest(ResourceAddress(filePath: "/etc/hostname"), kind: .segment)
        let error = await #expect(throws: TransportError.self) { try await loading.transport.send(request) }
        #expect(error?.code == .addressRefused)
    }

    @Test func cookiesAreSentOnlyWithinTheirScope() {
        let options = AssetOptions(cookies: [
            .init(name: "a", value: "1"), .init(name: "b", value: "2", domain: "cdn.example.com"),
            .init(name: "c", value: "3", path: "/films"),
        ])
        let now = UnixSeconds(1_000_000)
        let jar = options.makeCookieJar(for: ResourceAddress("https://origin.example.com/films/a.m3u8"), now: now)
        func sent(_ address: String) -> String? { jar.header(for: ResourceAddress(address), now: now) }
        #expect(sent("https://origin.example.com/films/a.ts") == "c=3; a=1")
        #expect(sent("https://origin.example.com/") == "a=1")
        #expect(sent("https://cdn.example.com/") == "b=2")
        #expect(sent("https://eu.cdn.example.com/") == "b=2")
        #expect(sent("https://other.example/") == nil)
    }

    @Test func headerFieldsAreSentOnlyToTheAssetOriginAndNamedHosts() async throws {
        let asked = Collected<TransportRequest>()
        var options = AssetOptions(headerFields: ["X-Token": "secret", "Bad\nName": "x"])
        options.headerFieldsByHost[try #require(HeaderFieldScope("c.a.example"))] = ["X-CDN": "c"]
        let transport = options.authorizing(
            RecordingTransport(asked),
            for: ResourceAddress("https://a.example/main.m3u8")
        )
        let addresses = [
            "https://a.example/1.ts", "https://b.a.example/1.ts", "https://a.example:444/1.ts", "http://a.example/1.ts",
            "https://c.a.example:444/1.ts", "http://c.a.example/1.ts",
        ]
        for address in addresses {
            _ = try? await transport.send(TransportRequest(ResourceAddress(address), kind: .segment))
        }
        #expect(asked.all.map { $0.allHeaders.map(\.value) } == [["secret"], [], [], [], ["c"], []])
    }

    @Test(arguments: [("https", nil, false), ("https", false, true), ("http", nil, true), ("http", true, false)])
    func cookiesOfAnHTTPSAssetAreSecureByDefault(scheme: String, isSecure: Bool?, isSentOverHTTP: Bool) {
        var cookie = AssetOptions.Cookie(name: "a", value: "1")
        cookie.isSecure = isSecure
        let now = UnixSeconds(1_000_000)
        let jar = AssetOptions(cookies: [cookie]).makeCookieJar(
            for: ResourceAddress("\(scheme)://a.example/x"),
            now: now
        )
        #expect((jar.header(for: ResourceAddress("http://a.example/"), now: now) != nil) == isSentOverHTTP)
        #expect(jar.header(for: ResourceAddress("https://a.example/"), now: now) == "a=1")
    }

    @Test func customUserAgentUsesSeparateConnections() {
        let address = ResourceAddress("https://a.example/")
        let shared = SharedHTTPTransport.transport(for: address, AssetOptions()) as? HTTPTransport
        let other =
            SharedHTTPTransport.transport(for: address, AssetOptions(headerFields: ["A": "b"])) as? HTTPTransport
        #expect(shared != nil && shared === other)
        #expect(!(SharedHTTPTransport.transport(for: address, AssetOptions(userAgent: "x")) is HTTPTransport))
    }

    /// Two engines and a server in real time: each interstitial plays once, and no notification is lost.
    @Test(.timeLimit(.minutes(10))) func interstitialsPlayInRealTime() async throws {
        func playlist(_ name: String, count: Int, _ tags: String = "") -> MisbehavingServer.Resource {
            let segments = (0..<count).map { "#EXTINF:1,\n\(name)\($0).ts\n" }.joined()
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(tags)\(segments)#EXT-X-ENDLIST\n"
            return .init(Array(text.utf8), contentType: "application/vnd.apple.mpegurl")
        }
        let date = "2026-01-01T00:00:0"
        let range = "#EXT-X-DATERANGE:CLASS=\"com.apple.hls.interstitial\",START-DATE="
        let tags = """
            #EXT-X-PROGRAM-DATE-TIME:\(date)0Z
            \(range)"\(date)0Z",ID="a",CUE="PRE",X-ASSET-URI="ad.m3u8",X-RESUME-OFFSET=0
            \(range)"\(date)1.3Z",ID="b",X-ASSET-LIST="list.json",X-RESUME-OFFSET=0
            \(range)"\(date)2.6Z",ID="c",X-ASSET-URI="ad.m3u8",X-PLAYOUT-LIMIT=0.5
            \(range)"\(date)4Z",ID="d",CUE="POST",X-ASSET-URI="ad.m3u8",X-RESUME-OFFSET=0

            """
        let list = "{\"ASSETS\": [{\"URI\": \"ad.m3u8\", \"DURATION\": 1}, {\"URI\": \"ad.m3u8\", \"DURATION\": 1}]}"
        var resources: [String: MisbehavingServer.Resource] = [
            "/main.m3u8": playlist("v", count: 4, tags), "/ad.m3u8": playlist("ad", count: 1),
            "/list.json": .init(Array(list.utf8), contentType: "application/json"),
            "/ad0.ts": .init([1, 2, 3], contentType: "video/mp2t"),
        ]
        for number in 0..<4 { resources["/v\(number).ts"] = .init([4, 5, 6], contentType: "video/mp2t") }
        try await MisbehavingServer.withServer(resources) { server in
            let player = Player(ResourceAddress(server.address("/main.m3u8")), environment: .withoutDecoding)
            let item = try #require(player.currentItem)
            let notifications = player.interstitialController.notifications
            let began = ContinuousClock.now
            player.play()
            var told: [String] = []
            for await notification in notifications {
                switch notification {
                case .currentEventDidChange(let event):
                    told.append(event?.id ?? "\((item.currentTime().seconds * 10).rounded() / 10)")
                case .eventDidFinish(_, let playoutTime, _):
                    told.append("(\((playoutTime.seconds * 10).rounded() / 10))")
                case .eventWasUnscheduled(_, let error): told.append("\(error)")
                default: break
                }
                if told.count > 3, told.suffix(3).first == "d" { break }
            }
            #expect(told == ["a", "(1.0)", "0.0", "b", "(2.0)", "1.3", "c", "(0.5)", "2.6", "d", "(1.0)", "4.0"])
            for await status in player.values(of: \.timeControlStatus) where status == .paused { break }
            #expect(item.state.hasPlayedToEnd && player.rate == 0)
            // 4 s of the item less the 0.5 s that `c` replaces, and 4.5 s of interstitials.
            #expect(ContinuousClock.now - began > .milliseconds(7_900))
            #expect(server.requests.contains { $0.target.contains("list.json?_HLS_primary_id=") })
        }
    }
}

/// A transport that records its requests and fails each with status 404.
private struct RecordingTransport: Transport {
    let asked: Collected<TransportRequest>
    init(_ asked: Collected<TransportRequest>) { self.asked = asked }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        asked.add(request)
        throw TransportError(.status, "nothing is here", address: request.address, status: 404)
    }
}
