import AssetStorage
import Foundation
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests that a key of the user that is refused changes nothing of a complete asset.
@Suite(.timeLimit(.minutes(5))) struct RefusedKeyTests {
    private static let source = ResourceAddress("https://films.example/film.m3u8")
    private static let key = "30313233343536373839616263646566"
    private static let wrongVector = ",iv=ffffffffffffffffffffffffffffffff"
    /// A segment that begins as a transport stream does, encrypted with the key and the initialization vector 0.
    private static let segment: [UInt8] = [
        0xeb, 0x6b, 0x19, 0x90, 0x26, 0x43, 0x99, 0x6e,
        0xb8, 0x0a, 0xb4, 0x89, 0x08, 0x46, 0xbc, 0x8a,
    ]
    private let temporary: TemporaryLibrary
    private let origin: SchemeTransport

    init() throws {
        temporary = try TemporaryLibrary()
        let playlist = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=AES-128,URI="key"
            #EXTINF:4,
            0.ts
            #EXT-X-ENDLIST

            """
        let transport = ScriptedTransport(texts: [Self.source.text: playlist])
        transport.setResponses(for: "https://films.example/0.ts", .bytes(Self.segment))
        origin = SchemeTransport(http: transport, file: FileTransport())
    }

    /// Returns the options of a download with a key.
    private static func configuration(_ key: String) throws -> DownloadConfiguration {
        var selection = DownloadSelection.standard
        selection.edits = EditPlan([try PlaylistEdit(name: "key", value: key)])
        return DownloadConfiguration(selection: selection)
    }

    /// Returns the content of each file of an asset by its path in the package, without its lock.
    private func files(of id: String) throws -> [String: Data] {
        let folder = temporary.library.packageDirectory(id)
        var files: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where !path.hasPrefix(".") {
            files[path] = FileManager.default.contents(atPath: folder.appendingPathComponent(path).path)
        }
        return files
    }

    /// Downloads the stream with the right key, and returns the complete asset.
    private func completeAsset() async throws -> StoredAsset {
        let asset = try await AssetDownload(
            Self.source,
            into: temporary.library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            configuration: Self.configuration(Self.key)
        ).run()
        #expect(asset.state == .complete && asset.isPlayableOffline)
        return asset
    }

    /// Expects that the asset is as it was before a download that was refused.
    private func expectUnchanged(_ former: StoredAsset, _ formerFiles: [String: Data]) throws {
        let asset = try temporary.library.asset(former.id)
        #expect(asset.state == .complete && asset.isPlayableOffline && asset.selection == former.selection)
        let unchanged = try files(of: former.id)
        #expect(unchanged == formerFiles)
        #expect(try temporary.library.verify(former.id).damaged.isEmpty)
    }

    @Test func otherInitializationVectorOfTheStoredKeyIsRefused() async throws {
        let asset = try await completeAsset()
        let former = try files(of: asset.id)
        let download = AssetDownload(
            Self.source,
            into: temporary.library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            configuration: try Self.configuration(Self.key + Self.wrongVector)
        )
        let error = await #expect(throws: DownloadError.self) { try await download.run() }
        #expect(error?.code == .damaged, "\(String(describing: error))")
        try expectUnchanged(asset, former)
        // The right vector is accepted.
        let vector = ",iv=" + String(repeating: "0", count: 32)
        let right = AssetDownload(
            Self.source,
            into: temporary.library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            configuration: try Self.configuration(Self.key + vector)
        )
        let complete = try await right.run()
        #expect(complete.state == .complete)
    }

    @Test func refusedTaskOfASessionLeavesTheAssetComplete() async throws {
        let asset = try await completeAsset()
        let former = try files(of: asset.id)
        let session = try temporary.session("films", origin)
        let configuration = try Self.configuration(Self.key + Self.wrongVector)
        let task = try await session.makeTask(Self.source, configuration: configuration)
        task.resume()
        let error = await #expect(throws: DownloadError.self) { try await task.value() }
        #expect(error?.code == .damaged, "\(String(describing: error))")
        await session.invalidate()
        try expectUnchanged(asset, former)
    }
}
