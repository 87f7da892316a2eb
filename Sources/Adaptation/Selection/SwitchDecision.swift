public import MediaTiming

/// Which rung the next segment is taken from, and why.
public struct SwitchDecision: Sendable, Hashable {
    /// What moved a decision.
    public enum Cause: String, Sendable, Hashable, CaseIterable {
        /// Nothing played before.
        case start
        /// The rung is kept.
        case stay
        /// Higher, as the link is faster than it was at the last switch.
        case throughputRose
        /// Lower, as the link is slower than it was at the last switch.
        case throughputFell
        /// Lower, as the buffer may run dry.
        case bufferLow
        /// Higher, as the buffer can bear it.
        case bufferRich
        /// The rung of before is no longer open (``LadderRestriction``).
        case cap
        /// A transfer was given up for this one.
        case abandon
        /// The first decision for the segment whose transfer was given up.
        case recovery
        /// The rung was given (``FixedSelector``).
        case fixed
    }

    /// The figures that a decision stood on.
    public struct Evidence: Sendable, Hashable {
        /// The throughput that is expected: as likely to be exceeded as not; `nil` where nothing is known.
        public let throughput: BitRate?
        /// The throughput that was relied upon: nine times in ten, the link is faster; `nil` where nothing is known.
        public let cautiousThroughput: BitRate?
        /// The buffer at the decision.
        public let bufferLevel: Duration
        /// The buffer expected when the segment has come, which it adds to; `nil` where nothing is known.
        public let predictedBufferLevel: Duration?
        /// How likely the segment comes too late, 0 to 1; `nil` where it was not asked.
        public let stallProbability: Double?

        /// Makes figures.
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

    /// Index of the rung in the ladder.
    public let rung: Int
    /// Why this one.
    public let cause: Cause
    /// What was known.
    public let evidence: Evidence
    /// How long to wait before the request; `nil` for not at all.
    ///
    /// Only ``BufferSelector`` asks for a wait, where a fuller buffer would change nothing.
    public let delay: Duration?

    /// Makes a decision.
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
