import Foundation
import HLSPlaylist
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Testing

@testable import AssetStorage

/// A disk with a given number of free bytes.
private struct SmallDisk: ForwardedFiles {
    let space: Int64
    let system = SystemFileOperations()

    func freeSpace(at path: String) -> Int64? { space }
}

/// A transport whose responses have two header fields.
private struct LabeledTransport: Transport {
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        TransportResponse(
            status: 200,
            headers: [HeaderField("content-Range", "bytes 0-3/4"), HeaderField("X-Name", "1")],
            address: request.address,
            expectedLength: 4,
            body: TransportBody(AsyncStream<ByteBuffer> { _ in })
        )
    }
}

/// Tests the responses for files that are stored while they are played.
@Suite(.timeLimit(.minutes(1))) struct SharedFilesFaultTests {
    private let temporary: TemporaryLibrary
    private let id: String
    private let resource: StoredResource
    private let name = TemporaryLibrary.origin + "0.ts"

    init() throws {
        let temporary = try TemporaryLibrary()
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        resource = try #require(try temporary.library.missingResources(id).first)
        self.temporary = temporary
        self.id = id
    }

    private var request: TransportRequest { TransportRequest(ResourceAddress(name), kind: .segment) }

    private func opened(_ space: Int64) throws -> AssetLibrary {
        try AssetLibrary(directory: temporary.directory, files: SmallDisk(space: space))
    }

    /// The space for the whole file was checked before its first bytes were received, and only these can be those of a web page.
    @Test(arguments: ["zero", "ze<html></html>"])
    func restOfAnUnfinishedFileIsStoredOnASmallDisk(content: String) async throws {
        let library = try opened(268_435_456)
        let file = library.makePackageFile(for: resource, of: id)
        try Array("ze".utf8).withUnsafeBytes { try file.write($0) }
        file.keep(ResourceVersion(TransportRequest.Resumption(offset: 0, validator: "v")), of: resource)
        let origin = ScriptedTransport(texts: [name: content])
        let response = try await AssetTransport(library, id: id, origin: origin).send(request)
        var buffers = response.body.makeAsyncIterator()
        var text = ""
        while let buffer = try await buffers.next() { text += String(buffer: buffer) }
        #expect(text == content)
        #expect(origin.requests.map { $0.resumption?.offset } == [2])
        #expect(try library.missingCount(id) == 0)
    }

    /// The response is the whole file, although its request may have been one for the rest.
    @Test func responseHasNoContentRange() async throws {
        let transport = AssetTransport(try opened(1 << 40), id: id, origin: LabeledTransport())
        let response = try await transport.send(request)
        #expect(response.headers == [HeaderField("X-Name", "1")])
        withExtendedLifetime(response) {}
    }
}
