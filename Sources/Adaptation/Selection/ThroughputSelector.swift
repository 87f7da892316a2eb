public import MediaTiming

/// The highest rung that a cautious throughput estimate can carry.
///
/// Knows the buffer only as a brake: what is left in it bounds the next segment. Transfers that would take much longer
/// than they play are given up.
public struct ThroughputSelector: VariantSelector {
    /// The share of the estimate that a rung may need to be kept; a rung above the current one may need 0.85 of it.
    private static let keptShare = 0.9
    /// A rung above the current one must leave more room, so that a small rise and fall is no switch up and down.
    private static let risenShare = 0.85
    /// How much of what can come before the buffer is empty a segment may be.
    private static let bufferShare = 0.8
    /// How many times its playing time a transfer may take, when it is known to.
    private static let patience = 1.8
    /// Seconds of a transfer before it is judged.
    private static let grace = 0.5

    private var estimator: ThroughputEstimator
    private var promised: Int?
    private var history = SwitchHistory()

    /// Makes a selector that has seen nothing.
    ///
    /// - Parameters:
    ///   - initialEstimate: What is known of the network from an earlier time (``ThroughputMemory``), if anything.
    ///   - options: How samples are weighed.
    public init(initialEstimate: BitRate? = nil, options: ThroughputEstimator.Options = .init()) {
        estimator = ThroughputEstimator(initial: initialEstimate, options: options)
    }

    /// The estimate that it stands on; `nil` while nothing is known.
    public var estimate: BitRate? { estimator.estimate }

    /// Takes a finished or abandoned transfer into account.
    public mutating func add(_ measurement: SegmentMeasurement) {
        if !measurement.isAbandoned { promised = nil }
        estimator.add(measurement.throughputSample)
    }

    /// The highest open rung that the estimate and the buffer can carry.
    public mutating func decide(_ situation: SelectionSituation) -> SwitchDecision {
        let open = situation.openRungs
        guard let estimate = estimator.estimate else {
            return SwitchDecision(
                rung: open.first ?? 0,
                cause: .start,
                evidence: .init(bufferLevel: situation.bufferLevel)
            )
        }
        let throughput = Double(estimate.bitsPerSecond)
        if let promised, situation.restriction.isOpen(promised) {
            return decision(promised, .recovery, situation, throughput)
        }
        let rung = open.last { isCarried($0, situation, throughput) } ?? open.first ?? 0
        let cause = history.cause(of: rung, in: situation, throughput: throughput)
        history.note(rung, throughput: throughput, in: situation)
        return decision(rung, cause, situation, throughput)
    }

    /// Gives a transfer up that would take much longer than it plays, and than what is left in the buffer.
    public mutating func review(
        _ transfer: TransferInFlight,
        in situation: SelectionSituation
    ) -> TransferVerdict {
        let flow = transfer.flowSeconds
        guard transfer.elapsedSeconds >= Self.grace, flow > 0, situation.ladder.rungs.indices.contains(transfer.rung)
        else { return .keepGoing }
        let whole = transfer.expectedSize.map { Double($0.bytes) * 8 } ?? situation.expectedBits(of: transfer.rung)
        let rest = max(0, whole - transfer.bitsReceived)
        let throughput = max(1, transfer.bitsReceived / flow)
        let remaining = rest / throughput
        guard transfer.elapsedSeconds + remaining > Self.patience * situation.segmentSeconds,
            remaining > situation.bufferSeconds
        else { return .keepGoing }
        let lower = situation.openRungs.filter { $0 < transfer.rung && situation.expectedBits(of: $0) < rest }
        let carried = lower.last {
            situation.expectedBits(of: $0) <= throughput * Self.keptShare * situation.segmentSeconds
        }
        guard let rung = carried ?? lower.first else { return .keepGoing }
        promised = rung
        history.note(rung, throughput: throughput, in: situation)
        return .abandon(decision(rung, .abandon, situation, throughput))
    }

    /// Forgets what belonged to the old place.
    public mutating func seeked() { promised = nil }
}

extension ThroughputSelector {
    private var latency: Double { estimator.latency?.clampedSeconds ?? 0 }

    private func isCarried(_ rung: Int, _ situation: SelectionSituation, _ throughput: Double) -> Bool {
        let bits = situation.expectedBits(of: rung)
        let isRise = situation.currentRung.map { rung > $0 } ?? true
        let share = isRise ? Self.risenShare : Self.keptShare
        guard latency + bits / max(1, throughput * share) <= situation.segmentSeconds else { return false }
        // At the start nothing plays that could stall.
        if situation.isStarting { return true }
        return bits <= Self.bufferShare * throughput * max(0, situation.bufferSeconds - latency)
    }

    private func decision(
        _ rung: Int,
        _ cause: SwitchDecision.Cause,
        _ situation: SelectionSituation,
        _ throughput: Double
    ) -> SwitchDecision {
        let time = latency + situation.expectedBits(of: rung) / max(1, throughput)
        let left = max(0, situation.bufferSeconds - time) + situation.segmentSeconds
        return SwitchDecision(
            rung: rung,
            cause: cause,
            evidence: .init(
                throughput: BitRate(bitsPerSecond: Int64(saturating: throughput)),
                cautiousThroughput: BitRate(bitsPerSecond: Int64(saturating: throughput * Self.keptShare)),
                bufferLevel: situation.bufferLevel,
                predictedBufferLevel: .seconds(min(left * situation.playbackRate, 1e9))
            )
        )
    }
}
