import AssetStorage
import Foundation
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests that the work of the routes ends when the client leaves, and that heavy work does not delay other requests.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ClosedConnectionTests {
    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
    private static let texts = [
        "https://h/main.m3u8": media, "https://h/slow.m3u8": media, "https://h/last.m3u8": media,
        "https://h/slow": media, "https://h/token": "token", "https://h/0.ts": "media", "https://h/poster.png": "image",
        "https://h/top.m3u8": """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360
        slow.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720
        last.m3u8

        """,
        "https://h/ad.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360\nmain.m3u8\n",
    ]

    private func origin(_ gated: String...) -> GatedOrigin { GatedOrigin(Self.texts, behindTheGate: Set(gated)) }

    /// Sends a request, leaves while the origin does not answer, and expects that the work ends.
    private func expectEnd(of target: String, waitingFor address: String, _ stage: RouteStage) async throws {
        var connection: RawConnection? = try stage.request(target)
        try await stage.wait { stage.origin.waiting == [address] }
        #expect(stage.origin.canceled.isEmpty)
        let requested = stage.origin.requested
        withExtendedLifetime(connection) {}
        connection = nil
        try await stage.wait { stage.origin.canceled == [address] && stage.capacity.pendingRequests == 0 }
        // A load that takes too long is canceled too.
        #expect(!stage.metricsText.contains("timed-out"), "\(stage.metricsText)")
        stage.origin.open()
        // Work that went on would request its next source before this response.
        #expect(try await stage.ask("/play.m3u8?url=https://h/main.m3u8&duration=4").status == 200)
        #expect(stage.origin.requested == requested + ["https://h/main.m3u8"])
        try await stage.wait { stage.capacity.pendingRequests == 0 && stage.capacity.pendingBytes == 0 }
    }

    @Test(
        arguments: [
            ("/play.m3u8?url=https://h/slow.m3u8&append=https://h/last.m3u8", "https://h/slow.m3u8"),
            (
                "/play.m3u8?url=https://h/ad.m3u8&append=https://h/slow.m3u8&append=https://h/last.m3u8",
                "https://h/slow.m3u8"
            ),
            ("/play.m3u8?url=https://h/top.m3u8&append=https://h/ad.m3u8", "https://h/slow.m3u8"),
            ("/play.m3u8?url=https://h/slow", "https://h/slow"),
            ("/api/inspect?url=https://h/slow.m3u8", "https://h/slow.m3u8"),
            ("/api/inspect?url=https://h/slow", "https://h/slow"),
            ("/api/playback/playlist?address=%2Fplay.m3u8%3Furl%3Dhttps://h/slow.m3u8", "https://h/slow.m3u8"),
            ("/api/streams/film/poster", "https://h/poster.png"),
        ]
    )
    func workEndsWithTheConnection(target: String, address: String) async throws {
        let json = #"[{"name": "film", "url": "https://h/film.m3u8", "poster": "https://h/poster.png"}]"#
        let catalog = try StreamCatalog(Data(json.utf8), at: ResourceAddress("https://h/catalog"))
        try #require(catalog.streams.map(\.id) == ["film"])
        try await RouteStage.run(origin(address), catalog: catalog) { stage in
            try await expectEnd(of: target, waitingFor: address, stage)
        }
    }

    /// A segment is forwarded, or the player is redirected to it, for which a token is loaded.
    @Test(arguments: [("proxy", "https://h/0.ts"), ("redirect", "https://h/token")])
    func segmentEndsWithTheConnection(delivery: String, address: String) async throws {
        try await RouteStage.run(origin(address), token: "https://h/token") { stage in
            let playlist = try await stage.ask("/play.m3u8?url=https://h/slow.m3u8&segments=\(delivery)")
            let line = playlist.body.split(separator: "\n").first { $0.hasPrefix("/segment/") }
            let segment = String(try #require(line, "\(playlist.body)"))
            try await expectEnd(of: segment, waitingFor: address, stage)
        }
    }

    /// Files that a download has not stored come from the origin.
    @Test func fileOfAPackageEndsWithTheConnection() async throws {
        try await RouteStage.run(origin("https://h/0.ts")) { stage in
            let incomplete = AssetDownload(
                ResourceAddress("https://h/a.m3u8"),
                into: stage.library,
                loader: ResourceLoader(
                    ScriptedTransport(texts: ["https://h/a.m3u8": Self.media]),
                    policy: RecoveryPolicy(retries: 0)
                )
            )
            _ = try? await incomplete.run()
            let asset = try #require(try stage.library.assets().first)
            #expect(asset.state == .partial)
            let segment = "/offline/\(asset.id)/media/000000.ts"
            try await expectEnd(of: segment, waitingFor: "https://h/0.ts", stage)
        }
    }

    // MARK: Occupied threads

    /// Two heavy edits occupy all threads that edit playlists.
    @Test func heavyEditsDoNotDelayOtherRequests() async throws {
        try await RouteStage.run(origin(), threads: 2) { stage in
            let occupation = await stage.occupyThreads(2)
            defer { for task in occupation { task.cancel() } }
            let edits = try ["main", "last"].map { name in
                try stage.request("/play.m3u8?url=https://h/\(name).m3u8&duration=4")
            }
            // Both sources are loaded, and wait for a thread on which they are parsed.
            try await stage.wait {
                Set(stage.origin.requested) == ["https://h/main.m3u8", "https://h/last.m3u8"]
                    && stage.capacity.pendingRequests == 2
            }
            #expect(try await stage.ask("/health").body == #"{"status":"ok"}"#)
            #expect(try await stage.ask("/api/streams").body == #"{"streams":[]}"#)
            for path in ["/api/edits", "/api/conditions", "/metrics", "/api/library", "/"] {
                #expect(try await stage.ask(path).status == 200, "\(path)")
            }
            #expect(stage.capacity.pendingRequests == 2, "the edits wait until now")
            for task in occupation { task.cancel() }
            for edit in edits {
                let response = RawResponse(try await edit.readToEnd())
                #expect(response.status == 200 && response.body.hasPrefix("#EXTM3U"), "\(response.body)")
            }
        }
    }
}
