import MediaTiming
import NIOCore
import NetworkConditioning
import ResourceAddressing
import Synchronization

/// Another transport behind a link under conditions.
///
/// Each request pays the latency up and that down, a host's first request the delay of name servers, and bodies share the
/// bandwidth. Connecting is free: players keep connections, and what a request pays should not depend on it.
public struct ConditionedTransport: Transport {
    private let base: any Transport
    private let link: ConditionedLink

    /// Makes a transport.
    ///
    /// - Parameters:
    ///   - base: Where the bytes come from.
    ///   - link: What they have to cross.
    public init(_ base: any Transport, over link: ConditionedLink) {
        self.base = base
        self.link = link
    }

    /// Asks for a resource; see ``Transport/send(_:)``.
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
            // An error page has to come all the way too.
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

    /// Pays for the redirects that were followed: each is a question and an answer.
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

    /// The response as it looks at the end of the link.
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

    /// Names the address in errors of the link.
    private func addressing(_ request: TransportRequest, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as TransportError where error.address == nil {
            throw TransportError(error.code, error.message, address: request.address)
        }
    }
}

/// A body that is being read at the far end of a link, ahead of who receives it; ends with the last reference to it.
private final class Journey: Sendable {
    private let link: ConditionedLink
    private let offers: OfferedBuffers
    private let reading: Task<Void, Never>

    init(_ body: TransportBody, over link: ConditionedLink) {
        let offers = OfferedBuffers(time: link.time)
        self.link = link
        self.offers = offers
        // It outlives this call, and ends when nobody receives any more.
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
