import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Testing

/// Tests of downloads that replace what another selection of the same stream has stored.
@Suite struct ReplacedSelectionTests {
    private let temporary: TemporaryLibrary
    private static let root = "https://origin.example/"

    init() throws { temporary = try TemporaryLibrary() }

    private static let texts: [String: String] = {
        let main = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="text.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=1500000,RESOLUTION=1280x720,AUDIO="a",SUBTITLES="s"
            high.m3u8

            """
        var texts = [root + "main.m3u8": main]
        for name in ["low", "high", "en", "ko", "text"] {
            let segment = name == "text" ? "text.vtt" : "\(name).ts"
            texts[root + "\(name).m3u8"] =
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(segment)\n#EXT-X-ENDLIST\n"
            texts[root + segment] = name == "text" ? "WEBVTT\n" : "media of \(name)"
        }
        return texts
    }()

    private func download(
        _ selection: DownloadSelection,
        further: [DownloadSelection] = [],
        replaces: Bool = false,
        from origin: ScriptedTransport = ScriptedTransport(texts: texts)
    ) async throws -> StoredAsset {
        var configuration = DownloadConfiguration(selection: selection)
        configuration.furtherSelections = further
        configuration.replacesStoredSegments = replaces
        return try await AssetDownload(
            ResourceAddress(Self.root + "main.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration
        ).run()
    }

    private static let all = DownloadSelection(variants: .all)
    private static let korean = DownloadSelection(variants: .lowest, audio: .some(["ko"]), subtitles: .none)

    private func folders(_ asset: StoredAsset) throws -> [String] {
        let package = temporary.library.packageDirectory(asset.id)
        return try FileManager.default.contentsOfDirectory(atPath: package.path).filter { !$0.contains(".") }.sorted()
    }

    @Test func mediaPlaylistsOutsideOfTheSelectionAreDeletedOnRequest() async throws {
        let all = try await download(Self.all)
        #expect(all.state == .complete && all.renditions.count == 5)
        let added = try await download(Self.korean)
        #expect(added.id == all.id && added.renditions.count == 5)
        let origin = ScriptedTransport(texts: Self.texts)
        let replaced = try await download(Self.korean, replaces: true, from: origin)
        #expect(replaced.id == all.id && replaced.state == .complete && replaced.isPlayableOffline)
        #expect(replaced.renditions.map(\.role) == [.variant, .audio])
        #expect(replaced.renditions.last?.language == "ko" && replaced.bytes < all.bytes)
        #expect(try folders(replaced) == ["audio-1", "variant-0"])
        let playlist = try temporary.text("multivariant.m3u8", of: replaced.id)
        #expect(!playlist.contains("1280x720") && !playlist.contains("English") && playlist.contains("Korean"))
        #expect(!origin.requestedAddresses.contains { $0.hasSuffix(".ts") })
        #expect(try temporary.library.verify(replaced.id).damaged == [])
    }

    /// Files that are missing from another selection do not matter anymore.
    @Test func assetIsCompleteAfterTheRestOfAnotherSelectionIsDeleted() async throws {
        var texts = Self.texts
        texts[Self.root + "high.ts"] = nil
        await #expect(throws: DownloadError.self) {
            try await download(Self.all, from: ScriptedTransport(texts: texts))
        }
        let replaced = try await download(Self.korean, replaces: true, from: ScriptedTransport(texts: texts))
        #expect(replaced.state == .complete && replaced.renditions.count == 2)
    }

    @Test func nothingIsDeletedIfTheDownloadFails() async throws {
        let low = DownloadSelection(variants: .lowest, audio: .some(["en"]), subtitles: .none)
        let first = try await download(low)
        var texts = Self.texts
        texts[Self.root + "ko.ts"] = nil
        await #expect(throws: DownloadError.self) {
            try await download(Self.korean, replaces: true, from: ScriptedTransport(texts: texts))
        }
        #expect(try temporary.text("audio-0/000000.ts", of: first.id) == "media of en")
    }

    @Test func selectionsOfOneDownloadDoNotReplaceEachOther() async throws {
        let best = DownloadSelection(variants: .best, audio: .some(["en"]), subtitles: .none)
        _ = try await download(Self.korean, further: [best], replaces: true)
        let asset = try await download(best, further: [Self.korean], replaces: true)
        #expect(asset.state == .complete && asset.renditions.count == 4)
    }

    @Test func mediaThatIsPlayedIsNotDeleted() async throws {
        let all = try await download(Self.all)
        let use = try #require(PackageUse(temporary.library.packageDirectory(all.id)))
        let error = await #expect(throws: DownloadError.self) { try await download(Self.korean, replaces: true) }
        #expect(error?.detail == "asset-busy" && error?.message.contains("is being played") == true)
        let asset = try temporary.library.asset(all.id)
        #expect(asset.state == .complete && asset.renditions.count == 5)
        withExtendedLifetime(use) {}
    }
}
