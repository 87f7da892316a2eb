import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Testing

/// Tests downloads of presentations with I-frame playlists and interstitials, and of several selections of one source.
@Suite struct IFrameDownloadTests {
    private let temporary: TemporaryLibrary
    private static let root = "https://origin.example/"

    init() throws { temporary = try TemporaryLibrary() }

    private static func video(_ name: String) -> String {
        """
        #EXTM3U
        #EXT-X-TARGETDURATION:4
        #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z
        #EXT-X-DATERANGE:ID="ad",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:04Z",X-ASSET-URI="https://ads.example/ad.m3u8"
        #EXT-X-DATERANGE:ID="chapter",START-DATE="2026-01-01T00:00:00Z",DURATION=4
        #EXTINF:4,
        \(name)0.ts
        #EXTINF:4,
        \(name)1.ts
        #EXT-X-ENDLIST

        """
    }

    private static func iFrames(_ name: String) -> String {
        """
        #EXTM3U
        #EXT-X-VERSION:4
        #EXT-X-TARGETDURATION:4
        #EXT-X-I-FRAMES-ONLY
        #EXTINF:4,
        #EXT-X-BYTERANGE:6@2
        \(name)0.ts
        #EXTINF:4,
        #EXT-X-BYTERANGE:5@3
        \(name)1.ts
        #EXT-X-ENDLIST

        """
    }

    private static let texts = [
        root + "main.m3u8": """
        #EXTM3U
        #EXT-X-SESSION-DATA:DATA-ID="a",URI="data.json"
        #EXT-X-IMAGE-STREAM-INF:BANDWIDTH=1000,RESOLUTION=160x90,URI="images.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1500000,RESOLUTION=1280x720
        high.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=50000,RESOLUTION=640x360,URI="low-i.m3u8"
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=150000,RESOLUTION=1280x720,URI="high-i.m3u8"

        """,
        root + "low.m3u8": video("low"), root + "high.m3u8": video("high"),
        root + "low-i.m3u8": iFrames("low"), root + "high-i.m3u8": iFrames("high"),
        root + "low0.ts": "low zero 0123456789", root + "low1.ts": "low one 0123456789",
        root + "high0.ts": "high zero 0123456789", root + "high1.ts": "high one 0123456789",
    ]

    private func download(
        _ variants: DownloadSelection.Variants,
        from origin: ScriptedTransport = ScriptedTransport(texts: texts),
        title: String? = nil
    ) async throws -> StoredAsset {
        let session = try DownloadSession(
            identifier: "test",
            library: temporary.library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0))
        )
        let task = try await session.makeTask(
            ResourceAddress(Self.root + "main.m3u8"),
            configuration: DownloadConfiguration(selection: DownloadSelection(variants: variants), title: title)
        )
        task.resume()
        let result = await Result { try await task.value() }
        await session.invalidate()
        return try result.get()
    }

    private func text(_ path: String, _ asset: StoredAsset) throws -> String {
        try String(
            contentsOf: temporary.library.packageDirectory(asset.id).appendingPathComponent(path),
            encoding: .utf8
        )
    }

    @Test func iFramesAreStoredWithoutBeingFetchedTwice() async throws {
        let origin = ScriptedTransport(texts: Self.texts)
        let asset = try await download(.maximumHeight(360), from: origin)
        #expect(asset.state == .complete && asset.isPlayableOffline)
        #expect(asset.renditions.map(\.role) == [.variant, .iFrames])
        let media = origin.requestedAddresses.filter { $0.hasSuffix(".ts") }
        #expect(media.sorted() == [Self.root + "low0.ts", Self.root + "low1.ts"])
        let multivariant = try text("multivariant.m3u8", asset)
        #expect(multivariant.contains("URI=\"i-frames-0/media.m3u8\""))
        #expect(multivariant.components(separatedBy: "I-FRAME-STREAM-INF").count == 2)
        #expect(!multivariant.contains("images.m3u8") && !multivariant.contains("data.json"))
        let playlist = try text("i-frames-0/media.m3u8", asset)
        #expect(playlist.contains("EXT-X-I-FRAMES-ONLY") && !playlist.contains("BYTERANGE"))
        #expect(try text("i-frames-0/000000.ts", asset) == "w zero")
        #expect(try text("i-frames-0/000001.ts", asset) == " one ")
        #expect(try temporary.library.verify(asset.id).damaged == [])
    }

    @Test func aRepairRestoresIFrames() async throws {
        let asset = try await download(.maximumHeight(360))
        let package = temporary.library.packageDirectory(asset.id)
        try FileManager.default.removeItem(at: package.appendingPathComponent("i-frames-0/000001.ts"))
        let result = try await AssetRepair(
            asset.id,
            in: temporary.library,
            loader: ResourceLoader(ScriptedTransport(texts: Self.texts), policy: RecoveryPolicy(retries: 0))
        ).run()
        #expect(result.repaired == ["i-frames-0/000001.ts"] && result.failure == nil)
        #expect(try text("i-frames-0/000001.ts", asset) == " one ")
    }

    @Test(arguments: ["#EXT-X-BYTERANGE:6@2000\nlow0.ts", "#EXT-X-BYTERANGE:6@2\nmissing.ts"])
    func iFramesThatCannotBeLoadedAreLeftOut(segment: String) async throws {
        var texts = Self.texts
        texts[Self.root + "low-i.m3u8"] =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-I-FRAMES-ONLY\n#EXTINF:4,\n\(segment)\n#EXT-X-ENDLIST\n"
        let asset = try await download(.maximumHeight(360), from: ScriptedTransport(texts: texts))
        #expect(asset.state == .complete && asset.renditions.map(\.role) == [.variant])
        #expect(!(try text("multivariant.m3u8", asset).contains("I-FRAME")))
        #expect(try temporary.library.omittedContent(of: asset.id).iFramePlaylists == 1)
        #expect(try temporary.library.verify(asset.id).damaged == [])
    }

    @Test func aMissingIFramePlaylistIsIgnored() async throws {
        var texts = Self.texts
        texts[Self.root + "low-i.m3u8"] = nil
        let asset = try await download(.maximumHeight(360), from: ScriptedTransport(texts: texts))
        #expect(asset.state == .complete && asset.renditions.map(\.role) == [.variant])
        #expect(try temporary.library.omittedContent(of: asset.id).iFramePlaylists == 1)
    }

    @Test func everyMissingIFramePlaylistOfAnEntireDownloadIsReported() async throws {
        var texts = Self.texts
        texts[Self.root + "low-i.m3u8"] = nil
        let some = try await download(.all, from: ScriptedTransport(texts: texts))
        #expect(try temporary.library.omittedContent(of: some.id).iFramePlaylists == 1)
        let all = try await download(.all)
        #expect(try temporary.library.omittedContent(of: all.id).iFramePlaylists == 0)
    }

    @Test func shrinkingRemovesIFramesOfRemovedVariants() async throws {
        let both = try await download(.all)
        #expect(both.renditions.map(\.role) == [.variant, .variant, .iFrames, .iFrames])
        _ = try temporary.library.shrink(both.id, to: .maximumHeight(360))
        let asset = try temporary.library.asset(both.id)
        #expect(asset.renditions.map(\.role) == [.variant, .iFrames])
        #expect(try text("multivariant.m3u8", asset).contains("i-frames-0") && asset.state == .complete)
    }

    @Test func whatIsNotStoredIsReportedAndNotReferredTo() async throws {
        let asset = try await download(.lowest)
        let playlist = try text("variant-0/media.m3u8", asset)
        #expect(!playlist.contains("ads.example") && playlist.contains("chapter"))
        let omitted = try temporary.library.omittedContent(of: asset.id)
        #expect(omitted.interstitials == 1 && omitted.sessionData == 1 && omitted.imagePlaylists == 1)
        #expect(omitted.iFramePlaylists == 0)
    }

    // MARK: Several selections

    @Test func filesOfAnotherSelectionDoNotBlockADownload() async throws {
        var texts = Self.texts
        texts[Self.root + "high1.ts"] = nil
        await #expect(throws: DownloadError.self) {
            try await download(.best, from: ScriptedTransport(texts: texts))
        }
        let asset = try await download(.maximumHeight(360), from: ScriptedTransport(texts: texts))
        #expect(asset.isPlayableOffline && asset.state == .partial)
        // What was stored of the other variant stays, and a later download completes it.
        #expect(try text("variant-1/000000.ts", asset) == "high zero 0123456789")
        let origin = ScriptedTransport(texts: Self.texts)
        let all = try await download(.best, from: origin)
        #expect(all.state == .complete)
        #expect(origin.requestedAddresses.filter { $0.hasSuffix(".ts") } == [Self.root + "high1.ts"])
    }

    @Test func aTitleReplacesTheFormerOne() async throws {
        #expect(try await download(.lowest).title == "origin.example")
        #expect(try await download(.lowest, title: "Film").title == "Film")
        #expect(try await download(.best).title == "Film")
    }

    @Test func anAssetStaysCompleteIfEverythingIsStored() async throws {
        let asset = try await download(.lowest)
        let session = try DownloadSession(
            identifier: "test",
            library: temporary.library,
            loader: ResourceLoader(ScriptedTransport(texts: Self.texts), policy: RecoveryPolicy(retries: 0))
        )
        _ = try await session.enqueue(
            ResourceAddress(Self.root + "main.m3u8"),
            configuration: DownloadConfiguration(selection: DownloadSelection(variants: .lowest))
        )
        #expect(try temporary.library.asset(asset.id).state == .complete)
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
