public import MediaTiming

extension ThroughputEstimator {
    /// How samples are weighed.
    public struct Options: Sendable, Hashable {
        /// How much transfer time halves the weight of what came before, in the fast average.
        ///
        /// 3 s: about one segment on a link that is just fast enough for it, so a fall is seen after one or two.
        public var fastHalfLife: Duration
        /// The same for the slow average.
        ///
        /// 9 s: a rise must hold for a few segments before it is believed.
        public var slowHalfLife: Duration
        /// An unbroken stretch of transfers with fewer bytes than this counts for less than its time, in proportion.
        ///
        /// 64 KiB: a sender starts with ten packets, about 14 KiB (RFC 6928), and doubles that every round trip. So
        /// 16 KiB measure little but one round trip; with 64 KiB, three have passed.
        public var fullWeight: ByteCount
        /// A transfer shorter than this came all at once, and has no rate of its own.
        ///
        /// 1 ms: below it one sees how fast a process reads its socket's buffer, not how fast the network filled it.
        public var shortestTransfer: Duration
        /// The longest silence between two responses that each came at once and still came back to back.
        ///
        /// 50 ms: a packet of 1.5 kB on 240 kbit/s. After more than that, the server was thinking.
        public var longestGap: Duration
        /// How much transfer time the initial estimate is worth.
        ///
        /// 0.5 s: what was known before counts less than a segment or two of now.
        public var initialWeight: Duration
        /// How many requests halve the weight of earlier latencies.
        ///
        /// 5: about two segments of video and sound with a playlist.
        public var latencyHalfLife: Int

        /// Makes options; each has a default.
        ///
        /// Half-lives below 1 ms, and below one request, count as that.
        ///
        /// - Parameters:
        ///   - fastHalfLife: See ``fastHalfLife``.
        ///   - slowHalfLife: See ``slowHalfLife``.
        ///   - fullWeight: See ``fullWeight``.
        ///   - shortestTransfer: See ``shortestTransfer``.
        ///   - longestGap: See ``longestGap``.
        ///   - initialWeight: See ``initialWeight``.
        ///   - latencyHalfLife: See ``latencyHalfLife``.
        public init(
            fastHalfLife: Duration = .seconds(3),
            slowHalfLife: Duration = .seconds(9),
            fullWeight: ByteCount = ByteCount(65_536),
            shortestTransfer: Duration = .milliseconds(1),
            longestGap: Duration = .milliseconds(50),
            initialWeight: Duration = .milliseconds(500),
            latencyHalfLife: Int = 5
        ) {
            self.fastHalfLife = fastHalfLife
            self.slowHalfLife = slowHalfLife
            self.fullWeight = fullWeight
            self.shortestTransfer = shortestTransfer
            self.longestGap = longestGap
            self.initialWeight = initialWeight
            self.latencyHalfLife = latencyHalfLife
        }
    }
}
