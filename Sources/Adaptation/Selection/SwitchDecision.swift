public import MediaTiming

/// The rung from which to request the next segment, with the reasons for the choice.
public struct SwitchDecision: Sendable, Hashable {
    /// The cause of a decision.
    public enum Cause: String, Sendable, Hashable, CaseIterable {
        /// There is no previous segment, or the throughput is unknown.
        case start
        /// The rung does not change.
        case stay
        /// A higher rung, because the throughput is higher than at the last switch.
        case throughputRose
        /// A lower rung, because the throughput is lower than at the last switch.
        case throughputFell
        /// A lower rung, because the buffer may run empty.
        case bufferLow
        /// A higher rung, which the buffer level allows.
        case bufferHigh = "bufferRich"
        /// The previous rung is no longer allowed (``LadderRestriction``).
        case restriction = "cap"
        /// A lower rung, for which a running transfer is abandoned.
        case abandon
        /// A new decision for a segment whose transfer was abandoned.
        case recovery
        /// The rung is set by a ``FixedSelector``.
        case fixed
    }

    /// The figures on which a decision is based.
    public struct Evidence: Sendable, Hashable {
        /// The expected throughput, or `nil` if it is unknown.
        ///
        /// ``BalancedSelector`` reports the median of its distribution, the other selectors the estimate.
        public let throughput: BitRate?
        /// The throughput with a safety margin, or `nil` if it is unknown.
        ///
        /// The selector expects the actual throughput to be higher. The value is a quantile of its distribution, or its
        /// estimate times a factor below 1, or the estimate itself if it uses no margin.
        public let cautiousThroughput: BitRate?
        /// The buffer level at the time of the decision.
        public let bufferLevel: Duration
        /// The expected buffer level after the segment has been loaded, including this segment; `nil` if the throughput
        /// is unknown.
        public let predictedBufferLevel: Duration?
        /// The probability that the segment arrives too late, 0 to 1.
        ///
        /// Only ``BalancedSelector`` computes it; `nil` for the others.
        public let stallProbability: Double?

        /// Creates the figures of a decision.
        ///
        /// - Parameters:
        ///   - throughput: See ``throughput``.
        ///   - cautiousThroughput: See ``cautiousThroughput``.
        ///   - bufferLevel: See ``bufferLevel``.
        ///   - predictedBufferLevel: See ``predictedBufferLevel``.
        ///   - stallProbability: See ``stallProbability``.
        public init(
            throughput: BitRate? = nil,
            cautiousThroughput: BitRate? = nil,
            bufferLevel: Duration,
            predictedBufferLevel: Duration? = nil,
            stallProbability: Double? = nil
        ) {
            self.throughput = throughput
            self.cautiousThroughput = cautiousThroughput
            self.bufferLevel = bufferLevel
            self.predictedBufferLevel = predictedBufferLevel
            self.stallProbability = stallProbability
        }
    }

    /// The index of the rung in the ladder.
    public let rung: Int
    /// The cause of the decision.
    public let cause: Cause
    /// The figures on which the decision is based.
    public let evidence: Evidence
    /// The time to wait before the request, or `nil` to request immediately.
    ///
    /// Only ``BufferSelector`` returns a delay, if a higher buffer level has no further benefit.
    public let delay: Duration?

    /// Creates a decision.
    ///
    /// - Parameters:
    ///   - rung: See ``rung``.
    ///   - cause: See ``cause``.
    ///   - evidence: See ``evidence``.
    ///   - delay: See ``delay``.
    public init(rung: Int, cause: Cause, evidence: Evidence, delay: Duration? = nil) {
        self.rung = rung
        self.cause = cause
        self.evidence = evidence
        self.delay = delay
    }
}
