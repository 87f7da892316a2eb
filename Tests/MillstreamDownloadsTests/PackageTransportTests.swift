import AssetStorage
import Foundation
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Testing

@Suite struct PackageTransportTests {
    private static let origin = "https://origin.example/"
    private let temporary: TemporaryLibrary
    private let web: ScriptedTransport

    init() throws {
        temporary = try TemporaryLibrary()
        web = ScriptedTransport(texts: [
            Self.origin + "main.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\nmedia.m3u8\n",
            Self.origin + "media.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXTINF:6,
            a.ts
            #EXTINF:6,
            b.ts
            #EXT-X-ENDLIST

            """,
            Self.origin + "a.ts": "media of a", Self.origin + "b.ts": "media of b",
        ])
    }

    private func downloaded() async throws -> String {
        let source = ResourceAddress(Self.origin + "main.m3u8")
        return try await AssetDownload(source, into: temporary.library, loader: ResourceLoader(web)).run { _ in }.id
    }

    private func segments(of id: String) throws -> [StoredResource] {
        try temporary.library.resources(id).filter { $0.kind == .segment }
    }

    private func read(_ resource: StoredResource, _ transport: PackageTransport, _ id: String) async throws -> String {
        let path = temporary.library.packageDirectory(id).appendingPathComponent(resource.path).path
        let request = TransportRequest(ResourceAddress(filePath: path), kind: .segment)
        return String(decoding: try await ResourceLoader(transport).load(request).bytes, as: UTF8.self)
    }

    @Test func completePackageSendsNoRequests() async throws {
        let id = try await downloaded()
        let asked = web.requests.count
        let transport = PackageTransport(temporary.library, id: id, origin: nil)
        for resource in try segments(of: id) { _ = try await read(resource, transport, id) }
        let playlist = try await ResourceLoader(transport).load(TransportRequest(transport.address, kind: .playlist))
        #expect(String(decoding: playlist.bytes, as: UTF8.self).hasPrefix("#EXTM3U"))
        #expect(web.requests.count == asked)
    }

    @Test func movedPackageIsReported() async throws {
        let id = try await downloaded()
        let package = temporary.library.packageDirectory(id)
        let moved = temporary.directory.appendingPathComponent("elsewhere")
        try FileManager.default.moveItem(at: package, to: moved)
        let transport = PackageTransport(temporary.library, id: id, origin: web)
        for path in ["", "/multivariant.m3u8"] {
            let request = TransportRequest(ResourceAddress(filePath: package.path + path), kind: .playlist)
            let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
            #expect(error?.message.contains("was moved or deleted: move it back to \(package.path)") == true)
        }
        try FileManager.default.moveItem(at: moved, to: package)
        _ = try await ResourceLoader(transport).load(TransportRequest(transport.address, kind: .playlist))
    }

    @Test func missingFileIsLoadedFromItsOrigin() async throws {
        let id = try await downloaded()
        let second = try #require(try segments(of: id).last)
        try FileManager.default.removeItem(
            at: temporary.library.packageDirectory(id).appendingPathComponent(second.path)
        )
        let mixed = PackageTransport(temporary.library, id: id, origin: web)
        #expect(try await read(second, mixed, id) == "media of b")
        #expect(web.requestedAddresses.last == Self.origin + "b.ts")
        let alone = PackageTransport(temporary.library, id: id, origin: nil)
        // The file was stored again while it was played.
        #expect(try await read(second, alone, id) == "media of b")
        #expect(web.requestedAddresses.count { $0 == Self.origin + "b.ts" } == 2)
    }

    /// A file is stored while it is played if the disk has space for its size, and otherwise only played.
    @Test(arguments: [(Int64(257) << 20, true), (Int64(256) << 20, false)])
    func playedFileIsStoredIfItFits(freeSpace: Int64, isStored: Bool) async throws {
        let id = try await downloaded()
        let second = try #require(try segments(of: id).last)
        try FileManager.default.removeItem(
            at: temporary.library.packageDirectory(id).appendingPathComponent(second.path)
        )
        let files = RecordingFiles(temporary.directory)
        files.setFreeSpace(freeSpace)
        let library = try AssetLibrary(directory: temporary.directory, files: files)
        let before = web.requestedAddresses.count
        let transport = PackageTransport(library, id: id, origin: web)
        for _ in 0..<2 { #expect(try await read(second, transport, id) == "media of b") }
        #expect(web.requestedAddresses.count - before == (isStored ? 1 : 2))
    }

    @Test func missingFileIsAnErrorWithoutAnOrigin() async throws {
        let id = try await downloaded()
        let second = try #require(try segments(of: id).last)
        try FileManager.default.removeItem(
            at: temporary.library.packageDirectory(id).appendingPathComponent(second.path)
        )
        let alone = PackageTransport(temporary.library, id: id, origin: nil)
        await #expect(throws: TransportError.self) { _ = try await read(second, alone, id) }
    }

    @Test func filesOutsideThePackageAreNotRead() async throws {
        let id = try await downloaded()
        let transport = PackageTransport(temporary.library, id: id, origin: web)
        let catalog = temporary.directory.appendingPathComponent("catalogue.sqlite").path
        let inside = temporary.library.packageDirectory(id).path + "/../../catalogue.sqlite"
        for path in [catalog, inside, "/etc/hostname"] {
            let request = TransportRequest(ResourceAddress(filePath: path), kind: .segment)
            await #expect(throws: TransportError.self) { _ = try await transport.send(request) }
        }
    }

    @Test func remoteStreamCannotReferToLocalFiles() async throws {
        let secret = temporary.directory.appendingPathComponent("secret.txt")
        try Data("secret".utf8).write(to: secret)
        web.setResponses(
            for: Self.origin + "media.m3u8",
            .text(
                "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXTINF:6,\n\(secret.absoluteString)\n#EXT-X-ENDLIST\n"
            )
        )
        let error = await #expect(throws: DownloadError.self) { _ = try await downloaded() }
        #expect(error?.message.contains("refers to a local file, which a remote playlist must not do") == true)
        #expect(try temporary.library.assets().isEmpty)
    }

    @Test func directoryIsAPackageOnlyInALibrary() async throws {
        let id = try await downloaded()
        #expect(PackageTransport.package(at: temporary.library.packageDirectory(id))?.id == id)
        #expect(PackageTransport.package(at: temporary.directory) == nil)
        #expect(PackageTransport.package(at: FileManager.default.temporaryDirectory) == nil)
    }
}
