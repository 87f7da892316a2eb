public import MediaTiming

/// A transfer that has not ended: what a selector looks at to say whether it is worth the wait.
public struct TransferInFlight: Sendable, Hashable {
    /// Index of the rung in the ladder.
    public let rung: Int
    /// The bytes that have come.
    public let bytesReceived: ByteCount
    /// The size of the whole; `nil` where it is not known, as with a chunked response.
    public let expectedSize: ByteCount?
    /// When the request was sent.
    public let request: Duration
    /// When the first byte of the body came; `nil` while none has.
    public let firstByte: Duration?
    /// The time of the review, on the same clock.
    public let now: Duration

    /// Makes a description.
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

    /// From the request to now, in seconds, 0 or more.
    var elapsedSeconds: Double { max(0, now.clampedSeconds - request.clampedSeconds) }

    /// From the request to the first byte, in seconds; all of the time while none has come.
    var latencySeconds: Double {
        guard let firstByte else { return elapsedSeconds }
        return min(max(0, firstByte.clampedSeconds - request.clampedSeconds), elapsedSeconds)
    }

    /// How long bytes have flowed, in seconds.
    var flowSeconds: Double { elapsedSeconds - latencySeconds }

    /// Bits that have come.
    var bitsReceived: Double { Double(bytesReceived.bytes) * 8 }
}

/// What to do with a transfer that has not ended.
public enum TransferVerdict: Sendable, Hashable {
    /// Wait for it.
    case keepGoing
    /// Give it up and request the same segment from another rung.
    ///
    /// The caller then adds the measurement of what came (``SegmentMeasurement/isAbandoned``). The selector keeps to
    /// the rung if it is asked again for this segment.
    case abandon(SwitchDecision)
}
