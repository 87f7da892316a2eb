import MediaTiming
import MediaTransport
import NIOCore

/// The reading of a response whose first bytes decide how it continues.
enum ManifestBody {
    /// Reads the rest of a body after its first bytes.
    ///
    /// - Throws: `TransportError` if there are more bytes than `limit`.
    static func bytes(
        of response: TransportResponse,
        after head: [UInt8] = [],
        _ iterator: TransportBody.AsyncIterator? = nil,
        limit: ByteCount
    ) async throws -> [UInt8] {
        guard Int64(head.count) <= limit.bytes else { throw tooLarge(limit, response) }
        var bytes = head
        var iterator = iterator ?? response.body.makeAsyncIterator()
        while let buffer = try await iterator.next() {
            guard Int64(bytes.count) +| Int64(buffer.readableBytes) <= limit.bytes else {
                throw tooLarge(limit, response)
            }
            bytes.append(contentsOf: buffer.readableBytesView)
        }
        if let expected = response.expectedLength, expected > Int64(bytes.count) {
            throw TransportError(
                .connectionLost,
                "the connection was closed before the end of the manifest",
                address: response.address
            )
        }
        return bytes
    }

    private static func tooLarge(_ limit: ByteCount, _ response: TransportResponse) -> TransportError {
        TransportError(.tooLarge, "the manifest exceeds the maximum size of \(limit)", address: response.address)
    }
}

/// A body whose first buffers were read before.
struct ResumedBody: AsyncSequence, Sendable {
    let first: [ByteBuffer]
    let rest: UncheckedIterator

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(first: first[...], rest: rest.iterator) }

    struct AsyncIterator: AsyncIteratorProtocol {
        var first: ArraySlice<ByteBuffer>
        var rest: TransportBody.AsyncIterator

        mutating func next() async throws -> ByteBuffer? {
            if let buffer = first.popFirst() { return buffer }
            return try await rest.next()
        }
    }

    /// The iterator of a body, which only one task uses at a time.
    struct UncheckedIterator: @unchecked Sendable {
        // Safe: a body is iterated once, by the task that reads the response.
        let iterator: TransportBody.AsyncIterator
    }
}
