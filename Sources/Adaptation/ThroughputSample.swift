public import MediaTiming

/// What one response, or a piece of one, told about the network.
///
/// The wait for the first byte and the flow of the bytes behind it are two measurements: a far server does not make a
/// link slow.
///
/// - Note: A long transfer may be reported in pieces as it runs; their bytes and times then join. Only the first piece
///   carries a latency. That is the way to learn of a falling link before a large segment ends.
public struct ThroughputSample: Sendable, Hashable {
    /// When the first byte of the body came, on any clock that does not go back; the same one for all samples.
    public let start: Duration
    /// When the last byte came.
    ///
    /// An end at or before `start` says that all came at once.
    public let end: Duration
    /// The bytes of the body as they went over the network, before any decompression.
    public let bytes: ByteCount
    /// From sending the request to the first byte; zero or less where it was not measured.
    public let latency: Duration
    /// Whether the bytes came from a cache of ours, and so tell nothing about the network.
    public let isCached: Bool

    /// Makes a sample.
    ///
    /// - Parameters:
    ///   - start: When the first byte of the body came.
    ///   - end: When the last one came.
    ///   - bytes: How many came in between.
    ///   - latency: From sending the request to the first byte; zero where it was not measured.
    ///   - isCached: Whether the network had no part in it.
    public init(
        start: Duration,
        end: Duration,
        bytes: ByteCount,
        latency: Duration = .zero,
        isCached: Bool = false
    ) {
        self.start = start
        self.end = end
        self.bytes = bytes
        self.latency = latency
        self.isCached = isCached
    }
}
