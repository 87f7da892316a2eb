import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Testing

/// Tests of downloads of another selection of a stored stream that are refused before anything of it is stored.
@Suite(.timeLimit(.minutes(5))) struct RefusedDownloadTests {
    private let temporary: TemporaryLibrary
    private static let root = "https://origin.example/"

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    /// A stream with variants of 100, 110 and 3,000 bytes; the last one has a second segment.
    private static let texts: [String: String] = {
        var texts = [
            root + "main.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,AUDIO="a"
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=700000,RESOLUTION=960x540,AUDIO="a"
            middle.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=80000000,RESOLUTION=1280x720,AUDIO="a"
            high.m3u8

            """
        ]
        for (name, size) in [("low", 100), ("middle", 110), ("high", 2_000), ("en", 20)] {
            let second = name == "high" ? "#EXTINF:4,\nhigh-2.m4s\n" : ""
            texts[root + "\(name).m3u8"] =
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"\(name).mp4\"\n#EXTINF:4,\n\(name).m4s\n\(second)"
                + "#EXT-X-ENDLIST\n"
            texts[root + "\(name).mp4"] = name == "high" ? String(repeating: "i", count: 1_000) : "init of \(name)"
            texts[root + "\(name).m4s"] = String(repeating: "x", count: size) + name
        }
        texts[root + "high-2.m4s"] = "second"
        return texts
    }()

    private static let lowest = DownloadSelection(variants: .lowest)
    private static let best = DownloadSelection(variants: .best)

    private static func configuration(_ selection: DownloadSelection, size: Int64?) -> DownloadConfiguration {
        var configuration = DownloadConfiguration(selection: selection, maximumConcurrentFetches: 1)
        if let size { configuration.limits.assetSize = ByteCount(size) }
        return configuration
    }

    @discardableResult
    private func download(
        _ selection: DownloadSelection,
        size: Int64? = nil,
        from origin: ScriptedTransport = ScriptedTransport(texts: texts)
    ) async throws -> StoredAsset {
        try await AssetDownload(
            ResourceAddress(Self.root + "main.m3u8"),
            into: library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            configuration: Self.configuration(selection, size: size)
        ).run()
    }

    /// Expects that an asset is as it was before the refused download.
    private func expectUnchanged(_ former: StoredAsset) throws {
        let asset = try library.asset(former.id)
        #expect(asset.state == .complete && asset.isPlayableOffline && asset.percent == 100)
        #expect(asset.renditions == former.renditions && asset.selection == former.selection)
        let names = try FileManager.default.contentsOfDirectory(atPath: library.packageDirectory(asset.id).path)
        #expect(names.filter { !$0.contains(".") }.sorted() == ["audio-0", "variant-0"])
        let playlist = try temporary.text("multivariant.m3u8", of: asset.id)
        #expect(playlist.contains("640x360") && !playlist.contains("1280x720"))
        #expect(try library.verify(asset.id).damaged == [])
    }

    @Test func assetStaysCompleteIfABetterSelectionIsTooLarge() async throws {
        let asset = try await download(Self.lowest)
        let error = await #expect(throws: DownloadError.self) { try await download(Self.best, size: 500) }
        #expect(error?.code == .tooLarge)
        try expectUnchanged(asset)
        let origin = ScriptedTransport(texts: Self.texts)
        let both = try await download(Self.best, from: origin)
        #expect(both.id == asset.id && both.state == .complete && both.selection != asset.selection)
        #expect(both.renditions.count { $0.role == .variant } == 2)
        #expect(!origin.requestedAddresses.contains(Self.root + "low.m4s"))
    }

    @Test func assetStaysCompleteIfTheLimitsOfTheLibraryLeaveNoSpace() async throws {
        let asset = try await download(Self.lowest)
        try library.setStorageLimits(StorageLimits(quota: library.diskUsage.occupiedBytes + ByteCount(1_500_000)))
        let error = await #expect(throws: DownloadError.self) { try await download(Self.best) }
        #expect(error?.detail == "disk-full")
        try expectUnchanged(asset)
    }

    /// The session enters the files in the catalog before the download runs.
    @Test func taskOfASessionLeavesTheAssetComplete() async throws {
        let asset = try await download(Self.lowest)
        let session = try temporary.session("refused", ScriptedTransport(texts: Self.texts))
        let task = try await session.makeTask(
            ResourceAddress(Self.root + "main.m3u8"),
            configuration: Self.configuration(Self.best, size: 500)
        )
        task.resume()
        let error = await #expect(throws: DownloadError.self) { try await task.value() }
        #expect(error?.code == .tooLarge)
        await session.invalidate()
        try expectUnchanged(asset)
        #expect(try library.downloads().map(\.state) == [.failed])
        #expect(try library.progressOfDownloads(of: asset.id)[asset.id]?.percent == 0)
    }

    /// A variant that is stored stays, and does not make the asset incomplete.
    @Test func onlyWhatIsNotStoredIsRemoved() async throws {
        let former = try await download(Self.lowest)
        await #expect(throws: DownloadError.self) { try await download(DownloadSelection(variants: .all), size: 500) }
        let asset = try library.asset(former.id)
        #expect(asset.state == .complete && asset.selection != former.selection)
        #expect(asset.renditions.filter { $0.role == .variant }.map(\.height) == [360, 540])
    }

    @Test func beginningThatIsStoredStays() async throws {
        let former = try await download(Self.lowest)
        await #expect(throws: DownloadError.self) { try await download(Self.best, size: 2_000) }
        let asset = try library.asset(former.id)
        #expect(asset.state == .partial && asset.renditions.contains { $0.height == 720 })
        #expect(try temporary.text("variant-2/media.m3u8", of: asset.id).contains("EXT-X-MAP"))
    }

    /// A download whose connection fails is continued.
    @Test func interruptedDownloadRemovesNothing() async throws {
        let former = try await download(Self.lowest)
        var texts = Self.texts
        for name in ["high.mp4", "high.m4s", "high-2.m4s"] { texts[Self.root + name] = nil }
        await #expect(throws: DownloadError.self) {
            try await download(Self.best, from: ScriptedTransport(texts: texts))
        }
        let asset = try library.asset(former.id)
        #expect(asset.state == .partial && asset.renditions.contains { $0.height == 720 })
    }

    @Test func playlistsThatArePlayedAreNotRemoved() async throws {
        let former = try await download(Self.lowest)
        let use = try #require(PackageUse(library.packageDirectory(former.id)))
        let error = await #expect(throws: DownloadError.self) { try await download(Self.best, size: 500) }
        #expect(error?.code == .tooLarge)
        #expect(try library.asset(former.id).renditions.contains { $0.height == 720 })
        withExtendedLifetime(use) {}
    }
}
