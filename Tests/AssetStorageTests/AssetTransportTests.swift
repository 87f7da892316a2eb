import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Testing

@testable import AssetStorage

/// File operations on a disk with a given number of free bytes.
private struct LimitedDisk: ForwardedFiles {
    let space: Int64
    let system = SystemFileOperations()

    func freeSpace(at path: String) -> Int64? { space }
}

/// A transport whose responses have begun, and receive nothing.
private struct StalledTransport: Transport {
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        TransportResponse(
            status: request.byteRange == nil ? 200 : 206,
            headers: [],
            address: request.address,
            expectedLength: request.byteRange?.length,
            body: TransportBody(AsyncStream<ByteBuffer> { _ in })
        )
    }
}

/// Tests the requests of a player that shares an asset with its download.
@Suite(.timeLimit(.minutes(2))) struct AssetTransportTests {
    private let temporary: TemporaryLibrary
    private let origin = ScriptedTransport(texts: [
        TemporaryLibrary.origin + "0.ts": "zero", TemporaryLibrary.origin + "1.ts": "0123456789",
        TemporaryLibrary.origin + "top.m3u8": "from the origin", TemporaryLibrary.origin + "other.m3u8": "other",
    ])

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private func address(_ name: String) -> ResourceAddress { ResourceAddress(TemporaryLibrary.origin + name) }

    private func request(_ name: String, _ kind: TransportRequest.Kind = .segment) -> TransportRequest {
        TransportRequest(address(name), kind: kind)
    }

    private func text(_ response: TransportResponse) async throws -> String {
        var buffers = response.body.makeAsyncIterator()
        var text = ""
        while let buffer = try await buffers.next() { text += String(buffer: buffer) }
        return text
    }

    private func text(_ request: TransportRequest, _ transport: any Transport) async throws -> String {
        try await text(try await transport.send(request))
    }

    /// Opens the library on a disk with space for files.
    private func roomy(_ space: Int64 = 1 << 40) throws -> AssetLibrary {
        try AssetLibrary(directory: temporary.directory, files: LimitedDisk(space: space))
    }

    @Test func playlistsOfTheAssetAreThoseOfTheCatalog() async throws {
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        let id = try temporary.planned(playlist)
        let transport = AssetTransport(library, id: id, origin: origin)
        let response = try await transport.send(request("top.m3u8", .playlist))
        #expect(response.status == 200 && response.expectedLength == Int64(playlist.bytes.count))
        #expect(response.address == address("top.m3u8"))
        #expect(response.headers == [HeaderField("Content-Type", "application/vnd.apple.mpegurl")])
        #expect(try await text(response) == String(decoding: playlist.bytes, as: UTF8.self))
        #expect(origin.requests.isEmpty)
        // A part of a playlist, and anything else with its URL, is requested from the origin.
        var part = request("top.m3u8", .playlist)
        part.byteRange = ByteRange(start: 0, length: 4)
        #expect(try await text(part, transport) == "from")
        var rest = request("top.m3u8", .playlist)
        rest.resumption = TransportRequest.Resumption(offset: 5, validator: "v")
        #expect(try await text(rest, transport) == "the origin")
        #expect(try await text(request("top.m3u8", .other), transport) == "from the origin")
        #expect(try await text(request("other.m3u8", .playlist), transport) == "other")
        #expect(origin.requests.count == 4)
    }

    @Test func downloadIsFoundByALaterRequestForTheSource() async throws {
        let transport = LibrarySourceTransport(temporary.directory, source: address("top.m3u8"), origin: origin)
        #expect(try await text(request("top.m3u8", .playlist), transport) == "from the origin")
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        let id = try temporary.planned(playlist)
        try temporary.store(library.missingResources(id), of: id, content: "stored")
        // Other requests do not look again.
        #expect(try await text(request("0.ts"), transport) == "zero")
        #expect(origin.requests.count == 2)
        let stored = String(decoding: playlist.bytes, as: UTF8.self)
        #expect(try await text(request("top.m3u8", .playlist), transport) == stored)
        #expect(try await text(request("0.ts"), transport) == "stored")
        #expect(origin.requests.count == 2)
    }

    /// At least 256 MiB stay free.
    @Test(arguments: [(4, true), (3, false), (-1, false)] as [(Int64, Bool)])
    func fileIsStoredIfTheDiskHasSpace(excess: Int64, isStored: Bool) async throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        let opened = try roomy(268_435_456 + excess)
        let transport = AssetTransport(opened, id: id, origin: origin)
        for _ in 0..<2 { #expect(try await text(request("0.ts"), transport) == "zero") }
        #expect(origin.requests.count == (isStored ? 1 : 2))
        #expect(try library.missingCount(id) == (isStored ? 0 : 1))
        #expect(!opened.isBeingReceived("media/000000.ts", id))
    }

    /// A file of more than a gibibyte is only played.
    @Test(arguments: [(1_073_741_824, true), (1_073_741_825, false)] as [(Int64, Bool)])
    func fileThatIsTooLargeIsNotStored(size: Int64, isStored: Bool) async throws {
        let media = try TemporaryLibrary.media("#EXTINF:4,", "#EXT-X-BYTERANGE:\(size)@0", "0.ts")
        let id = try temporary.planned(media)
        let opened = try roomy()
        let transport = AssetTransport(opened, id: id, origin: StalledTransport())
        var whole = request("0.ts")
        whole.byteRange = ByteRange(start: 0, length: size)
        let response = try await transport.send(whole)
        #expect(response.status == 206 && response.expectedLength == size)
        #expect(opened.isBeingReceived("media/000000.ts", id) == isStored)
        withExtendedLifetime(response) {}
    }

    /// A file of an unknown size may be as large as any that is stored.
    @Test(arguments: [(0, true), (-1, false)] as [(Int64, Bool)])
    func fileOfAnUnknownSizeNeedsSpaceForTheLargest(excess: Int64, isStored: Bool) async throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        let opened = try roomy(268_435_456 + 1_073_741_824 + excess)
        let transport = AssetTransport(opened, id: id, origin: StalledTransport())
        let response = try await transport.send(request("0.ts"))
        #expect(opened.isBeingReceived("media/000000.ts", id) == isStored)
        withExtendedLifetime(response) {}
    }

    @Test func storedFileIsReadFromTheDisk() async throws {
        let id = try temporary.planned(
            try TemporaryLibrary.media("#EXTINF:4,", "0.ts", "#EXTINF:4,", "#EXT-X-BYTERANGE:4@2", "1.ts")
        )
        try temporary.store(library.missingResources(id), of: id, content: "stored")
        let transport = AssetTransport(library, id: id, origin: origin)
        let response = try await transport.send(request("0.ts"))
        #expect(response.address == address("0.ts") && response.record.measurement.isFromCache)
        #expect(try await text(response) == "stored")
        var rest = request("0.ts")
        rest.resumption = TransportRequest.Resumption(offset: 2, validator: "v")
        #expect(try await text(rest, transport) == "ored")
        // A stored byte range is a whole file.
        var range = request("1.ts")
        range.byteRange = ByteRange(start: 2, length: 4)
        #expect(try await text(range, transport) == "stored")
        #expect(origin.requests.isEmpty)
        // A file of another size is not the one that was stored.
        try Data("other".utf8).write(to: temporary.url("media/000000.ts", of: id))
        #expect(try await text(request("0.ts"), transport) == "zero")
    }

    @Test(arguments: [("0123456789abcdef", true), ("0123456789abcde", false)])
    func keyIsStoredIfItIsWhole(key: String, isStored: Bool) async throws {
        origin.setResponses(for: TemporaryLibrary.origin + "key", .text(key))
        let id = try temporary.planned(
            try TemporaryLibrary.media(#"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01"#, "#EXTINF:4,", "0.ts")
        )
        let transport = AssetTransport(try roomy(), id: id, origin: origin)
        #expect(try await text(request("key", .key), transport) == key)
        #expect(try library.missingCount(id) == (isStored ? 1 : 2))
        #expect(try temporary.names(of: id).contains { $0.hasSuffix(".key") } == isStored)
    }

    @Test func fileThatEndsEarlyIsNotStored() async throws {
        let name = TemporaryLibrary.origin + "0.ts"
        origin.setResponses(for: name, .truncated(Array("ze".utf8), announced: 4), .text("zero"))
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        let transport = AssetTransport(try roomy(), id: id, origin: origin)
        #expect(try await text(request("0.ts"), transport) == "ze")
        #expect(try library.missingCount(id) == 1)
        #expect(try !temporary.names(of: id).contains { $0.hasPrefix("media/000000") })
        #expect(try await text(request("0.ts"), transport) == "zero")
        #expect(try library.missingCount(id) == 0)
    }

    /// A server may answer a request for a byte range with the whole resource.
    @Test func answerThatIsNotTheByteRangeIsNotStored() async throws {
        let media = try TemporaryLibrary.media("#EXTINF:4,", "#EXT-X-BYTERANGE:4@2", "1.ts")
        let id = try temporary.planned(media)
        let name = TemporaryLibrary.origin + "1.ts"
        origin.setResponses(for: name, .redirected(to: address("1.ts"), Array("2345".utf8)), .text("0123456789"))
        let transport = AssetTransport(try roomy(), id: id, origin: origin)
        var range = request("1.ts")
        range.byteRange = ByteRange(start: 2, length: 4)
        #expect(try await text(range, transport) == "2345")
        #expect(try library.missingCount(id) == 1)
        #expect(try await text(range, transport) == "2345")
        #expect(try library.missingCount(id) == 0)
    }

    @Test func failedRequestIsNoReception() async throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "none.ts"))
        let opened = try roomy()
        let transport = AssetTransport(opened, id: id, origin: origin)
        for _ in 0..<2 {
            let error = await #expect(throws: TransportError.self) { try await transport.send(request("none.ts")) }
            #expect(error?.status == 404)
            #expect(!opened.isBeingReceived("media/000000.ts", id))
        }
    }

    @Test func partOfAFileIsNotStored() async throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        let transport = AssetTransport(try roomy(), id: id, origin: origin)
        var rest = request("0.ts")
        rest.resumption = TransportRequest.Resumption(offset: 2, validator: "v")
        #expect(try await text(rest, transport) == "ro")
        var range = request("0.ts")
        range.byteRange = ByteRange(start: 1, length: 2)
        #expect(try await text(range, transport) == "er")
        #expect(try library.missingCount(id) == 1)
    }

    /// A player of the package gets its files under their own URLs.
    @Test func packageAnswersUnderItsOwnURLs() async throws {
        let type = "video/mp2t"
        origin.setResponses(for: TemporaryLibrary.origin + "0.ts", .bytes(Array("zero".utf8), contentType: type))
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        let opened = try roomy()
        let transport = PackageTransport(opened, id: id, origin: origin)
        let address = transport.address(of: "media/000000.ts")
        var rest = TransportRequest(address, kind: .segment)
        rest.resumption = TransportRequest.Resumption(offset: 1, validator: "v")
        let part = try await transport.send(rest)
        #expect(part.status == 206 && part.address == address && part.expectedLength == 3)
        #expect(try await text(part) == "ero")
        let whole = try await transport.send(TransportRequest(address, kind: .segment))
        #expect(whole.status == 200 && whole.address == address && whole.expectedLength == 4)
        #expect(whole.headers == [HeaderField("Content-Type", type)])
        #expect(try await text(whole) == "zero")
        #expect(try library.missingCount(id) == 0)
        #expect(PackageUse.isMarked(library.packageDirectory(id)))
        withExtendedLifetime(transport) {}
    }

    @Test func readOnlyLibraryStoresNothing() async throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        let transport = AssetTransport(try AssetLibrary(reading: temporary.directory), id: id, origin: origin)
        for _ in 0..<2 { #expect(try await text(request("0.ts"), transport) == "zero") }
        #expect(origin.requests.count == 2)
        #expect(try library.missingCount(id) == 1)
    }

    /// A server may hold back a playlist, so a player that waits for it delays no download.
    @Test func onlyMediaIsAwaited() async throws {
        let transport = PlaybackTransport(base: origin, activity: library.playback)
        #expect(try await text(request("top.m3u8", .playlist), transport) == "from the origin")
        #expect(library.playback.totalCount == 0)
        let response = try await transport.send(request("0.ts"))
        #expect(library.playback.totalCount == 1 && !library.playback.isWaiting)
        #expect(try await text(response) == "zero")
        #expect(library.playback.totalCount > 1 && !library.playback.isWaiting)
    }

    @Test func playerMarksThePackageAtItsFirstRequest() async throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        let package = library.packageDirectory(id)
        let transport = AssetTransport(library, id: id, origin: origin, marksAtFirstRequest: true)
        #expect(!PackageUse.isMarked(package))
        _ = try await transport.send(request("top.m3u8", .playlist))
        #expect(PackageUse.isMarked(package))
        withExtendedLifetime(transport) {}
    }
}
