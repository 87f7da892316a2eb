import AssetStorage
import Foundation
import GRDB
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Testing

/// Tests the files of a package, and that no two resources share a file.
@Suite struct PackageNamesTests {
    private let temporary: TemporaryLibrary
    private static let origin = "https://origin.example/film/"

    init() throws { temporary = try TemporaryLibrary() }

    private func download(_ transport: ScriptedTransport) async throws -> StoredAsset {
        try await AssetDownload(
            ResourceAddress(Self.origin + "media.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        ).run()
    }

    /// Reads the stored playlist as a player does, and returns the contents of each key, initialization section and
    /// segment in order.
    private func offlineContents(_ id: String) async throws -> [String] {
        let transport = PackageTransport(temporary.library, id: id, origin: nil)
        let loader = ResourceLoader(transport)
        let media = temporary.library.packageDirectory(id).appendingPathComponent("media")
        var result: [String] = []
        let text = try String(contentsOf: media.appendingPathComponent("media.m3u8"), encoding: .utf8)
        for line in text.split(separator: "\n") {
            let written = line.firstMatch(of: /URI="([^"]+)"/).map { String($0.1) }
            guard let name = written ?? (line.hasPrefix("#") ? nil : String(line)) else { continue }
            let address = ResourceAddress(filePath: media.appendingPathComponent(name).path)
            let loaded = try await loader.load(TransportRequest(address, kind: .other))
            result.append(String(decoding: loaded.bytes, as: UTF8.self))
        }
        return result
    }

    @Test func keysWithDifferentQueriesAreSeparateFiles() async throws {
        let (first, second) = ("the key of No. 1", "the key of No. 2")
        let transport = ScriptedTransport(texts: [
            Self.origin + "media.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=AES-128,URI="key?id=1",IV=0x01
            #EXTINF:4,
            0.ts
            #EXT-X-KEY:METHOD=AES-128,URI="key?id=2",IV=0x01
            #EXTINF:4,
            1.ts
            #EXT-X-ENDLIST

            """,
            Self.origin + "key?id=1": first, Self.origin + "key?id=2": second,
            Self.origin + "0.ts": "zero", Self.origin + "1.ts": "one",
        ])
        let asset = try await download(transport)
        #expect(try await offlineContents(asset.id) == [first, "zero", second, "one"])
        #expect(Set(transport.requestedAddresses).count == 5)
    }

    @Test func filesOfDifferentHostsWithTheSamePathAreSeparateFiles() async throws {
        let (a, b) = ("https://a.example", "https://b.example:8443")
        let transport = ScriptedTransport(texts: [
            Self.origin + "media.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=AES-128,URI="\(a)/key",IV=0x01
            #EXT-X-MAP:URI="\(a)/init.mp4"
            #EXTINF:4,
            \(a)/0.m4s
            #EXT-X-DISCONTINUITY
            #EXT-X-KEY:METHOD=AES-128,URI="\(b)/key",IV=0x01
            #EXT-X-MAP:URI="\(b)/init.mp4"
            #EXTINF:4,
            \(b)/0.m4s
            #EXT-X-ENDLIST

            """,
            a + "/key": "0123456789abcdef", b + "/key": "fedcba9876543210", a + "/init.mp4": "init a",
            b + "/init.mp4": "init b", a + "/0.m4s": "media a", b + "/0.m4s": "media b",
        ])
        let asset = try await download(transport)
        #expect(
            try await offlineContents(asset.id) == [
                "0123456789abcdef", "init a", "media a", "fedcba9876543210", "init b", "media b",
            ]
        )
    }

    @Test func rangesOfOneInitializationFileAreSeparateFiles() async throws {
        let transport = ScriptedTransport(texts: [
            Self.origin + "media.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MAP:URI="all.mp4",BYTERANGE="3@0"
            #EXTINF:4,
            0.m4s
            #EXT-X-DISCONTINUITY
            #EXT-X-MAP:URI="all.mp4",BYTERANGE="3@3"
            #EXTINF:4,
            1.m4s
            #EXT-X-ENDLIST

            """,
            Self.origin + "all.mp4": "abcdef", Self.origin + "0.m4s": "zero", Self.origin + "1.m4s": "one",
        ])
        let asset = try await download(transport)
        #expect(try await offlineContents(asset.id) == ["abc", "zero", "def", "one"])
    }

    /// The key before an initialization section applies to it, even if another key follows for the segments.
    @Test func initializationSectionKeepsItsOwnKey() async throws {
        let transport = ScriptedTransport(texts: [
            Self.origin + "media.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=AES-128,URI="key?id=1",IV=0x01
            #EXT-X-MAP:URI="init.mp4"
            #EXT-X-KEY:METHOD=AES-128,URI="key?id=2",IV=0x01
            #EXTINF:4,
            0.m4s
            #EXT-X-ENDLIST

            """,
            Self.origin + "key?id=1": "0123456789abcdef", Self.origin + "key?id=2": "fedcba9876543210",
            Self.origin + "init.mp4": "init", Self.origin + "0.m4s": "zero",
        ])
        let asset = try await download(transport)
        #expect(try await offlineContents(asset.id) == ["0123456789abcdef", "init", "fedcba9876543210", "zero"])
    }

    @Test func keyWithANewQueryIsFetchedAgainWithoutItsSegments() async throws {
        func transport(_ query: String, _ key: String) -> ScriptedTransport {
            ScriptedTransport(texts: [
                Self.origin + "media.m3u8": """
                #EXTM3U
                #EXT-X-TARGETDURATION:4
                #EXT-X-KEY:METHOD=AES-128,URI="key?\(query)",IV=0x01
                #EXTINF:4,
                0.ts
                #EXT-X-ENDLIST

                """,
                Self.origin + "key?\(query)": key, Self.origin + "0.ts": "zero",
            ])
        }
        let asset = try await download(transport("id=1", "0123456789abcdef"))
        let second = transport("id=2", "fedcba9876543210")
        #expect(try await download(second).id == asset.id)
        #expect(try await offlineContents(asset.id) == ["fedcba9876543210", "zero"])
        #expect(second.requestedAddresses == [Self.origin + "media.m3u8", Self.origin + "key?id=2"])
        // The key that the playlist no longer contains has been removed.
        let names = try FileManager.default.contentsOfDirectory(
            atPath: temporary.library.packageDirectory(asset.id).appendingPathComponent("media").path
        )
        #expect(names.count { $0.hasSuffix(".key") } == 1)
    }

    /// Tests the file names, tables and playlists of version 2 of the catalog.
    @Test func packageOfAnEarlierVersionIsPlayableAndResumable() async throws {
        let playlist = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=AES-128,URI="key?id=1",IV=0x01
            #EXT-X-MAP:URI="init.mp4"
            #EXTINF:4,
            0.m4s
            #EXTINF:4,
            1.m4s
            #EXT-X-ENDLIST

            """
        func transport() -> ScriptedTransport {
            ScriptedTransport(texts: [
                Self.origin + "media.m3u8": playlist, Self.origin + "key?id=1": "0123456789abcdef",
                Self.origin + "init.mp4": "init", Self.origin + "0.m4s": "zero", Self.origin + "1.m4s": "one",
            ])
        }
        let id = try await download(transport()).id
        let package = temporary.library.packageDirectory(id)
        let database = try DatabaseQueue(path: temporary.directory.appendingPathComponent("catalogue.sqlite").path)
        var text = try temporary.text("media/media.m3u8", of: id)
        for resource in try temporary.library.resources(id)
        where resource.kind == .key || resource.kind == .initialization {
            let old = resource.kind == .key ? "media/key-1a2b3c.key" : "media/init-4d5e6f.mp4"
            try FileManager.default.moveItem(
                at: package.appendingPathComponent(resource.path),
                to: package.appendingPathComponent(old)
            )
            text = text.replacing(resource.path.dropFirst("media/".count), with: old.dropFirst("media/".count))
            try await database.write {
                try $0.execute(sql: "UPDATE resource SET path = ? WHERE path = ?", arguments: [old, resource.path])
            }
        }
        try Data(text.utf8).write(to: package.appendingPathComponent("media/media.m3u8"))
        try await database.write { database in
            try database.execute(sql: "DROP INDEX \"index_resource_on_assetID_startTime_id\"")
            try database.execute(sql: "DROP INDEX \"index_resource_on_checksum_bytes\"")
            try database.execute(sql: "ALTER TABLE resource DROP COLUMN checksum")
            try database.execute(sql: "ALTER TABLE resource DROP COLUMN startTime")
            try database.execute(sql: "ALTER TABLE rendition DROP COLUMN aliases")
            try database.execute(sql: "DELETE FROM grdb_migrations WHERE identifier IN ('3', 'shared-content')")
        }
        // The old catalog is read without changes.
        let contents = ["0123456789abcdef", "init", "zero", "one"]
        let reading = try AssetLibrary(reading: temporary.directory)
        let found = try reading.asset(id)
        #expect(found.state == .complete && found.isPlayableOffline)
        #expect(reading.file("media/key-1a2b3c.key", of: id) != nil)
        let columns = try await database.read { try $0.columns(in: "resource").map(\.name) }
        #expect(!columns.contains("checksum"))

        // Open the library for writing, which migrates the catalog.
        let library = try AssetLibrary(directory: temporary.directory)
        #expect(try library.verify(id) == VerificationResult(damaged: [], withoutChecksum: 4))
        #expect(try await offlineContents(id) == contents)

        // If one file is missing, the download resumes, and the other files keep their names.
        try FileManager.default.removeItem(at: package.appendingPathComponent("media/000001.m4s"))
        #expect(try library.removeMissingFilesFromCatalog(id) == ["media/000001.m4s"])
        let second = transport()
        #expect(try await download(second).state == .complete)
        #expect(second.requestedAddresses == [Self.origin + "media.m3u8", Self.origin + "1.m4s"])
        #expect(try await offlineContents(id) == contents)
        #expect(try library.verify(id) == VerificationResult(damaged: [], withoutChecksum: 3))
    }
}
