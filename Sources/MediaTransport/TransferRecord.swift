public import MediaTiming
import Synchronization

/// What a transfer cost: times apart from each other, so that a slow name server does not look like a slow line.
public struct TransferMeasurement: Sendable, Hashable {
    /// When the request was sent, on the clock of the transport: behind name resolution and connecting.
    public var sent: Duration
    /// How long the resolution of the name took; `nil` where none was needed.
    public var domainLookup: Duration?
    /// How long connecting took, TLS with it; `nil` where a connection was there already.
    public var connect: Duration?
    /// From sending the request to the first byte of the answer; `nil` before it came.
    public var firstByte: Duration?
    /// From sending the request to the last byte of the body; `nil` before it came.
    public var lastByte: Duration?
    /// The bytes of the body so far, as they came over the wire: compressed where they were.
    public var bytes: ByteCount
    /// The numeric address of who answered, with its port; `nil` where it was no server.
    public var serverAddress: String?
    /// The version of HTTP, as ALPN spells it (`http/1.1`, `h2`); `nil` where it was none.
    public var protocolName: String?
    /// How many redirects were followed before; the times are those of the last request.
    public var redirectCount = 0
    /// Whether the body came from a cache on this machine.
    public var isFromCache: Bool

    /// Makes a measurement of nothing yet.
    public init(sent: Duration = .zero, isFromCache: Bool = false) {
        self.sent = sent
        bytes = .zero
        self.isFromCache = isFromCache
    }

    /// How long the body took, from its first byte to its last; `nil` before that came.
    public var transferDuration: Duration? {
        guard let firstByte, let lastByte else { return nil }
        return max(.zero, lastByte - firstByte)
    }
}

/// The measurement of a transfer that is still going on: it can be read at any time.
public final class TransferRecord: Sendable {
    private struct State {
        var measurement: TransferMeasurement
        var piece: PieceUnderWay?
    }

    /// Bytes that come evenly, over a link that is only modelled.
    package struct PieceUnderWay: Sendable {
        let byteCount: Int64
        let start: Duration
        let end: Duration
        let time: any TimeSource

        /// Makes a piece that comes from one time to another.
        package init(byteCount: Int64, from start: Duration, to end: Duration, _ time: any TimeSource) {
            (self.byteCount, self.start, self.end, self.time) = (byteCount, start, end, time)
        }

        /// What of it is there now.
        fileprivate var arrived: ByteCount {
            let share = end > start ? (time.now - start) / (end - start) : 1
            return ByteCount(Int64(saturating: Double(byteCount) * min(max(share, 0), 1)))
        }
    }

    private let state: Mutex<State>

    /// Makes a record.
    public init(_ measurement: TransferMeasurement = TransferMeasurement()) {
        state = Mutex(State(measurement: measurement))
    }

    /// What is known now.
    public var measurement: TransferMeasurement {
        state.withLock { state in
            guard let piece = state.piece else { return state.measurement }
            var measurement = state.measurement
            measurement.bytes = measurement.bytes + piece.arrived
            return measurement
        }
    }

    /// Changes what is known.
    public func update(_ change: (inout TransferMeasurement) -> Void) { state.withLock { change(&$0.measurement) } }

    /// A piece is on its way; the one before it is there.
    package func expect(_ piece: PieceUnderWay?) {
        state.withLock { state in
            if let former = state.piece {
                state.measurement.bytes = state.measurement.bytes + ByteCount(former.byteCount)
            }
            state.piece = piece
        }
    }

    /// Notes bytes of the body.
    func received(_ byteCount: Int) { update { $0.bytes = $0.bytes + ByteCount(Int64(byteCount)) } }

    /// Notes the end of the body.
    func ended(at now: Duration) { update { $0.lastByte = $0.lastByte ?? max(.zero, now - $0.sent) } }
}
