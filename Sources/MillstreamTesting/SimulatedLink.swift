public import MediaTiming
public import MediaTransport
import NIOCore
public import NetworkConditioning
import ResourceAddressing
import Synchronization

/// A transport over a simulated link, in coarse steps, so that hours of playback are simulated quickly.
///
/// `ConditionedTransport` delivers each piece when it arrives. This transport delivers each buffer when its last byte
/// arrives, and reports progress in the measurement. Packet loss of the profile adds delay; a connection that would
/// break fails.
public final class SimulatedLink: Transport {
    private let base: any Transport
    private let time: any TimeSource
    private let model: Mutex<LinkModel>
    private let carries: @Sendable (TransportRequest) -> Bool
    private let dnsDelay: Duration
    private let stallTimeout: Duration
    private let knownHosts = Mutex<Set<String>>([])

    /// The duration of the pieces in which a body crosses the link; an abandoned transfer wastes at most one piece.
    private static let chunkDuration = Duration.milliseconds(200)
    private static let minimumChunkSize: Int64 = 1_460

    /// Creates a link that starts now.
    ///
    /// - Parameters:
    ///   - profile: The conditions of the link.
    ///   - base: The transport for the bytes; its own duration is added.
    ///   - seed: The seed of the random packet loss.
    ///   - stallTimeout: The duration after which a stalled transfer fails; 20 s, as players do.
    ///   - time: The clock.
    ///   - carries: Returns whether a request goes over the link; by default, all do. Other requests are not delayed.
    public init(
        _ profile: LinkProfile,
        to base: any Transport,
        seed: UInt64 = 1,
        stallTimeout: Duration = .seconds(20),
        time: any TimeSource,
        carries: @escaping @Sendable (TransportRequest) -> Bool = { _ in true }
    ) {
        self.base = base
        self.time = time
        self.carries = carries
        self.stallTimeout = stallTimeout
        dnsDelay = profile.dnsDelay
        model = Mutex(LinkModel(profile, startingAt: time.now, seed: seed))
    }

    /// Sends a request; see `Transport`.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard carries(request) else { return try await base.send(request) }
        let isNewHost = dnsDelay > .zero && knownHosts.withLock { $0.insert(request.address.host ?? "").inserted }
        if isNewHost { try await time.sleep(for: dnsDelay) }
        let sent = time.now
        try await time.sleep(for: model.withLock { $0.latency(.up, at: sent) })
        let response = try await base.send(request)
        let now = time.now
        try await time.sleep(for: model.withLock { $0.latency(.down, at: now) })
        let record = TransferRecord(TransferMeasurement(requestStart: sent))
        if isNewHost { record.update { $0.domainLookupDuration = dnsDelay } }
        let firstByte = time.now - sent
        record.update { $0.timeToFirstByte = firstByte }
        let body = LinkedBody(link: self, body: response.body, record: record, sent: sent)
        return response.replacingBody(with: TransportBody(body), record: record)
    }

    /// A body that crosses the link.
    private struct LinkedBody: AsyncSequence, Sendable {
        typealias Element = ByteBuffer

        let link: SimulatedLink
        let body: TransportBody
        let record: TransferRecord
        let sent: Duration

        func makeAsyncIterator() -> Iterator { Iterator(crossing: self, source: body.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            let crossing: LinkedBody
            var source: TransportBody.AsyncIterator
            var flow = LinkModel.Flow()

            mutating func next() async throws -> ByteBuffer? {
                guard let buffer = try await source.next() else {
                    let (time, sent) = (crossing.link.time, crossing.sent)
                    crossing.record.update { $0.timeToLastByte = $0.timeToLastByte ?? time.now - sent }
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
                    let (count, transmission) = link.model.withLock { model in
                        let carried = model.byteCount(.down, in: SimulatedLink.chunkDuration, at: now) ?? .max
                        let size = Swift.max(SimulatedLink.minimumChunkSize, carried)
                        // A short remainder is sent with the last piece.
                        let count = Int64(left) / 3 < size / 2 ? left : Int(size)
                        return (count, model.send(count, .down, of: &flow, at: now))
                    }
                    self.flow = flow
                    guard let transmission, transmission.arrival - now < link.stallTimeout else {
                        try await link.time.sleep(for: link.stallTimeout)
                        throw TransportError(
                            .timedOut,
                            "no bytes were received for \(link.stallTimeout.components.seconds) seconds"
                        )
                    }
                    crossing.record.setArrivingChunk(
                        TransferRecord.ArrivingChunk(
                            byteCount: Int64(count),
                            from: now,
                            to: transmission.arrival,
                            link.time
                        )
                    )
                    try await link.time.sleep(for: Swift.max(.zero, transmission.arrival - now))
                    guard !transmission.breaksConnection else {
                        throw TransportError(.connectionLost, "the connection broke")
                    }
                    rest -= count
                }
                crossing.record.setArrivingChunk(nil)
            }
        }
    }
}
