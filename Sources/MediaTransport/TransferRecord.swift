public import MediaTiming
import Synchronization

/// The measurement of a transfer, with separate times for its phases, so that slow name resolution is not mistaken for
/// low throughput.
public struct TransferMeasurement: Sendable, Hashable {
    /// The time at which the request was sent, by the clock of the transport; after name resolution and connection
    /// setup.
    public var requestStart: Duration
    /// The duration of the name resolution; `nil` if it was not needed.
    public var domainLookupDuration: Duration?
    /// The duration of the connection setup, including TLS; `nil` if an existing connection was used.
    public var connectDuration: Duration?
    /// The time from sending the request to the first byte of the response; `nil` before it is received.
    public var timeToFirstByte: Duration?
    /// The time from sending the request to the last byte of the body; `nil` before it is received.
    public var timeToLastByte: Duration?
    /// The number of bytes of the body that were received so far, as transferred; compressed bodies count with their
    /// compressed size.
    public var bytes: ByteCount
    /// The number of received bytes that precede the requested byte range, because the server sent the entire resource.
    package internal(set) var skippedBytes = ByteCount.zero
    /// The numeric address and port of the server; `nil` if there was no server.
    public var serverAddress: String?
    /// The HTTP version as an ALPN identifier (`http/1.1`, `h2`); `nil` if the resource was not loaded over HTTP.
    public var protocolName: String?
    /// The number of redirects that were followed; the times are those of the last request.
    public var redirectCount = 0
    /// A Boolean value that indicates whether the body came from a local cache.
    public var isFromCache: Bool
    /// A Boolean value that indicates whether the last request carried header fields that were given for its host,
    /// cookies, or a password.
    public var carriedCredentials = false

    /// Creates an empty measurement.
    public init(requestStart: Duration = .zero, isFromCache: Bool = false) {
        self.requestStart = requestStart
        bytes = .zero
        self.isFromCache = isFromCache
    }

    /// The time from the first to the last byte of the body; `nil` before the last byte is received.
    public var transferDuration: Duration? {
        guard let timeToFirstByte, let timeToLastByte else { return nil }
        return max(.zero, timeToLastByte - timeToFirstByte)
    }
}

/// The measurement of a transfer in progress, which can be read at any time.
public final class TransferRecord: Sendable {
    private struct State {
        var measurement: TransferMeasurement
        var chunk: ArrivingChunk?
    }

    /// A number of bytes that arrive at a constant rate over a simulated link.
    package struct ArrivingChunk: Sendable {
        let byteCount: Int64
        let start: Duration
        let end: Duration
        let time: any TimeSource

        /// Creates a chunk that arrives between two times.
        package init(byteCount: Int64, from start: Duration, to end: Duration, _ time: any TimeSource) {
            (self.byteCount, self.start, self.end, self.time) = (byteCount, start, end, time)
        }

        /// The number of bytes that have arrived.
        fileprivate var receivedBytes: ByteCount {
            let share = end > start ? (time.now - start) / (end - start) : 1
            return ByteCount(Int64(saturating: Double(byteCount) * min(max(share, 0), 1)))
        }
    }

    private let state: Mutex<State>

    /// Creates a record.
    public init(_ measurement: TransferMeasurement = TransferMeasurement()) {
        state = Mutex(State(measurement: measurement))
    }

    /// The current measurement.
    public var measurement: TransferMeasurement {
        state.withLock { state in
            guard let chunk = state.chunk else { return state.measurement }
            var measurement = state.measurement
            measurement.bytes = measurement.bytes + chunk.receivedBytes
            return measurement
        }
    }

    /// Changes the measurement.
    public func update(_ change: (inout TransferMeasurement) -> Void) { state.withLock { change(&$0.measurement) } }

    /// Sets the chunk that is arriving; the previous chunk counts as received.
    package func setArrivingChunk(_ chunk: ArrivingChunk?) {
        state.withLock { state in
            if let former = state.chunk {
                state.measurement.bytes = state.measurement.bytes + ByteCount(former.byteCount)
            }
            state.chunk = chunk
        }
    }

    /// Adds received bytes of the body.
    func addReceivedBytes(_ byteCount: Int) { update { $0.bytes = $0.bytes + ByteCount(Int64(byteCount)) } }

    /// Sets the time of the end of the body, unless it is already set.
    func recordEnd(at now: Duration) {
        update { $0.timeToLastByte = $0.timeToLastByte ?? max(.zero, now - $0.requestStart) }
    }
}
