import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests the memory that a loaded playlist occupies.
@Suite struct LoadedDocumentTests {
    /// A transport whose bodies arrive in parts.
    private struct PartedTransport: Transport {
        let bytes: [UInt8]
        let expectedLength: Int64?

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            let (buffers, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
            for start in stride(from: 0, to: bytes.count, by: 10_000) {
                continuation.yield(ByteBuffer(bytes: bytes[start..<min(start + 10_000, bytes.count)]))
            }
            continuation.finish()
            return TransportResponse(to: request, expectedLength: expectedLength, body: TransportBody(buffers))
        }
    }

    @Test(arguments: [true, false])
    func documentHasNoUnusedCapacity(hasLength: Bool) async throws {
        let bytes = Array("#EXTM3U\n".utf8) + Array(repeating: UInt8(ascii: "\n"), count: 700_000)
        let transport = PartedTransport(bytes: bytes, expectedLength: hasLength ? Int64(bytes.count) : nil)
        let loader = DownloadPlaylistLoader(
            loader: ResourceLoader(transport),
            playlistSize: ByteCount(10_000_000),
            bypassesCache: false,
            acceptsLive: false
        )
        let address = ResourceAddress("https://origin.example/media.m3u8")
        let resource = try await loader.fetch(address, limit: ByteCount(10_000_000))
        guard case .document(let document) = resource else {
            Issue.record("the playlist is not recognized")
            return
        }
        #expect(document.bytes == bytes)
        // An array that doubles its capacity has one of at least 1,280,000 bytes.
        #expect(document.bytes.capacity < 800_000)
    }
}
