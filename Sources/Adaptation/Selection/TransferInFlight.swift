public import MediaTiming

/// The state of a running transfer, from which a selector decides whether to abandon it.
public struct TransferInFlight: Sendable, Hashable {
    /// The index of the rung in the ladder.
    public let rung: Int
    /// The number of bytes received so far.
    public let bytesReceived: ByteCount
    /// The complete size, or `nil` if it is unknown, as for a chunked response.
    public let expectedSize: ByteCount?
    /// The time at which the request was sent.
    public let request: Duration
    /// The time of the first byte of the body, or `nil` if none has been received.
    public let firstByte: Duration?
    /// The time of the review, on the same clock.
    public let now: Duration

    /// Creates a description of a transfer.
    ///
    /// - Parameters:
    ///   - rung: See ``rung``.
    ///   - bytesReceived: See ``bytesReceived``.
    ///   - expectedSize: See ``expectedSize``.
    ///   - request: See ``request``.
    ///   - firstByte: See ``firstByte``.
    ///   - now: See ``now``.
    public init(
        rung: Int,
        bytesReceived: ByteCount,
        expectedSize: ByteCount?,
        request: Duration,
        firstByte: Duration?,
        now: Duration
    ) {
        self.rung = rung
        self.bytesReceived = bytesReceived
        self.expectedSize = expectedSize
        self.request = request
        self.firstByte = firstByte
        self.now = now
    }

    /// The time since the request, in seconds, zero or more.
    var elapsedSeconds: Double { max(0, now.clampedSeconds - request.clampedSeconds) }

    /// The time from the request to the first byte, in seconds; the whole elapsed time if none has been received.
    var latencySeconds: Double {
        guard let firstByte else { return elapsedSeconds }
        return min(max(0, firstByte.clampedSeconds - request.clampedSeconds), elapsedSeconds)
    }

    /// The time in which bytes have been received, in seconds.
    var flowSeconds: Double { elapsedSeconds - latencySeconds }

    /// The number of bits received so far.
    var bitsReceived: Double { Double(bytesReceived.bytes) * 8 }
}

/// A decision about a running transfer.
public enum TransferDecision: Sendable, Hashable {
    /// The transfer is to be continued.
    case wait
    /// The transfer is to be abandoned, and the same segment requested from another rung.
    ///
    /// The caller then adds the measurement of the abandoned transfer (``SegmentMeasurement/isAbandoned``). If the
    /// selector is asked again for this segment, it returns the same rung.
    case abandon(SwitchDecision)
}
