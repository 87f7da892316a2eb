public import MediaTiming

/// The measurement of the transfer of one segment, finished or abandoned.
///
/// Times are those of a monotonic clock that all measurements and selection contexts share.
public struct SegmentMeasurement: Sendable, Hashable {
    /// The index of the rung in the ladder.
    public let rung: Int
    /// The number of bytes received.
    public let bytes: ByteCount
    /// The media duration of the complete segment.
    public let duration: Duration
    /// The time at which the request was sent.
    public let request: Duration
    /// The time of the first byte of the body, or the end if none was received.
    public let firstByte: Duration
    /// The time at which the last byte was received or the transfer was abandoned.
    public let end: Duration
    /// A Boolean value that indicates whether the bytes came from a local cache, and say nothing about the network.
    public let isCached: Bool
    /// A Boolean value that indicates whether the transfer was abandoned before its end.
    public let isAbandoned: Bool

    /// Creates a measurement.
    ///
    /// - Parameters:
    ///   - rung: See ``rung``.
    ///   - bytes: See ``bytes``.
    ///   - duration: See ``duration``.
    ///   - request: See ``request``.
    ///   - firstByte: See ``firstByte``.
    ///   - end: See ``end``.
    ///   - isCached: See ``isCached``.
    ///   - isAbandoned: See ``isAbandoned``.
    public init(
        rung: Int,
        bytes: ByteCount,
        duration: Duration,
        request: Duration,
        firstByte: Duration,
        end: Duration,
        isCached: Bool = false,
        isAbandoned: Bool = false
    ) {
        self.rung = rung
        self.bytes = bytes
        self.duration = duration
        self.request = request
        self.firstByte = firstByte
        self.end = end
        self.isCached = isCached
        self.isAbandoned = isAbandoned
    }

    /// The measurement as a sample for a ``ThroughputEstimator``.
    public var throughputSample: ThroughputSample {
        ThroughputSample(start: firstByte, end: end, bytes: bytes, latency: latency, isCached: isCached)
    }

    /// The time from sending the request to the first byte, zero or more.
    public var latency: Duration {
        .seconds(max(0, firstByte.clampedSeconds - request.clampedSeconds))
    }

    /// The time in which bytes were received, in seconds, zero or more.
    var flowSeconds: Double { max(0, end.clampedSeconds - firstByte.clampedSeconds) }
}
