import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

/// What nobody had to set up, in real time.
@Suite struct StandardEnvironmentTests {
    /// A film of a second in a folder of its own.
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

    @Test(.timeLimit(.minutes(1))) func aFilmOnTheDiskIsPlayedOutOfTheBox() async throws {
        let url = try Self.makeFilm()
        defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        let player = Player(url: url)
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

    @Test(.timeLimit(.minutes(1))) func aFilmOfAServerIsPlayedWithWhatItsOptionsSay() async throws {
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
            let item = PlayerItem(asset: Asset(url: url, options: options))
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

    @Test(.timeLimit(.minutes(1))) func aHostThatDoesNotAnswerFailsTheLoad() async throws {
        // Port 1 of this machine: nobody listens there.
        let loading = ResourceLoading(
            Player.Environment.standard.makeLoading(ResourceAddress("http://127.0.0.1:1/"), AssetOptions()).transport,
            policy: LoadErrorPolicy(retries: 0)
        )
        let address = ResourceAddress("http://127.0.0.1:1/film.m3u8")
        await #expect(throws: TransportError.self) {
            try await loading.load(TransportRequest(address, kind: .playlist))
        }
    }

    @Test func aPlaylistFromElsewhereCannotNameFiles() async throws {
        let loading = Player.Environment.standard.makeLoading(ResourceAddress("https://example.com/"), AssetOptions())
        let request = TransportRequest(ResourceAddress(filePath: "/etc/hostname"), kind: .segment)
        let error = await #expect(throws: TransportError.self) { try await loading.transport.send(request) }
        #expect(error?.code == .addressRefused)
    }

    @Test func cookiesBelongToTheHostTheyWereMadeFor() {
        let options = AssetOptions(cookies: [
            .init(name: "a", value: "1"), .init(name: "b", value: "2", domain: "cdn.example.com"),
            .init(name: "c", value: "3", path: "/films"),
        ])
        let now = UnixSeconds(1_000_000)
        let jar = options.jar(for: ResourceAddress("https://origin.example.com/films/a.m3u8"), now: now)
        func sent(_ address: String) -> String? { jar.header(for: ResourceAddress(address), now: now) }
        #expect(sent("https://origin.example.com/films/a.ts") == "c=3; a=1")
        #expect(sent("https://origin.example.com/") == "a=1")
        #expect(sent("https://cdn.example.com/") == "b=2")
        #expect(sent("https://eu.cdn.example.com/") == "b=2")
        #expect(sent("https://other.example/") == nil)
    }

    @Test func headerFieldsStayOnTheSiteOfTheAsset() async throws {
        let asked = Collected<TransportRequest>()
        let options = AssetOptions(headerFields: ["X-Token": "secret", "Bad\nName": "x"])
        let transport = options.authorizing(Noting(asked), for: ResourceAddress("https://a.example/main.m3u8"))
        for address in ["https://a.example/1.ts", "https://b.example/1.ts"] {
            _ = try? await transport.send(TransportRequest(ResourceAddress(address), kind: .segment))
        }
        #expect(asked.all.map(\.headers) == [[HeaderField("X-Token", "secret")], []])
    }

    @Test func anAgentOfItsOwnHasConnectionsOfItsOwn() {
        let address = ResourceAddress("https://a.example/")
        let shared = SharedConnections.transport(for: address, AssetOptions()) as? HTTPTransport
        let other = SharedConnections.transport(for: address, AssetOptions(headerFields: ["A": "b"])) as? HTTPTransport
        #expect(shared != nil && shared === other)
        #expect(!(SharedConnections.transport(for: address, AssetOptions(userAgent: "x")) is HTTPTransport))
    }
}

/// Notes what it is asked, and has nothing.
private struct Noting: Transport {
    let asked: Collected<TransportRequest>
    init(_ asked: Collected<TransportRequest>) { self.asked = asked }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        asked.add(request)
        throw TransportError(.status, "nothing is here", address: request.address, status: 404)
    }
}
