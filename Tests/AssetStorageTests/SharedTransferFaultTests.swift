import MediaTransport
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

@testable import AssetStorage

/// A transport whose response has 50 buffers, which are sent when they are requested; the first begins a web page.
private final class CountingTransport: Transport {
    private let sent = Mutex(0)

    /// The number of buffers that were requested.
    var sentCount: Int { sent.withLock { $0 } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let body = AsyncStream<ByteBuffer> {
            let number = self.sent.withLock { count -> Int in
                count += 1
                return count
            }
            guard number <= 50 else { return nil }
            return ByteBuffer(string: number == 1 ? "<html>" : "x")
        }
        return TransportResponse(
            status: 200,
            headers: [],
            address: request.address,
            expectedLength: nil,
            body: TransportBody(body)
        )
    }
}

/// Tests how fast a file is received that is played but not stored.
@Suite(.timeLimit(.minutes(1))) struct SharedTransferFaultTests {
    @Test func fileThatIsNotStoredIsReceivedAsItIsRead() async throws {
        let temporary = try TemporaryLibrary()
        defer { withExtendedLifetime(temporary) {} }
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        let origin = CountingTransport()
        let transport = AssetTransport(try AssetLibrary(directory: temporary.directory), id: id, origin: origin)
        let request = TransportRequest(ResourceAddress(TemporaryLibrary.origin + "0.ts"), kind: .segment)
        var buffers = try await transport.send(request).body.makeAsyncIterator()
        var count = 0
        var hasExcess = false
        while try await buffers.next() != nil {
            count += 1
            // The transfer has time to request more than the next buffer.
            if count == 1 { for _ in 0..<1_000 where origin.sentCount <= 3 { await Task.yield() } }
            hasExcess = hasExcess || origin.sentCount > count + 2
        }
        #expect(count == 50 && !hasExcess)
        #expect(try temporary.library.missingCount(id) == 1)
    }
}
