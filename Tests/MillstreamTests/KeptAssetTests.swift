import AssetStorage
import Dispatch
import Foundation
import GRDB
import MediaTiming
import MediaTransport
import Millstream
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

/// A delegate that has the files of a stream.
private final class StoredFilesDelegate: AssetResourceLoaderDelegate {
    private let files: [String: [UInt8]]
    private let paths = Mutex<[String]>([])

    init(_ files: [String: [UInt8]]) { self.files = files }

    var asked: [String] { paths.withLock { $0 } }

    func resourceLoader(
        _ resourceLoader: AssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AssetResourceLoadingRequest
    ) -> Bool {
        let path = loadingRequest.request.address.path
        paths.withLock { $0.append(path) }
        guard let bytes = files[path] else { return false }
        loadingRequest.contentInformationRequest.contentLength = Int64(bytes.count)
        loadingRequest.dataRequest.respond(with: bytes)
        loadingRequest.finishLoading()
        return true
    }
}

/// A delegate that holds back the files whose paths have a prefix, until it is told to release them.
private final class HoldingDelegate: AssetResourceLoaderDelegate {
    private struct State {
        var asked: [String] = []
        var held: [(AssetResourceLoadingRequest, [UInt8])] = []
        var isReleased = false
    }

    private let files: [String: String]
    private let prefix: String
    private let state = Mutex(State())

    init(_ files: [String: String], holding prefix: String) {
        self.files = files
        self.prefix = prefix
    }

    var asked: [String] { state.withLock { $0.asked } }

    func release() {
        let held = state.withLock { state in
            state.isReleased = true
            defer { state.held = [] }
            return state.held
        }
        for (request, bytes) in held { Self.finish(request, with: bytes) }
    }

    func resourceLoader(
        _ resourceLoader: AssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AssetResourceLoadingRequest
    ) -> Bool {
        let path = loadingRequest.request.address.path
        guard let bytes = files[path].map({ Array($0.utf8) }) else { return false }
        let isHeld = state.withLock { state in
            state.asked.append(path)
            guard path.hasPrefix(prefix), !state.isReleased else { return false }
            state.held.append((loadingRequest, bytes))
            return true
        }
        if !isHeld { Self.finish(loadingRequest, with: bytes) }
        return true
    }

    private static func finish(_ request: AssetResourceLoadingRequest, with bytes: [UInt8]) {
        request.contentInformationRequest.contentLength = Int64(bytes.count)
        request.dataRequest.respond(with: bytes)
        request.finishLoading()
    }
}

/// Tests the inspection and playback of downloaded assets, and their caches.
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
        let task = AssetDownload(
            ResourceAddress(Self.origin + "main.m3u8"),
            into: library,
            loader: ResourceLoader(web)
        )
        let asset = try await task.run { _ in }
        try library.close()
        try await body(library.packageDirectory(asset.id).path)
    }

    @Test func packageIsInspectedAndHasACache() async throws {
        try await withPackage { folder in
            let asset = Asset(filePath: folder, environment: .withoutDecoding)
            let (duration, isPlayable) = try await asset.load(.duration, .isPlayable)
            #expect(duration == MediaTime(seconds: 1) && isPlayable)
            #expect(asset.assetCache?.isPlayableOffline == true)
        }
    }

    @Test(.timeLimit(.minutes(10))) func packageIsPlayedWithoutANetwork() async throws {
        try await withPackage { folder in
            let item = PlayerItem(asset: Asset(filePath: folder, environment: .withoutDecoding))
            let player = try Player(playerItem: item)
            let notifications = item.notifications
            player.play()
            let end = await notifications.first { $0 == .didPlayToEnd }
            #expect(end == .didPlayToEnd && item.currentTime() == MediaTime(seconds: 1))
        }
    }

    /// Plays an asset to its end while it is downloaded, and returns the stored asset.
    private func playAndDownload(_ asset: Asset, with task: DownloadTask) async throws -> StoredAsset {
        let item = PlayerItem(asset: asset)
        let player = try Player(playerItem: item)
        let notifications = item.notifications
        task.resume()
        player.play()
        let end = await notifications.first { $0 == .didPlayToEnd }
        #expect(end == .didPlayToEnd)
        let stored = try await task.value()
        #expect(stored.isPlayableOffline && stored.source == asset.address)
        return stored
    }

    @Test(.timeLimit(.minutes(10))) func assetIsPlayedAndDownloadedConcurrently() async throws {
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
                options: AssetOptions(headerFields: ["X-Token": "secret"], cookies: [.init(name: "a", value: "1")]),
                environment: .withoutDecoding
            )
            let session = try DownloadSession(identifier: "test", library: library, loader: asset.loader)
            let task = try await session.makeTask(asset)
            let stored = try await playAndDownload(asset, with: task)
            // The player and the download share all requests, and both applied the options of the asset.
            #expect(server.requests.count == 3)
            for request in server.requests {
                #expect(request.header("X-Token") == "secret")
                #expect(request.header("Cookie") == "a=1")
            }
            let offline = Asset(filePath: library.packageDirectory(stored.id).path)
            #expect(offline.assetCache?.isPlayableOffline == true)
        }
    }

    /// The network does not carry the media of the downloaded variant in time: a lower one is played to its end, and the download
    /// continues afterward until the package has its variant throughout.
    @Test(.timeLimit(.minutes(10))) func lowerVariantIsPlayedWhileTheDownloadWaitsForItsOwn() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        let library = try AssetLibrary(directory: directory)
        func media(_ name: String) -> String {
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:0.5,\n\(name)/0.ts\n#EXTINF:0.5,\n\(name)/1.ts\n#EXT-X-ENDLIST\n"
        }
        let delegate = HoldingDelegate(
            [
                "/main.m3u8": """
                #EXTM3U
                #EXT-X-STREAM-INF:BANDWIDTH=300000
                low.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=5000000
                high.m3u8

                """,
                "/low.m3u8": media("low"), "/high.m3u8": media("high"), "/low/0.ts": "low 0", "/low/1.ts": "low 1",
                "/high/0.ts": "high 0", "/high/1.ts": "high 1",
            ],
            holding: "/high/"
        )
        let asset = Asset(ResourceAddress("films://films/main.m3u8"), environment: .withoutDecoding)
        asset.resourceLoader.setDelegate(delegate, queue: DispatchQueue(label: "delegate"))
        let session = try DownloadSession(identifier: "test", library: library, loader: asset.loader)
        let task = try await session.makeTask(asset)
        task.resume()
        while delegate.asked.count(where: { $0.hasPrefix("/high/") }) < 2 {
            try await SystemTimeSource().sleep(for: .milliseconds(10))
        }
        let item = PlayerItem(asset: asset)
        item.preferredPeakBitRate = BitRate(bitsPerSecond: 1_000_000)
        let player = try Player(playerItem: item)
        let notifications = item.notifications
        player.play()
        let end = await notifications.first { $0 == .didPlayToEnd }
        #expect(end == .didPlayToEnd)
        #expect(task.state == .running, "playback has ended, the download has not")
        delegate.release()
        let stored = try await task.value()
        #expect(stored.state == .complete && library.isPlayableOffline(stored.id))
        #expect(stored.renditions.map(\.bandwidth) == [BitRate(bitsPerSecond: 5_000_000)])
        for number in 0...1 {
            let file = library.packageDirectory(stored.id)
                .appendingPathComponent("\(stored.renditions[0].folder)/00000\(number).ts")
            #expect(try String(contentsOf: file, encoding: .utf8) == "high \(number)")
        }
        // Each file was requested once, although both the player and the download were running.
        let segments = delegate.asked.filter { $0.hasSuffix(".ts") }
        #expect(segments.sorted() == ["/high/0.ts", "/high/1.ts", "/low/0.ts", "/low/1.ts"])
        await session.invalidate()
    }

    @Test(.timeLimit(.minutes(10))) func assetWithADelegateIsPlayedAndDownloadedConcurrently() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        let library = try AssetLibrary(directory: directory)
        let delegate = StoredFilesDelegate([
            "/film.m3u8": Array(
                """
                #EXTM3U
                #EXT-X-TARGETDURATION:1
                #EXT-X-KEY:METHOD=SAMPLE-AES,URI="key"
                #EXTINF:0.5,
                a.ts
                #EXT-X-KEY:METHOD=NONE
                #EXTINF:0.5,
                b.ts
                #EXT-X-ENDLIST

                """.utf8
            ),
            "/key": [UInt8](repeating: 7, count: 16), "/a.ts": [1, 2, 3], "/b.ts": [4, 5, 6],
        ])
        let asset = Asset(ResourceAddress("films://films/film.m3u8"), environment: .withoutDecoding)
        asset.resourceLoader.setDelegate(delegate, queue: DispatchQueue(label: "delegate"))
        let session = try DownloadSession(identifier: "test", library: library, loader: asset.loader)
        let task = try await session.makeTask(asset)
        let stored = try await playAndDownload(asset, with: task)
        let offline = Asset(filePath: library.packageDirectory(stored.id).path)
        #expect(offline.assetCache?.isPlayableOffline == true)
        #expect(Set(delegate.asked) == ["/film.m3u8", "/key", "/a.ts", "/b.ts"])
    }

    /// Returns the names in a folder, with the size and modification date of each file.
    private static func contents(of folder: String) throws -> [String: String] {
        let names = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
                return (name, "\(attributes[.size] ?? 0) \(attributes[.modificationDate] ?? 0)")
            }
        )
    }

    @Test(.timeLimit(.minutes(10))) func creatingAnAssetReadsNoFiles() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("later-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        let package = directory.appendingPathComponent("packages/abcdefgh2345")
        // The path does not exist yet; it is resolved when the asset is loaded.
        let asset = Asset(filePath: package.path)
        #expect(!FileManager.default.fileExists(atPath: directory.path))
        try await withPackage { folder in
            let library = URL(fileURLWithPath: folder).deletingLastPathComponent().deletingLastPathComponent()
            try FileManager.default.copyItem(at: library, to: directory)
            let name = URL(fileURLWithPath: folder).lastPathComponent
            try FileManager.default.moveItem(at: directory.appendingPathComponent("packages/\(name)"), to: package)
            let database = try DatabaseQueue(path: directory.appendingPathComponent("catalogue.sqlite").path)
            try await database.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA foreign_keys = OFF")
                try database.execute(sql: "UPDATE asset SET id = 'abcdefgh2345'")
                try database.execute(sql: "UPDATE rendition SET assetID = 'abcdefgh2345'")
                try database.execute(sql: "UPDATE resource SET assetID = 'abcdefgh2345'")
            }
        }
        #expect(try await asset.load(.duration) == MediaTime(seconds: 1))
    }

    @Test(.timeLimit(.minutes(10))) func playingAPackageDoesNotModifyItsLibrary() async throws {
        try await withPackage { folder in
            let library = URL(fileURLWithPath: folder).deletingLastPathComponent().deletingLastPathComponent()
            // An orphan that would be deleted if the library were opened for writing.
            let orphan = library.appendingPathComponent("packages/orphan")
            try FileManager.default.createDirectory(at: orphan, withIntermediateDirectories: true)
            let before = try Self.contents(of: library.path)
            let asset = Asset(filePath: folder, environment: .withoutDecoding)
            #expect(asset.assetCache?.isPlayableOffline == true)
            let item = PlayerItem(asset: asset)
            let player = try Player(playerItem: item)
            let notifications = item.notifications
            player.play()
            let end = await notifications.first { $0 == .didPlayToEnd }
            #expect(end == .didPlayToEnd)
            let after = try Self.contents(of: library.path)
            let changed = after.filter { before[$0.key] != $0.value }
            #expect(changed.isEmpty, "\(changed)")
            #expect(after.count == before.count)
            #expect(before.keys.contains("packages/orphan"))
        }
    }

    /// No origin answers, so that everything is read from the disk.
    @Test func remoteAssetHasTheCacheOfItsDownload() async throws {
        try await withPackage { folder in
            var options = AssetOptions()
            options.library = URL(fileURLWithPath: folder).deletingLastPathComponent().deletingLastPathComponent()
            let source = ResourceAddress(Self.origin + "main.m3u8")
            let asset = Asset(source, options: options, environment: .withoutDecoding)
            #expect(asset.assetCache?.isPlayableOffline == true)
            #expect(Asset(sharing: asset, environment: .withoutDecoding).assetCache == asset.assetCache)
            let duration = try await asset.load(.duration)
            #expect(duration == MediaTime(seconds: 1))
            let other = ResourceAddress(Self.origin + "other.m3u8")
            #expect(Asset(other, options: options, environment: .withoutDecoding).assetCache == nil)
            options.library = URL(fileURLWithPath: "/nowhere/at/all")
            #expect(Asset(source, options: options, environment: .withoutDecoding).assetCache == nil)
        }
    }

    @Test func cacheOfARemoteAssetHasTheStoredMediaSelectionOptions() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        let library = try AssetLibrary(directory: directory)
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n"
        let web = ScriptedTransport(texts: [
            Self.origin + "main.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1000,AUDIO="a"
            media.m3u8

            """,
            Self.origin + "media.m3u8": media, Self.origin + "en.m3u8": media.replacing("a.ts", with: "en.ts"),
            Self.origin + "a.ts": "media of a", Self.origin + "en.ts": "media of en",
        ])
        let source = ResourceAddress(Self.origin + "main.m3u8")
        _ = try await AssetDownload(
            source,
            into: library,
            loader: ResourceLoader(web),
            configuration: DownloadConfiguration(selection: DownloadSelection(audio: .some(["en"])))
        ).run()
        try library.close()
        var options = AssetOptions()
        options.library = directory
        let asset = Asset(source, options: options, environment: .withoutDecoding)
        let group = try #require(try await asset.loadMediaSelectionGroup(for: .audible))
        #expect(group.options.map(\.name) == ["English", "Korean"])
        let cache = try #require(asset.assetCache)
        #expect(cache.isPlayableOffline)
        #expect(cache.mediaSelectionOptions(in: group).map(\.name) == ["English"])
    }

    @Test func remoteAndMissingAssetsHaveNoCache() {
        let (online, nowhere) = (Asset(ResourceAddress(Self.origin + "main.m3u8")), Asset(filePath: "/nowhere/at/all"))
        #expect(online.assetCache == nil)
        #expect(nowhere.assetCache == nil)
    }
}
