public import MediaTiming

/// A measurement of the network from one response, or from a part of one.
///
/// The latency is separate from the transfer time, because a distant server does not reduce the bandwidth of a link.
///
/// - Note: A long transfer may be reported in parts while it runs, so that a decrease of the throughput is detected
///   before a large segment ends. The parts are then joined. Only the first part has a latency.
public struct ThroughputSample: Sendable, Hashable {
    /// The time of the first byte of the body, on a monotonic clock that all samples share.
    public let start: Duration
    /// The time of the last byte.
    ///
    /// An end at or before `start` means that the response arrived too fast for a bit rate to be measured.
    public let end: Duration
    /// The size of the body as transferred over the network, before any decompression.
    public let bytes: ByteCount
    /// The time from sending the request to the first byte; zero or less if it was not measured.
    public let latency: Duration
    /// A Boolean value that indicates whether the bytes came from a local cache, and say nothing about the network.
    public let isCached: Bool

    /// Creates a sample.
    ///
    /// - Parameters:
    ///   - start: The time of the first byte of the body.
    ///   - end: The time of the last byte.
    ///   - bytes: The number of bytes received in between.
    ///   - latency: The time from sending the request to the first byte; zero if it was not measured.
    ///   - isCached: Whether the bytes came from a local cache.
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
