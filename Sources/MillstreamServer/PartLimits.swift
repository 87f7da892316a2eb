public import MediaTiming

/// The limits on dividing segments into the parts of simulated channels.
public struct PartLimits: Sendable, Hashable {
    /// The maximum number of segments that are loaded and divided at the same time.
    ///
    /// The default is 64. A client can have begun at most a quarter of the divisions, but at least 4.
    public var concurrentDivisions: Int
    /// The maximum size of a segment that is divided.
    ///
    /// The default is 32 MiB: 10 s at 26 Mbit/s.
    public var segmentBytes: ByteCount
    /// The maximum total size of divided segments in memory.
    ///
    /// The default is 64 MiB. A segment stays in memory for at most half a minute. The last one does so even if it is larger.
    public var retainedBytes: ByteCount

    /// Creates limits.
    public init(
        concurrentDivisions: Int = 64,
        segmentBytes: ByteCount = ByteCount(32 << 20),
        retainedBytes: ByteCount = ByteCount(64 << 20)
    ) {
        self.concurrentDivisions = concurrentDivisions
        self.segmentBytes = segmentBytes
        self.retainedBytes = retainedBytes
    }
}
