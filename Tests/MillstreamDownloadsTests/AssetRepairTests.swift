import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

/// An origin with ten segments whose addresses contain a signature that can be replaced.
private final class RepairOrigin: Sendable {
    private struct State {
        var signature = "a"
        var requests: [String] = []
        var missing: Set<String> = []
        var duration = 6
    }

    static let root = "https://origin.example/"
    private let state = Mutex(State())
    private let isEncrypted: Bool

    /// Creates an origin, whose segments can have a key and an initialization section.
    init(isEncrypted: Bool = false) { self.isEncrypted = isEncrypted }

    var requests: [String] { state.withLock { $0.requests } }
    func clear() { state.withLock { $0.requests = [] } }
    func sign(_ signature: String) { state.withLock { $0.signature = signature } }
    func changeDuration() { state.withLock { $0.duration = 5 } }
    func remove(_ name: String) { state.withLock { _ = $0.missing.insert(name) } }

    var loader: ResourceLoader {
        ResourceLoader(
            SyntheticOrigin(time: SystemTimeSource()) { address, _ in self.resource(address) },
            policy: RecoveryPolicy(retries: 0)
        )
    }

    private func resource(_ address: String) -> SyntheticOrigin.Resource? {
        let parts = address.dropFirst(Self.root.count).split(separator: "?t=").map(String.init)
        return state.withLock { state in
            state.requests.append(parts[0])
            if parts[0] == "main.m3u8" {
                return .text(
                    "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=900000\nhigh.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=500000\nlow.m3u8\n"
                )
            }
            if parts[0].hasSuffix(".m3u8") {
                let query = "?t=\(state.signature)"
                let segments = (0..<10).map { "#EXTINF:\(state.duration),\n\($0).ts\(query)\n" }.joined()
                let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"key\(query)\",IV=0x01\n#EXT-X-MAP:URI=\"init.mp4\(query)\"\n"
                let tags = isEncrypted ? key : ""
                return .text("#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n\(tags)\(segments)#EXT-X-ENDLIST\n")
            }
            guard parts.count == 2, parts[1] == state.signature else {
                return .failure(TransportError(.status, "the signature has expired", status: 403))
            }
            guard !state.missing.contains(parts[0]) else {
                return .failure(TransportError(.status, "not found", status: 404))
            }
            return .bytes(Array((parts[0] == "key" ? "0123456789abcdef" : "media of \(parts[0])").utf8))
        }
    }
}

/// Tests that damaged files of downloaded assets are replaced.
@Suite struct AssetRepairTests {
    private let temporary: TemporaryLibrary
    private let origin = RepairOrigin()
    private let id: String

    init() async throws {
        temporary = try TemporaryLibrary()
        let task = AssetDownload(
            ResourceAddress(RepairOrigin.root + "main.m3u8"),
            into: temporary.library,
            loader: origin.loader,
            configuration: DownloadConfiguration(selection: DownloadSelection(variants: .lowest))
        )
        id = try await task.run().id
        origin.clear()
    }

    private var library: AssetLibrary { temporary.library }

    private func url(_ path: String) -> URL { library.packageDirectory(id).appendingPathComponent(path) }
    private func repair() async throws -> AssetRepair.Result {
        try await AssetRepair(id, in: library, loader: origin.loader).run()
    }

    @Test func onlyDamagedAndMissingFilesAreFetched() async throws {
        try Data("media of 3.tx".utf8).write(to: url("variant-1/000003.ts"))
        try FileManager.default.removeItem(at: url("variant-1/000007.ts"))
        try Data("x".utf8).write(to: url("variant-1/media.m3u8"))
        let result = try await repair()
        #expect(result.damaged == ["variant-1/000003.ts", "variant-1/000007.ts", "variant-1/media.m3u8"])
        #expect(result.repaired == result.damaged && result.failure == nil)
        #expect(origin.requests.sorted() == ["3.ts", "7.ts"])
        #expect(try temporary.text("variant-1/000003.ts", of: id) == "media of 3.ts")
        #expect(try library.asset(id).state == .complete)
        #expect(try library.verify(id).damaged.isEmpty)
        #expect(try await repair().damaged.isEmpty)
    }

    @Test func filesThatAnEarlierVerificationFoundAreFetched() async throws {
        try FileManager.default.removeItem(at: url("variant-1/000007.ts"))
        #expect(try library.verify(id).damaged == ["variant-1/000007.ts"])
        #expect(try library.asset(id).state == .partial)
        #expect(try await repair().repaired == ["variant-1/000007.ts"])
        #expect(try library.asset(id).state == .complete)
    }

    @Test func filesThatWereNeverStoredAreNotFetched() async throws {
        // A segment of another variant fails, so that the asset is partial.
        origin.sign("b")
        origin.remove("9.ts")
        let more = AssetDownload(
            ResourceAddress(RepairOrigin.root + "main.m3u8"),
            into: library,
            loader: origin.loader,
            configuration: DownloadConfiguration(
                selection: DownloadSelection(variants: .best),
                maximumConcurrentFetches: 1
            )
        )
        await #expect(throws: DownloadError.self) { try await more.run() }
        try FileManager.default.removeItem(at: url("variant-1/000007.ts"))
        origin.sign("a")
        origin.clear()
        let result = try await repair()
        #expect(result.repaired == ["variant-1/000007.ts"])
        #expect(origin.requests.filter { $0.hasSuffix(".ts") } == ["7.ts"])
        #expect(try library.asset(id).state == .partial)
    }

    @Test func expiredAddressesAreRenewed() async throws {
        try FileManager.default.removeItem(at: url("variant-1/000007.ts"))
        origin.sign("b")
        let result = try await repair()
        #expect(result.repaired == ["variant-1/000007.ts"] && result.failure == nil)
        // Only the playlist of the stored variant is loaded.
        #expect(Set(origin.requests) == ["main.m3u8", "low.m3u8", "7.ts"])
        #expect(try library.asset(id).renditions.map(\.folder) == ["variant-1"])
        #expect(try library.asset(id).state == .complete)
    }

    @Test func filesThatCannotBeFetchedAreReportedAndTriedAgain() async throws {
        try FileManager.default.removeItem(at: url("variant-1/000003.ts"))
        try FileManager.default.removeItem(at: url("variant-1/000007.ts"))
        origin.remove("3.ts")
        for damaged in [["variant-1/000003.ts", "variant-1/000007.ts"], ["variant-1/000003.ts"]] {
            let result = try await repair()
            #expect(result.damaged == damaged && result.failure?.code == .transport)
            #expect(result.repaired == damaged.filter { $0.contains("7") })
        }
        #expect(try library.asset(id).state == .partial)
    }

    /// The recording of a stream that could never be loaded has no playlists, and nothing makes it complete.
    @Test func assetWithoutPlaylistsIsNotComplete() async throws {
        let address = ResourceAddress(RepairOrigin.root + "missing.m3u8")
        let empty = try library.addAsset(source: address, title: "Live", selection: "")
        for _ in 0..<2 {
            let result = try await AssetRepair(empty, in: library, loader: origin.loader).run()
            #expect(result.damaged.isEmpty && result.repaired.isEmpty && result.failure == nil)
            let asset = try library.asset(empty)
            #expect(asset.state == .partial && asset.renditions.isEmpty)
        }
        let playlist = library.packageDirectory(empty).appendingPathComponent("multivariant.m3u8")
        #expect(!FileManager.default.fileExists(atPath: playlist.path))
    }

    @Test func assetInUseIsNotRepaired() async throws {
        let lock = try library.lock(id)
        let error = await #expect(throws: DownloadError.self) { try await repair() }
        #expect(error?.detail == "asset-busy")
        withExtendedLifetime(lock) {}
    }
}

/// Tests repairs of assets with a key and an initialization section, whose URLs have signatures that expire.
@Suite struct SignedKeyRepairTests {
    private let temporary: TemporaryLibrary
    private let origin = RepairOrigin(isEncrypted: true)
    private let id: String

    init() async throws {
        temporary = try TemporaryLibrary()
        id = try await AssetDownload(
            ResourceAddress(RepairOrigin.root + "main.m3u8"),
            into: temporary.library,
            loader: origin.loader,
            configuration: DownloadConfiguration(selection: DownloadSelection(variants: .lowest))
        ).run().id
        origin.clear()
    }

    private var library: AssetLibrary { temporary.library }

    private func url(_ path: String) -> URL { library.packageDirectory(id).appendingPathComponent(path) }
    private func repair() async throws -> AssetRepair.Result {
        try await AssetRepair(id, in: library, loader: origin.loader).run()
    }

    private func names() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: library.packageDirectory(id).path).sorted()
    }

    /// The paths of the key and the initialization section.
    private func sharedPaths() throws -> [String] {
        try library.resources(id).map(\.path).filter { $0.contains("key-") || $0.contains("init-") }.sorted()
    }

    @Test func keyAndInitializationSectionAreKept() async throws {
        let shared = try sharedPaths()
        #expect(shared.count == 2)
        try FileManager.default.removeItem(at: url("variant-1/000007.ts"))
        origin.sign("b")
        let result = try await repair()
        #expect(result.repaired == ["variant-1/000007.ts"] && result.failure == nil)
        #expect(Set(origin.requests) == ["main.m3u8", "low.m3u8", "7.ts"])
        #expect(try sharedPaths() == shared)
        let asset = try library.asset(id)
        #expect(asset.state == .complete && asset.isPlayableOffline && library.isPlayableOffline(id))
        #expect(try library.verify(id).damaged.isEmpty)
    }

    @Test func lostKeyAndInitializationSectionAreFetchedUnderTheirNewAddresses() async throws {
        let shared = try sharedPaths()
        for path in shared { try FileManager.default.removeItem(at: url(path)) }
        origin.sign("b")
        let result = try await repair()
        #expect(result.repaired.sorted() == shared && result.failure == nil)
        #expect(Set(origin.requests) == ["main.m3u8", "low.m3u8", "key", "init.mp4"])
        #expect(try library.asset(id).state == .complete && library.isPlayableOffline(id))
    }

    @Test func lostKeyThatCannotBeFetchedIsAFailure() async throws {
        let shared = try sharedPaths()
        for path in shared { try FileManager.default.removeItem(at: url(path)) }
        origin.sign("b")
        origin.remove("key")
        let result = try await repair()
        #expect(result.damaged.sorted() == shared && result.failure != nil)
        #expect(result.repaired.allSatisfy { $0.contains("init-") })
        #expect(try library.asset(id).state == .partial)
    }

    /// A later run continues a recording whose process was killed; its playlists have no end marker until then.
    @Test func repairedRecordingHasNotEnded() async throws {
        let address = ResourceAddress(RepairOrigin.root + "live.m3u8")
        let playlist = try MediaPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n".utf8),
            context: PlaylistContext(address: address)
        )
        let recording = try temporary.beginRecording(of: playlist, at: address, segmentCount: 1)
        for file in recording.files {
            try temporary.store(Array("media".utf8), as: file.resource, of: recording.id)
            try recording.writer.settle(file.position)
        }
        let result = try await AssetRepair(recording.id, in: library, loader: origin.loader).run()
        #expect(result.failure == nil)
        #expect(try library.asset(recording.id).state == .partial && library.isRecording(recording.id))
        #expect(try !temporary.text("media/media.m3u8", of: recording.id).contains("#EXT-X-ENDLIST"))
    }

    @Test func changedPlaylistLeavesStoredFilesAlone() async throws {
        try FileManager.default.removeItem(at: url("variant-1/000007.ts"))
        let before = try names()
        origin.sign("b")
        origin.changeDuration()
        let result = try await repair()
        #expect(result.damaged == ["variant-1/000007.ts"] && result.repaired.isEmpty)
        #expect(result.failure?.detail == "package-damaged")
        #expect(result.failure?.message.contains("12 files") == true, "\(result.failure?.message ?? "")")
        let after = try names()
        #expect(after == before)
        #expect(try library.verify(id).damaged == ["variant-1/000007.ts"])
    }
}
