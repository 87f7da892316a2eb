public import MediaTiming

/// What the transfer of one segment told, finished or given up.
///
/// Times are those of any clock that does not go back, the same one for all measurements and situations.
public struct SegmentMeasurement: Sendable, Hashable {
    /// Index of the rung in the ladder.
    public let rung: Int
    /// The bytes that came.
    public let bytes: ByteCount
    /// How much media they hold when all have come.
    public let duration: Duration
    /// When the request was sent.
    public let request: Duration
    /// When the first byte of the body came; the end where none did.
    public let firstByte: Duration
    /// When the last byte came, or the transfer was given up.
    public let end: Duration
    /// Whether the bytes came from a cache of ours, and so tell nothing about the network.
    public let isCached: Bool
    /// Whether the transfer was given up before its end.
    public let isAbandoned: Bool

    /// Makes a measurement.
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

    /// What it tells a ``ThroughputEstimator``.
    public var throughputSample: ThroughputSample {
        ThroughputSample(start: firstByte, end: end, bytes: bytes, latency: latency, isCached: isCached)
    }

    /// From sending the request to the first byte, 0 or more.
    public var latency: Duration {
        .seconds(max(0, firstByte.clampedSeconds - request.clampedSeconds))
    }

    /// How long bytes flowed, in seconds, 0 or more.
    var flowSeconds: Double { max(0, end.clampedSeconds - firstByte.clampedSeconds) }
}
