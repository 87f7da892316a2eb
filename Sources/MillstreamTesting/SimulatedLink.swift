public import MediaTiming
public import MediaTransport
import NIOCore
public import NetworkConditioning
import ResourceAddressing
import Synchronization

/// A transport behind a modelled link, in coarse steps: for hours of playing in a moment.
///
/// Where `ConditionedTransport` passes on each piece when it arrives, this one passes on a body as a whole when its last
/// byte arrives, and tells of its progress in the measurement. Where the profile loses packets, their delay counts; a
/// connection that would break fails.
public final class SimulatedLink: Transport {
    private let base: any Transport
    private let time: any TimeSource
    private let model: Mutex<LinkModel>
    private let carries: @Sendable (TransportRequest) -> Bool
    private let dnsDelay: Duration
    private let patience: Duration
    private let knownHosts = Mutex<Set<String>>([])

    /// A body goes over the link in pieces of about this long: what is given up wastes no more.
    private static let pieceDuration = Duration.milliseconds(200)
    private static let leastPiece: Int64 = 1_460

    /// Makes a link that begins now.
    ///
    /// - Parameters:
    ///   - profile: What the link does.
    ///   - base: Where bytes come from; what it takes is on top.
    ///   - seed: For what is lost.
    ///   - patience: How long whoever asks waits while nothing comes; 20 s, as players do.
    ///   - time: The clock.
    ///   - carries: Which requests go over the link, all by default; the others cost nothing.
    public init(
        _ profile: LinkProfile,
        to base: any Transport,
        seed: UInt64 = 1,
        patience: Duration = .seconds(20),
        time: any TimeSource,
        carries: @escaping @Sendable (TransportRequest) -> Bool = { _ in true }
    ) {
        self.base = base
        self.time = time
        self.carries = carries
        self.patience = patience
        dnsDelay = profile.dnsDelay
        model = Mutex(LinkModel(profile, startingAt: time.now, seed: seed))
    }

    /// Asks for a resource; see `Transport`.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard carries(request) else { return try await base.send(request) }
        let isNewHost = dnsDelay > .zero && knownHosts.withLock { $0.insert(request.address.host ?? "").inserted }
        if isNewHost { try await time.sleep(for: dnsDelay) }
        let sent = time.now
        try await time.sleep(for: model.withLock { $0.latency(.up, at: sent) })
        let response = try await base.send(request)
        let now = time.now
        try await time.sleep(for: model.withLock { $0.latency(.down, at: now) })
        let record = TransferRecord(TransferMeasurement(sent: sent))
        if isNewHost { record.update { $0.domainLookup = dnsDelay } }
        let firstByte = time.now - sent
        record.update { $0.firstByte = firstByte }
        return TransportResponse(
            status: response.status,
            headers: response.headers,
            address: response.address,
            expectedLength: response.expectedLength,
            body: TransportBody(Crossing(link: self, body: response.body, record: record, sent: sent)),
            record: record
        )
    }

    /// A body on its way.
    private struct Crossing: AsyncSequence, Sendable {
        typealias Element = ByteBuffer

        let link: SimulatedLink
        let body: TransportBody
        let record: TransferRecord
        let sent: Duration

        func makeAsyncIterator() -> Iterator { Iterator(crossing: self, source: body.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            let crossing: Crossing
            var source: TransportBody.AsyncIterator
            var flow = LinkModel.Flow()

            mutating func next() async throws -> ByteBuffer? {
                guard let buffer = try await source.next() else {
                    let (time, sent) = (crossing.link.time, crossing.sent)
                    crossing.record.update { $0.lastByte = $0.lastByte ?? time.now - sent }
                    return nil
                }
                try await cross(buffer.readableBytes)
                return buffer
            }

            private mutating func cross(_ byteCount: Int) async throws {
                let link = crossing.link
                var rest = byteCount
                while rest > 0 {
                    var flow = flow
                    let (left, now) = (rest, link.time.now)
                    let (count, passage) = link.model.withLock { model in
                        let carried = model.byteCount(.down, in: SimulatedLink.pieceDuration, at: now) ?? .max
                        let size = Swift.max(SimulatedLink.leastPiece, carried)
                        // A little more at the end is no piece of its own.
                        let count = Int64(left) / 3 < size / 2 ? left : Int(size)
                        return (count, model.send(count, .down, of: &flow, at: now))
                    }
                    self.flow = flow
                    guard let passage, passage.arrives - now < link.patience else {
                        try await link.time.sleep(for: link.patience)
                        throw TransportError(.timedOut, "nothing came for \(link.patience.components.seconds) seconds")
                    }
                    crossing.record.expect(
                        TransferRecord.PieceUnderWay(
                            byteCount: Int64(count),
                            from: now,
                            to: passage.arrives,
                            link.time
                        )
                    )
                    try await link.time.sleep(for: Swift.max(.zero, passage.arrives - now))
                    guard !passage.breaks else { throw TransportError(.connectionLost, "the connection broke") }
                    rest -= count
                }
                crossing.record.expect(nil)
            }
        }
    }
}
