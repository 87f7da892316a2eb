import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Testing

/// Tests the playback of packages during their download.
@Suite struct PackagePlaybackTests {
    private let temporary: TemporaryLibrary
    private let origin = ScriptedTransport(texts: [
        "https://origin.example/0.ts": "zero", "https://origin.example/1.ts": "0123456789",
        "https://origin.example/other": "other",
    ])

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    /// Creates an asset of two segments, the first of which is stored; the second is a byte range of its file.
    private func partialAsset() throws -> String {
        let id = try temporary.planned(
            try TemporaryLibrary.media("#EXTINF:4,", "0.ts", "#EXTINF:4,", "#EXT-X-BYTERANGE:4@2", "1.ts")
        )
        try temporary.store(Array(library.missingResources(id).prefix(1)), of: id, content: "stored")
        return id
    }

    private func address(_ path: String, _ id: String) -> ResourceAddress {
        ResourceAddress(filePath: temporary.url(path, of: id).path)
    }

    private func text(_ request: TransportRequest, _ transport: any Transport) async throws -> String {
        var buffers = try await transport.send(request).body.makeAsyncIterator()
        var text = ""
        while let buffer = try await buffers.next() { text += String(buffer: buffer) }
        return text
    }

    private func error(_ request: TransportRequest, _ transport: any Transport) async -> String? {
        let error = await #expect(throws: TransportError.self) { try await text(request, transport) }
        return error.map { "\($0.code.rawValue): \($0.message) (\($0.address?.text ?? "-"))" }
    }

    @Test func storedFileIsReadFromThePackage() async throws {
        let id = try partialAsset()
        let transport = PackageTransport(library, id: id, origin: origin)
        #expect(transport.address == address("multivariant.m3u8", id))
        #expect(try await text(TransportRequest(address("media/000000.ts", id), kind: .segment), transport) == "stored")
        let playlist = try temporary.text("media/media.m3u8", of: id)
        #expect(
            try await text(TransportRequest(address("media/media.m3u8", id), kind: .playlist), transport) == playlist
        )
        var part = TransportRequest(address("media/000000.ts", id), kind: .segment)
        part.byteRange = ByteRange(start: 1, length: 2)
        #expect(try await text(part, transport) == "to")
        #expect(origin.requests.isEmpty)
    }

    /// The address of the directory, with or without a trailing slash, refers to the multivariant playlist of the
    /// package.
    @Test func directoryAddressRefersToItsMultivariantPlaylist() async throws {
        let id = try partialAsset()
        let transport = PackageTransport(library, id: id, origin: nil)
        let folder = library.packageDirectory(id).path
        let playlist = try temporary.text("multivariant.m3u8", of: id)
        for path in [folder, folder + "/"] {
            let response = try await transport.send(TransportRequest(ResourceAddress(filePath: path), kind: .playlist))
            #expect(response.address == transport.address)
            #expect(
                try await text(TransportRequest(ResourceAddress(filePath: path), kind: .playlist), transport)
                    == playlist
            )
        }
    }

    @Test func missingFileIsLoadedFromItsOrigin() async throws {
        let id = try partialAsset()
        var request = TransportRequest(address("media/000001.ts", id), kind: .segment)
        // The recorded disk is nearly full, so the file is played and not stored.
        let full = PackageTransport(library, id: id, origin: origin)
        #expect(try await text(request, full) == "2345")
        #expect(try library.missingCount(id) == 1)
        let roomy = try AssetLibrary(directory: temporary.directory)
        let transport = PackageTransport(roomy, id: id, origin: origin)
        #expect(try await text(request, transport) == "2345")
        request.resumption = TransportRequest.Resumption(offset: 1, validator: "tag")
        #expect(try await text(request, transport) == "345")
        let sent = origin.requests
        // The file is stored while it is played, and then read from the disk.
        #expect(sent.map(\.address.text) == ["https://origin.example/1.ts", "https://origin.example/1.ts"])
        #expect(sent.map(\.kind) == [.segment, .segment])
        #expect(sent.map(\.byteRange) == [ByteRange(start: 2, length: 4), ByteRange(start: 2, length: 4)])
        #expect(try library.missingCount(id) == 0)
        // Remote addresses that the playlist contains are requested from the origin.
        #expect(
            try await text(TransportRequest(ResourceAddress("https://origin.example/other"), kind: .other), transport)
                == "other"
        )
    }

    @Test func otherFilesAndAddressesAreRefused() async throws {
        let id = try partialAsset()
        let online = PackageTransport(library, id: id, origin: origin)
        let offline = PackageTransport(library, id: id, origin: nil)
        func request(_ address: ResourceAddress) -> TransportRequest { TransportRequest(address, kind: .segment) }
        let missing = address("media/000001.ts", id)
        #expect(
            await error(request(missing), offline)
                == "file-not-found: media/000001.ts is not downloaded (\(missing.text))"
        )
        var part = request(missing)
        part.byteRange = ByteRange(start: 0, length: 1)
        #expect(await error(part, online) == "file-not-found: media/000001.ts is not downloaded (\(missing.text))")
        let unknown = address("media/stray.ts", id)
        #expect(
            await error(request(unknown), online)
                == "file-not-found: the package has no media/stray.ts (\(unknown.text))"
        )
        let web = ResourceAddress("https://origin.example/other")
        let outside = ResourceAddress(filePath: temporary.directory.path + "/catalogue.sqlite")
        let message = "the URL is not part of the package"
        #expect(await error(request(web), offline) == "address-refused: \(message) (\(web.text))")
        #expect(await error(request(outside), online) == "address-refused: \(message) (\(outside.text))")
        let data = ResourceAddress("data:text/plain,abc")
        #expect(await error(request(data), online) == "address-refused: \(message) (\(data.text))")
        #expect(origin.requests.isEmpty)
    }

    /// A stream from the network might contain addresses of local files.
    @Test func onlyLocalStreamsMayReferToLocalFiles() async throws {
        let secret = temporary.directory.appendingPathComponent("secret")
        try Data("secret".utf8).write(to: secret)
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", ResourceAddress(filePath: secret.path).text)
        let id = try temporary.planned(playlist)
        let transport = PackageTransport(library, id: id, origin: FileTransport())
        let named = TransportRequest(address("media/000000.ts", id), kind: .segment)
        #expect(
            await error(named, transport)
                == "address-refused: media/000000.ts refers to a local file, which a remote asset must not use "
                + "(\(named.address.text))"
        )
        let local = try library.addAsset(
            source: ResourceAddress(filePath: "/somewhere/top.m3u8"),
            title: "local",
            selection: ""
        )
        let own = try MediaPlaylist(
            parsing: playlist.bytes,
            context: PlaylistContext(address: ResourceAddress(filePath: "/somewhere/top.m3u8"))
        )
        try temporary.plan(local, .media(own), TemporaryLibrary.rendition(.variant, -1, own))
        let request = TransportRequest(address("media/000000.ts", local), kind: .segment)
        #expect(try await text(request, PackageTransport(library, id: local, origin: FileTransport())) == "secret")
    }

    /// A key that the user has given is a data URL, and is not stored if the download was refused.
    @Test func missingKeyOfTheUserIsNotALocalFile() async throws {
        let uri = "data:application/octet-stream;base64,MDEyMzQ1Njc4OWFiY2RlZg=="
        let id = try temporary.planned(
            try TemporaryLibrary.media("#EXT-X-KEY:METHOD=AES-128,URI=\"\(uri)\"", "#EXTINF:4,", "0.ts")
        )
        let key = try #require(try library.missingResources(id).first { $0.kind == .key })
        let request = TransportRequest(address(key.path, id), kind: .key)
        let message = "\(key.path) is not stored in the package: download the stream again"
        let found = await error(request, PackageTransport(library, id: id, origin: origin))
        #expect(found == "file-not-found: \(message) (\(request.address.text))")
        #expect(origin.requests.isEmpty)
    }

    // MARK: Paths

    @Test func packageIsFoundByItsPath() throws {
        let id = try partialAsset()
        let package = library.packageDirectory(id)
        for folder in [package, package.appendingPathComponent("x/.."), URL(fileURLWithPath: package.path + "/")] {
            let found = try #require(PackageTransport.package(at: folder))
            #expect(found.id == id)
            #expect(found.library.directory.path == temporary.directory.path)
            #expect(throws: StorageError.self) { try found.library.delete(id) }
        }
        #expect(PackageTransport.package(at: library.packageDirectory("unknown")) == nil)
        #expect(PackageTransport.package(at: temporary.directory) == nil)
        #expect(PackageTransport.package(at: URL(fileURLWithPath: "/nothing/packages/abc")) == nil)
        // A directory that has the name of an asset, but is not in a library.
        let other = temporary.directory.appendingPathComponent("packages2/\(id)")
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        #expect(PackageTransport.package(at: other) == nil)
    }

    @Test func pathOfAPackageIsReadAsAPackage() async throws {
        let id = try partialAsset()
        let files = ScriptedTransport()
        let transport = LocalAssetTransport(library.packageDirectory(id), origin: origin, files: files)
        for _ in 0..<2 {
            let stored = TransportRequest(address("media/000000.ts", id), kind: .segment)
            #expect(try await text(stored, transport) == "stored")
            let missing = TransportRequest(address("media/000001.ts", id), kind: .segment)
            #expect(try await text(missing, transport) == "2345")
        }
        #expect(files.requests.isEmpty)
        #expect(origin.requests.count == 2)
    }

    @Test func otherPathsAreReadAsFiles() async throws {
        let folder = temporary.directory.appendingPathComponent("folder")
        let address = ResourceAddress(filePath: folder.path + "/a.ts")
        let files = ScriptedTransport(texts: [address.text: "from the files"])
        let transport = LocalAssetTransport(folder, origin: origin, files: files)
        for _ in 0..<2 {
            #expect(try await text(TransportRequest(address, kind: .segment), transport) == "from the files")
        }
        #expect(files.requests.count == 2)
        #expect(origin.requests.isEmpty)
    }

    /// The path is checked once: a package that is created there later is not detected.
    @Test func pathIsCheckedOnlyOnce() async throws {
        let id = try partialAsset()
        let package = library.packageDirectory(id)
        let moved = temporary.directory.appendingPathComponent("moved.sqlite")
        let catalog = temporary.directory.appendingPathComponent("catalogue.sqlite")
        let request = TransportRequest(address("media/000000.ts", id), kind: .segment)
        let files = ScriptedTransport(texts: [request.address.text: "from the files"])
        let transport = LocalAssetTransport(package, origin: origin, files: files)
        try FileManager.default.moveItem(at: catalog, to: moved)
        #expect(try await text(request, transport) == "from the files")
        try FileManager.default.moveItem(at: moved, to: catalog)
        #expect(try await text(request, transport) == "from the files")
    }
}
