public import MediaTiming

extension ThroughputEstimator {
    /// The weights and thresholds of a throughput estimator.
    public struct Options: Sendable, Hashable {
        /// The half-life of the fast average, in transfer time.
        ///
        /// 3 s: about one segment on a link that is just fast enough for it, so that a drop is followed after one or
        /// two segments.
        public var fastHalfLife: Duration
        /// The half-life of the slow average, in transfer time.
        ///
        /// 9 s: an increase has to last for a few segments before it is followed.
        public var slowHalfLife: Duration
        /// The size of a contiguous busy interval from which it has its full weight; smaller ones count in proportion.
        ///
        /// 64 KiB: a sender begins with ten packets, about 14 KiB (RFC 6928), and doubles that every round trip. A
        /// transfer of 16 KiB measures little more than one round trip; 64 KiB take three.
        public var fullWeightSize: ByteCount
        /// The duration below which a response arrived too fast for a bit rate to be measured.
        ///
        /// 1 ms: below that, the measurement shows how fast a process reads its socket buffer, not how fast the network
        /// filled it.
        public var minimumTransferDuration: Duration
        /// The longest pause between two responses that arrived too fast for a bit rate to be measured, and still count as
        /// back to back.
        ///
        /// 50 ms: the time for a packet of 1.5 kB at 240 kbit/s. A longer pause is processing time of the server.
        public var maximumGap: Duration
        /// The weight of the initial estimate, in transfer time.
        ///
        /// 0.5 s: less than one or two segments that are measured now.
        public var initialWeight: Duration
        /// The half-life of the average latency, in requests.
        ///
        /// 5: about two segments of video and audio with a playlist.
        public var latencyHalfLife: Int

        /// Creates options, each of which has a default.
        ///
        /// Half-lives below 1 ms, and below one request, are raised to that.
        ///
        /// - Parameters:
        ///   - fastHalfLife: See ``fastHalfLife``.
        ///   - slowHalfLife: See ``slowHalfLife``.
        ///   - fullWeightSize: See ``fullWeightSize``.
        ///   - minimumTransferDuration: See ``minimumTransferDuration``.
        ///   - maximumGap: See ``maximumGap``.
        ///   - initialWeight: See ``initialWeight``.
        ///   - latencyHalfLife: See ``latencyHalfLife``.
        public init(
            fastHalfLife: Duration = .seconds(3),
            slowHalfLife: Duration = .seconds(9),
            fullWeightSize: ByteCount = ByteCount(65_536),
            minimumTransferDuration: Duration = .milliseconds(1),
            maximumGap: Duration = .milliseconds(50),
            initialWeight: Duration = .milliseconds(500),
            latencyHalfLife: Int = 5
        ) {
            self.fastHalfLife = fastHalfLife
            self.slowHalfLife = slowHalfLife
            self.fullWeightSize = fullWeightSize
            self.minimumTransferDuration = minimumTransferDuration
            self.maximumGap = maximumGap
            self.initialWeight = initialWeight
            self.latencyHalfLife = latencyHalfLife
        }
    }
}
