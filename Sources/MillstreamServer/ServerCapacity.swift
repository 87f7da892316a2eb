import HLSPlaylist
import HTTPTypes
import MediaTiming
import MediaTransport
import NIOCore
import Synchronization

/// The capacity that the current requests of a server use, within its limits.
final class ServerCapacity: Sendable {
    private struct Use {
        var requests = 0
        var bytes: Int64 = 0
    }

    let limits: ServerLimits
    private let use = Mutex(Use())

    init(_ limits: ServerLimits) { self.limits = limits }

    /// The number of requests that are admitted.
    var pendingRequests: Int { use.withLock { $0.requests } }
    /// The number of bytes that these requests hold.
    var pendingBytes: Int64 { use.withLock { $0.bytes } }

    /// Admits a request.
    ///
    /// - Returns: The budget of the request, which is released with the last reference to it.
    /// - Throws: ``ServerError`` with 503 if there are too many requests.
    func admit() throws -> RequestBudget {
        let isAdmitted = use.withLock { use in
            guard use.requests < limits.pendingEdits else { return false }
            use.requests += 1
            return true
        }
        guard isAdmitted else { throw Self.busy }
        return RequestBudget(self)
    }

    fileprivate func reserve(_ bytes: Int64) throws {
        let isReserved = use.withLock { use in
            guard bytes <= limits.pendingBytes.bytes -| use.bytes else { return false }
            use.bytes +|= bytes
            return true
        }
        guard isReserved else { throw Self.busy }
    }

    fileprivate func release(_ bytes: Int64, requests: Int = 0) {
        use.withLock { use in
            use.bytes -|= bytes
            use.requests -= requests
        }
    }

    private static var busy: ServerError {
        ServerError(.serviceUnavailable, "busy", "the server is at capacity", hint: "try again in a moment")
    }
}

/// The budget of a single request: the bytes that it has loaded and the capacity that it holds.
final class RequestBudget: Sendable {
    private struct Use {
        /// The number of bytes that were received, including those of failed attempts.
        var received: Int64 = 0
        /// The number of bytes of the server's capacity that the request holds.
        var reserved: Int64 = 0
    }

    private let server: ServerCapacity
    private let use = Mutex(Use())

    fileprivate init(_ server: ServerCapacity) { self.server = server }

    deinit { server.release(use.withLock { $0.reserved }, requests: 1) }

    var limits: ServerLimits { server.limits }

    /// Returns the limits for a playlist that the request loads or generates.
    func playlistLimits(isResponse: Bool) -> PlaylistLimits {
        PlaylistLimits(
            byteCount: Int((isResponse ? limits.responseBytes : limits.playlistBytes).bytes),
            entryCount: limits.playlistEntries
        )
    }

    /// Counts received bytes of a playlist.
    ///
    /// - Throws: ``ServerError`` with 413 if the request loads too much, with 503 if all requests together do.
    func receive(_ bytes: Int) throws {
        let isWithin = use.withLock { use in
            guard Int64(bytes) <= limits.playlistBytes.bytes -| use.received else { return false }
            use.received +|= Int64(bytes)
            return true
        }
        guard isWithin else {
            throw ServerError(
                .contentTooLarge,
                "playlist-too-large",
                "the playlists are larger than \(limits.playlistBytes) together",
                hint: "start the server with --max-playlist-size MIB"
            )
        }
        try reserve(bytes)
    }

    /// Reserves capacity for bytes until the request ends.
    ///
    /// - Throws: ``ServerError`` with 503 if all requests together hold too much.
    func reserve(_ bytes: Int) throws {
        try server.reserve(Int64(bytes))
        use.withLock { $0.reserved +|= Int64(bytes) }
    }
}

/// A transport that counts received bytes against the budget of a request.
struct BudgetedTransport: Transport {
    let base: any Transport
    let budget: RequestBudget

    var executor: (any TaskExecutor)? { base.executor }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let response = try await base.send(request)
        return TransportResponse(
            status: response.status,
            headers: response.headers,
            address: response.address,
            expectedLength: response.expectedLength,
            body: TransportBody(BudgetedBuffers(body: response.body, budget: budget)),
            record: response.record
        )
    }
}

private struct BudgetedBuffers: AsyncSequence, Sendable {
    let body: TransportBody
    let budget: RequestBudget

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: TransportBody.AsyncIterator
        let budget: RequestBudget

        mutating func next() async throws -> ByteBuffer? {
            guard let buffer = try await iterator.next() else { return nil }
            try budget.receive(buffer.readableBytes)
            return buffer
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: body.makeAsyncIterator(), budget: budget) }
}
