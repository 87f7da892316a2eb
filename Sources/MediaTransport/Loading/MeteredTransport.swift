import NIOCore

/// A transport that reports the sizes of received buffers, so that their total can be limited.
package struct MeteredTransport: Transport {
    private let base: any Transport
    private let onReceive: @Sendable (Int) throws -> Void

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - base: The transport that sends the requests.
    ///   - onReceive: A closure that is called with the number of bytes of each buffer before the buffer is delivered;
    ///     an error that it throws ends the body.
    package init(_ base: any Transport, onReceive: @escaping @Sendable (Int) throws -> Void) {
        self.base = base
        self.onReceive = onReceive
    }

    package var executor: (any TaskExecutor)? { base.executor }

    package func send(_ request: TransportRequest) async throws -> TransportResponse {
        let response = try await base.send(request)
        return response.replacingBody(with: TransportBody(MeteredBuffers(body: response.body, onReceive: onReceive)))
    }
}

private struct MeteredBuffers: AsyncSequence, Sendable {
    let body: TransportBody
    let onReceive: @Sendable (Int) throws -> Void

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: TransportBody.AsyncIterator
        let onReceive: @Sendable (Int) throws -> Void

        mutating func next() async throws -> ByteBuffer? {
            guard let buffer = try await iterator.next() else { return nil }
            try onReceive(buffer.readableBytes)
            return buffer
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iterator: body.makeAsyncIterator(), onReceive: onReceive)
    }
}
