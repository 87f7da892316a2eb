import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import Millstream
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Testing

/// What was downloaded is an asset like any other, and knows what of it is there.
@Suite struct KeptAssetTests {
    private static let origin = "https://origin.example/"

    private func withPackage(_ body: (_ folder: String) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        let library = try AssetLibrary(directory: directory)
        let web = ScriptedTransport(texts: [
            Self.origin + "main.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\nmedia.m3u8\n",
            Self.origin + "media.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n",
            Self.origin + "a.ts": "media of a",
        ])
        let task = DownloadTask(
            ResourceAddress(Self.origin + "main.m3u8"),
            into: library,
            loading: ResourceLoading(web)
        )
        let asset = try await task.run { _ in }
        try await body(library.packageDirectory(asset.id).path)
    }

    @Test func aPackageIsInspectedAndHasACache() async throws {
        try await withPackage { folder in
            let asset = Asset(filePath: folder)
            let (duration, isPlayable) = try await asset.load(.duration, .isPlayable)
            #expect(duration == MediaTime(seconds: 1) && isPlayable)
            #expect(asset.assetCache?.isPlayableOffline == true)
        }
    }

    @Test(.timeLimit(.minutes(1))) func aPackageIsPlayedWithoutANetwork() async throws {
        try await withPackage { folder in
            let item = PlayerItem(asset: Asset(filePath: folder))
            let player = try Player(playerItem: item)
            let notifications = item.notifications
            player.play()
            let end = await notifications.first { $0 == .didPlayToEnd }
            #expect(end == .didPlayToEnd && item.currentTime() == MediaTime(seconds: 1))
        }
    }

    @Test(.timeLimit(.minutes(1))) func oneAssetIsPlayedAndKeptAtOnce() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        let library = try AssetLibrary(directory: directory)
        let film = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:0.5,\na.ts\n#EXTINF:0.5,\nb.ts\n#EXT-X-ENDLIST\n"
        try await MisbehavingServer.withServer([
            "/film.m3u8": .init(Array(film.utf8), contentType: "application/vnd.apple.mpegurl"),
            "/a.ts": .init([1, 2, 3], contentType: "video/mp2t"),
            "/b.ts": .init([4, 5, 6], contentType: "video/mp2t"),
        ]) { server in
            let asset = Asset(
                ResourceAddress(server.address("/film.m3u8")),
                options: AssetOptions(headerFields: ["X-Token": "secret"], cookies: [.init(name: "a", value: "1")])
            )
            let item = PlayerItem(asset: asset)
            let player = try Player(playerItem: item)
            let notifications = item.notifications
            async let kept = DownloadTask(asset, into: library).run()
            player.play()
            let end = await notifications.first { $0 == .didPlayToEnd }
            #expect(end == .didPlayToEnd)
            let stored = try await kept
            #expect(stored.isPlayableOffline && stored.source == asset.address)
            // Both asked with what the asset says.
            #expect(server.requests.count == 6)
            for request in server.requests {
                #expect(request.header("X-Token") == "secret")
                #expect(request.header("Cookie") == "a=1")
            }
            let offline = Asset(filePath: library.packageDirectory(stored.id).path)
            #expect(offline.assetCache?.isPlayableOffline == true)
        }
    }

    @Test func whatIsOnlineHasNoCache() {
        let (online, nowhere) = (Asset(ResourceAddress(Self.origin + "main.m3u8")), Asset(filePath: "/nowhere/at/all"))
        #expect(online.assetCache == nil)
        #expect(nowhere.assetCache == nil)
    }
}
