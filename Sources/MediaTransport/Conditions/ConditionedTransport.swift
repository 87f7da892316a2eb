import MediaTiming
import NIOCore
import NetworkConditioning
import ResourceAddressing
import Synchronization

/// A transport that applies the conditions of a link to another transport.
///
/// Each request takes the latency in both directions, and the first request for a host also the DNS delay. Response
/// bodies share the bandwidth. Connection setup takes no time, because players reuse connections and the cost of a
/// request should not depend on that.
public struct ConditionedTransport: Transport {
    private let base: any Transport
    private let link: ConditionedLink

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - base: The transport that loads the resources.
    ///   - link: The link that requests and responses cross.
    public init(_ base: any Transport, over link: ConditionedLink) {
        self.base = base
        self.link = link
    }

    /// Sends a request; see ``Transport/send(_:)``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let isRemote = request.address.isHTTP
        guard isRemote else { return try await base.send(request) }
        let lookup = try await link.resolve(request.address.host ?? "")
        let sent = link.time.now
        var up = LinkModel.Flow()
        try await addingAddress(of: request) { try await link.transmitHead(.up, of: &up) }
        var down = LinkModel.Flow()
        let response: TransportResponse
        do {
            response = try await base.send(request)
        } catch let error as TransportError where error.status != nil {
            // An error response crosses the link too.
            try await addingAddress(of: request) { try await link.transmitHead(.down, of: &down) }
            throw error
        }
        try await waitForRedirects(response, of: request)
        let body = PrefetchedBody(response.body, over: link)
        do {
            try await addingAddress(of: request) { try await link.transmitHead(.down, of: &down) }
        } catch {
            body.cancel()
            throw error
        }
        return receivedResponse(
            response,
            lookup: lookup,
            sent: sent,
            body: TransportBody(body.body(continuing: down, of: response.address))
        )
    }

    /// Waits for the latency of the redirects that were followed; each is a response and a new request.
    private func waitForRedirects(_ response: TransportResponse, of request: TransportRequest) async throws {
        let count = response.record.measurement.redirectCount
        guard count > 0 else { return }
        if response.address.host != request.address.host { _ = try await link.resolve(response.address.host ?? "") }
        for _ in 0..<count {
            var (up, down) = (LinkModel.Flow(), LinkModel.Flow())
            try await addingAddress(of: request) {
                try await link.transmitHead(.down, of: &down)
                try await link.transmitHead(.up, of: &up)
            }
        }
    }

    /// Returns the response as it is received at the near end of the link.
    private func receivedResponse(
        _ response: TransportResponse,
        lookup: Duration?,
        sent: Duration,
        body: TransportBody
    ) -> TransportResponse {
        var measurement = response.record.measurement
        measurement.requestStart = sent
        if let lookup { measurement.domainLookupDuration = (measurement.domainLookupDuration ?? .zero) + lookup }
        measurement.timeToFirstByte = link.time.now - sent
        measurement.timeToLastByte = nil
        measurement.bytes = .zero
        let record = TransferRecord(measurement)
        return response.replacingBody(with: body.measured(by: record, link.time), record: record)
    }

    /// Runs an operation and adds the URL of the request to the errors of the link.
    private func addingAddress(of request: TransportRequest, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as TransportError where error.address == nil {
            throw TransportError(error.code, error.message, address: request.address)
        }
    }
}

/// A body that is read at the far end of a link, ahead of its receiver; reading is canceled with the last reference to
/// it.
private final class PrefetchedBody: Sendable {
    private let link: ConditionedLink
    private let queue: BufferQueue
    private let reading: Task<Void, Never>

    init(_ body: TransportBody, over link: ConditionedLink) {
        let queue = BufferQueue(time: link.time)
        self.link = link
        self.queue = queue
        // The task outlives this call, and ends when the object is deallocated.
        reading = Task(executorPreference: link.time.taskExecutor) {
            do {
                for try await buffer in body {
                    guard await queue.append(buffer) else { return }
                }
                queue.finish(.success(()))
            } catch {
                queue.finish(.failure(error))
            }
        }
    }

    deinit { cancel() }

    func cancel() {
        queue.cancel()
        reading.cancel()
    }

    func body(continuing flow: LinkModel.Flow, of address: ResourceAddress) -> ReceivedBuffers {
        ReceivedBuffers(body: self, flow: flow, address: address)
    }

    struct ReceivedBuffers: AsyncSequence, Sendable {
        let body: PrefetchedBody
        let flow: LinkModel.Flow
        let address: ResourceAddress

        struct AsyncIterator: AsyncIteratorProtocol {
            let body: PrefetchedBody
            var transfer: LinkTransfer
            let address: ResourceAddress

            mutating func next() async throws -> ByteBuffer? {
                do {
                    return try await transfer.next(from: body.queue)
                } catch let error as TransportError where error.address == nil {
                    throw TransportError(error.code, error.message, address: address)
                }
            }
        }

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(
                body: body,
                transfer: LinkTransfer(body.link, .down, continuing: flow),
                address: address
            )
        }
    }
}
