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
        try await addressing(request) { try await link.carryHead(.up, of: &up) }
        var down = LinkModel.Flow()
        let response: TransportResponse
        do {
            response = try await base.send(request)
        } catch let error as TransportError where error.status != nil {
            // An error response crosses the link too.
            try await addressing(request) { try await link.carryHead(.down, of: &down) }
            throw error
        }
        try await follow(response, of: request)
        let journey = Journey(response.body, over: link)
        do {
            try await addressing(request) { try await link.carryHead(.down, of: &down) }
        } catch {
            journey.cancel()
            throw error
        }
        return arrived(
            response,
            lookup,
            sent: sent,
            TransportBody(journey.body(continuing: down, of: response.address))
        )
    }

    /// Waits for the latency of the redirects that were followed; each is a response and a new request.
    private func follow(_ response: TransportResponse, of request: TransportRequest) async throws {
        let count = response.record.measurement.redirectCount
        guard count > 0 else { return }
        if response.address.host != request.address.host { _ = try await link.resolve(response.address.host ?? "") }
        for _ in 0..<count {
            var (up, down) = (LinkModel.Flow(), LinkModel.Flow())
            try await addressing(request) {
                try await link.carryHead(.down, of: &down)
                try await link.carryHead(.up, of: &up)
            }
        }
    }

    /// Returns the response as it is received at the near end of the link.
    private func arrived(
        _ response: TransportResponse,
        _ lookup: Duration?,
        sent: Duration,
        _ body: TransportBody
    ) -> TransportResponse {
        var measurement = response.record.measurement
        measurement.sent = sent
        if let lookup { measurement.domainLookup = (measurement.domainLookup ?? .zero) + lookup }
        measurement.firstByte = link.time.now - sent
        measurement.lastByte = nil
        measurement.bytes = .zero
        let record = TransferRecord(measurement)
        return TransportResponse(
            status: response.status,
            headers: response.headers,
            address: response.address,
            expectedLength: response.expectedLength,
            body: body.measured(by: record, link.time),
            record: record
        )
    }

    /// Runs an operation and adds the URL of the request to the errors of the link.
    private func addressing(_ request: TransportRequest, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as TransportError where error.address == nil {
            throw TransportError(error.code, error.message, address: request.address)
        }
    }
}

/// A body that is read at the far end of a link, ahead of its receiver; reading is canceled with the last reference to
/// it.
private final class Journey: Sendable {
    private let link: ConditionedLink
    private let offers: OfferedBuffers
    private let reading: Task<Void, Never>

    init(_ body: TransportBody, over link: ConditionedLink) {
        let offers = OfferedBuffers(time: link.time)
        self.link = link
        self.offers = offers
        // The task outlives this call, and ends when the object is deallocated.
        reading = Task(executorPreference: link.time.taskExecutor) {
            do {
                for try await buffer in body {
                    guard await offers.offer(buffer) else { return }
                }
                offers.finish(.success(()))
            } catch {
                offers.finish(.failure(error))
            }
        }
    }

    deinit { cancel() }

    func cancel() {
        offers.abandon()
        reading.cancel()
    }

    func body(continuing flow: LinkModel.Flow, of address: ResourceAddress) -> ArrivingBuffers {
        ArrivingBuffers(journey: self, flow: flow, address: address)
    }

    struct ArrivingBuffers: AsyncSequence, Sendable {
        let journey: Journey
        let flow: LinkModel.Flow
        let address: ResourceAddress

        struct AsyncIterator: AsyncIteratorProtocol {
            let journey: Journey
            var traversal: LinkTraversal
            let address: ResourceAddress

            mutating func next() async throws -> ByteBuffer? {
                do {
                    return try await traversal.next(from: journey.offers)
                } catch let error as TransportError where error.address == nil {
                    throw TransportError(error.code, error.message, address: address)
                }
            }
        }

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(
                journey: journey,
                traversal: LinkTraversal(journey.link, .down, continuing: flow),
                address: address
            )
        }
    }
}
