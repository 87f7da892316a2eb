import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Testing

@testable import AssetStorage

/// A transport whose responses announce ten bytes, and receive nothing.
private struct AnnouncingTransport: Transport {
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        TransportResponse(
            status: 200,
            headers: [],
            address: request.address,
            expectedLength: 10,
            body: TransportBody(AsyncStream<ByteBuffer> { _ in })
        )
    }
}

/// A transport whose responses have given buffers, after which they end or receive nothing.
private struct BufferedTransport: Transport {
    var headers: [HeaderField] = []
    let length: Int
    let buffers: [[UInt8]]
    var isEnded = true

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let (stream, continuation) = AsyncStream<ByteBuffer>.makeStream()
        for buffer in buffers { continuation.yield(ByteBuffer(bytes: buffer)) }
        if isEnded { continuation.finish() }
        return TransportResponse(
            status: 200,
            headers: headers,
            address: request.address,
            expectedLength: Int64(length),
            body: TransportBody(stream)
        )
    }
}

/// Tests the files that players store while they play them.
@Suite(.timeLimit(.minutes(1))) struct SharedFilesEdgeTests {
    private let temporary: TemporaryLibrary
    private let id: String
    private let resource: StoredResource
    private let name = TemporaryLibrary.origin + "0.ts"
    private let origin = ScriptedTransport(texts: [
        TemporaryLibrary.origin + "0.ts": "zero", TemporaryLibrary.origin + "other": "other",
    ])

    init() throws {
        let temporary = try TemporaryLibrary()
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        resource = try #require(try temporary.library.missingResources(id).first)
        self.temporary = temporary
        self.id = id
    }

    private var library: AssetLibrary { temporary.library }

    private var request: TransportRequest { TransportRequest(ResourceAddress(name), kind: .segment) }

    /// Opens the library on the disk of this machine, which has space for files.
    private func roomy() throws -> AssetLibrary { try AssetLibrary(directory: temporary.directory) }

    private func text(_ response: TransportResponse) async throws -> String {
        var buffers = response.body.makeAsyncIterator()
        var text = ""
        while let buffer = try await buffers.next() { text += String(buffer: buffer) }
        return text
    }

    /// The names of the file and of what belongs to it.
    private func names() throws -> [String] {
        try temporary.names(of: id).filter { $0.hasPrefix("media/000000") }
    }

    // MARK: Readers

    @Test func readerThatJoinsHasTheResponseOfTheFile() async throws {
        let transport = AssetTransport(try roomy(), id: id, origin: AnnouncingTransport())
        let first = try await transport.send(request)
        #expect(first.status == 200 && first.expectedLength == 10)
        for (offset, status, length) in [
            (nil, 200, 10), (4, 206, 6), (10, 206, 0), (20, 206, 0),
        ] as [(Int64?, Int, Int64)] {
            var joined = request
            joined.resumption = offset.map { TransportRequest.Resumption(offset: $0, validator: "v") }
            let response = try await transport.send(joined)
            #expect(response.status == status && response.expectedLength == length)
            #expect(response.address == request.address && response.headers.isEmpty)
        }
        withExtendedLifetime(first) {}
    }

    /// A slow reader reads from the disk the bytes that it has not received in time.
    @Test(arguments: [false, true]) func everyByteIsReceivedOnce(isSlow: Bool) async throws {
        let buffers = (0..<6).map { [UInt8](repeating: UInt8($0), count: 400_000) }
        let source = BufferedTransport(length: 2_400_000, buffers: buffers)
        let response = try await AssetTransport(try roomy(), id: id, origin: source).send(request)
        while try isSlow && library.missingCount(id) > 0 { try await Task.sleep(for: .milliseconds(2)) }
        var iterator = response.body.makeAsyncIterator()
        var received: [UInt8] = []
        while let buffer = try await iterator.next() { received += Array(buffer.readableBytesView) }
        let isSame = received == Array(buffers.joined())
        #expect(isSame && received.count == 2_400_000)
        #expect(FileInspection.isEqual(temporary.url("media/000000.ts", of: id).path, to: received))
    }

    /// Returns the first bytes of the file, and ends its transfer.
    private func firstText(_ transport: AssetTransport) async throws -> String? {
        var iterator = try await transport.send(request).body.makeAsyncIterator()
        return try await iterator.next().map { String(buffer: $0) }
    }

    /// The next request continues a transfer whose file can be recognized.
    @Test(arguments: [false, true]) func transferEndsWithItsPlayer(hasTag: Bool) async throws {
        let opened = try roomy()
        let stalled = BufferedTransport(
            headers: hasTag ? [HeaderField("ETag", "\"v\"")] : [],
            length: 4,
            buffers: [Array("ze".utf8)],
            isEnded: false
        )
        let start = try await firstText(AssetTransport(opened, id: id, origin: stalled))
        #expect(start == "ze")
        while opened.isBeingReceived(resource.path, id) { try await Task.sleep(for: .milliseconds(2)) }
        #expect(try names() == (hasTag ? ["media/000000.ts.part", "media/000000.ts.resume"] : []))
        let whole = try await text(AssetTransport(opened, id: id, origin: origin).send(request))
        #expect(whole == "zero")
        #expect(origin.requests.map { $0.resumption?.offset } == [hasTag ? 2 : nil])
        #expect(origin.requests.map { $0.resumption?.validator } == [hasTag ? "\"v\"" : nil])
        #expect(try library.missingCount(id) == 0)
    }

    // MARK: Content

    /// A proxy may answer with a web page, and a server with more bytes than it has announced.
    @Test(
        arguments: [
            (.text("<html></html>"), "<html></html>"), (.truncated(Array("zero".utf8), announced: 2), "zero"),
        ] as [(ScriptedTransport.Response, String)]
    )
    func answerThatIsNotTheFileIsOnlyPlayed(answer: ScriptedTransport.Response, content: String) async throws {
        origin.setResponses(for: name, answer, .text("zero"))
        let transport = AssetTransport(try roomy(), id: id, origin: origin)
        let played = try await text(transport.send(request))
        #expect(played == content)
        #expect(try library.missingCount(id) == 1 && names().isEmpty)
        let again = try await text(transport.send(request))
        #expect(again == "zero")
        #expect(try library.missingCount(id) == 0 && names() == ["media/000000.ts"])
    }

    // MARK: Unfinished files

    /// Stores the first two bytes of the file.
    private func storeBeginning(in library: AssetLibrary) throws {
        let file = library.makePackageFile(for: resource, of: id)
        try Array("ze".utf8).withUnsafeBytes { try file.write($0) }
        file.keep(ResourceVersion(TransportRequest.Resumption(offset: 0, validator: "v")), of: resource)
    }

    @Test func unfinishedFileIsContinued() async throws {
        let opened = try roomy()
        try storeBeginning(in: opened)
        let response = try await AssetTransport(opened, id: id, origin: origin).send(request)
        #expect(response.status == 200 && response.expectedLength == 4)
        let whole = try await text(response)
        #expect(whole == "zero")
        #expect(origin.requests.map { $0.resumption?.offset } == [2])
        #expect(try library.missingCount(id) == 0 && names() == ["media/000000.ts"])
        #expect(try temporary.text("media/000000.ts", of: id) == "zero")
    }

    @Test func fileThatHasChangedIsReceivedFromItsBeginning() async throws {
        let opened = try roomy()
        try storeBeginning(in: opened)
        origin.setResponses(for: name, .failure(TransportError(.contentChanged, "changed")), .text("other zero"))
        let whole = try await text(AssetTransport(opened, id: id, origin: origin).send(request))
        #expect(whole == "other zero")
        #expect(origin.requests.map { $0.resumption?.offset } == [2, nil])
        #expect(try library.missingCount(id) == 0 && names() == ["media/000000.ts"])
        #expect(try temporary.text("media/000000.ts", of: id) == "other zero")
    }

    /// The bytes are kept for the next request.
    @Test func otherErrorLeavesTheUnfinishedFile() async throws {
        let opened = try roomy()
        try storeBeginning(in: opened)
        origin.setResponses(for: name, .failure(TransportError(.connectionLost, "lost")), .text("zero"))
        let transport = AssetTransport(opened, id: id, origin: origin)
        let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
        #expect(error?.code == .connectionLost)
        #expect(try names() == ["media/000000.ts.part", "media/000000.ts.resume"])
        let whole = try await text(transport.send(request))
        #expect(whole == "zero")
        #expect(origin.requests.map { $0.resumption?.offset } == [2, 2])
    }

    // MARK: Packages

    /// The playlist of a recording without its process has an end, which its file does not have.
    @Test func partsOfAPlaylistAreThoseOfItsFile() async throws {
        let source = ResourceAddress(TemporaryLibrary.origin + "live.m3u8")
        let live = try MediaPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\ns.ts\n".utf8),
            context: PlaylistContext(address: source)
        )
        let recording = try temporary.enter("B", from: "live.m3u8")
        let renditions = [TemporaryLibrary.rendition(.variant, -1, live)]
        let begun = try library.beginRecording(of: recording, source: .media(live), at: source, renditions: renditions)
        try library.publishRecording(recording)
        let writer = try #require(begun.writers.first)
        _ = try writer.append(0..<1, of: live)
        try writer.settle(0)
        let file = try temporary.text("media/media.m3u8", of: recording)
        let playlist = file.replacing("EVENT", with: "VOD") + "#EXT-X-ENDLIST\n"
        let transport = PackageTransport(library, id: recording, origin: nil)
        let whole = TransportRequest(transport.address(of: "media/media.m3u8"), kind: .playlist)
        let response = try await transport.send(whole)
        #expect(response.status == 200 && response.expectedLength == Int64(playlist.utf8.count))
        #expect(response.address == whole.address && response.headers.isEmpty)
        let ended = try await text(response)
        #expect(ended == playlist)
        var part = whole
        part.byteRange = ByteRange(start: 0, length: 7)
        let start = try await text(transport.send(part))
        #expect(start == "#EXTM3U")
        var rest = whole
        rest.resumption = TransportRequest.Resumption(offset: 7, validator: "v")
        let end = try await text(transport.send(rest))
        #expect(end == String(file.dropFirst(7)))
    }

    /// A media file is read from its origin until it is stored.
    @Test func mediaFileIsTheEntryOfItsPackage() async throws {
        let id = try temporary.enter("B", from: "film.mp4")
        let film = TemporaryLibrary.origin + "film.mp4"
        let media = try TemporaryLibrary.media("#EXTINF:4,", "film.mp4")
        let rendition = PlannedRendition(
            role: .variant,
            position: -1,
            language: nil,
            variant: nil,
            playlist: media,
            address: ResourceAddress(film),
            mediaFileExtension: ".mp4"
        )
        try temporary.plan(id, .media(media), rendition)
        origin.setResponses(for: film, .text("remote"))
        let online = PackageTransport(library, id: id, origin: origin)
        let offline = PackageTransport(library, id: id, origin: nil)
        let folder = library.packageDirectory(id).path
        let entries = [folder, folder + "/", folder + "/multivariant.m3u8"].map { path in
            TransportRequest(ResourceAddress(filePath: path), kind: .other)
        }
        for entry in entries {
            let remote = try await text(online.send(entry))
            #expect(remote == "remote")
            let error = await #expect(throws: TransportError.self) { try await offline.send(entry) }
            #expect(error?.code == .fileNotFound)
        }
        try temporary.store(library.missingResources(id), of: id, content: "stored")
        for entry in entries {
            let stored = try await text(offline.send(entry))
            #expect(stored == "stored")
        }
        #expect(origin.requestedAddresses == [film, film, film])
    }

    @Test func movedPackageHasNoFiles() async throws {
        let transport = PackageTransport(library, id: id, origin: origin)
        try FileManager.default.removeItem(at: library.packageDirectory(id))
        for path in ["media/000000.ts", "media/media.m3u8", "multivariant.m3u8"] {
            let missing = TransportRequest(transport.address(of: path), kind: .segment)
            let error = await #expect(throws: TransportError.self) { try await transport.send(missing) }
            #expect(error?.code == .fileNotFound && error?.message == library.movedPackage(id).message)
        }
        // Other resources of the presentation are those of the origin.
        let other = TransportRequest(ResourceAddress(TemporaryLibrary.origin + "other"), kind: .other)
        let content = try await text(transport.send(other))
        #expect(content == "other")
    }

    /// The package may be in exclusive use when a player begins.
    @Test func markThatWasPreventedIsSetByTheNextRequest() async throws {
        let package = library.packageDirectory(id)
        var exclusive = PackageUse.exclusive(package)
        let transport = PackageTransport(library, id: id, origin: nil)
        #expect(exclusive != nil)
        withExtendedLifetime(exclusive) {}
        exclusive = nil
        #expect(!PackageUse.isMarked(package))
        _ = try await transport.send(TransportRequest(transport.address, kind: .playlist))
        #expect(PackageUse.isMarked(package))
        withExtendedLifetime(transport) {}
    }
}
