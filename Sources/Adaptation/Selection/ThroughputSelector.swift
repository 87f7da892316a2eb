public import MediaTiming

/// A selector that chooses the highest rung that a cautious throughput estimate allows.
///
/// The buffer level is used only to limit the size of the next segment. Transfers that would take much longer than the
/// segment's duration are abandoned.
public struct ThroughputSelector: VariantSelector {
    /// The fraction of the estimate up to which the current rung or a lower one is allowed.
    private static let keptShare = 0.9
    /// The fraction of the estimate up to which a higher rung than the current one is allowed.
    ///
    /// It is lower than ``keptShare``, so that small changes of the throughput do not cause switches up and down.
    private static let risenShare = 0.85
    /// The maximum size of a segment, as a fraction of the bits that can arrive before the buffer is empty.
    private static let bufferShare = 0.8
    /// The duration of a transfer, as a multiple of the segment duration, above which it may be abandoned.
    private static let patience = 1.8
    /// The elapsed time of a transfer, in seconds, after which it is reviewed.
    private static let grace = 0.5

    private var estimator: ThroughputEstimator
    private var promised: Int?
    private var history = SwitchHistory()

    /// Creates a selector without measurements.
    ///
    /// - Parameters:
    ///   - initialEstimate: The throughput estimate of an earlier session (``ThroughputMemory``), if there is one.
    ///   - options: The weights and thresholds of the throughput estimator.
    public init(initialEstimate: BitRate? = nil, options: ThroughputEstimator.Options = .init()) {
        estimator = ThroughputEstimator(initial: initialEstimate, options: options)
    }

    /// The current throughput estimate, or `nil` if there is none.
    public var estimate: BitRate? { estimator.estimate }

    /// Adds the measurement of a finished or abandoned transfer.
    public mutating func add(_ measurement: SegmentMeasurement) {
        if !measurement.isAbandoned { promised = nil }
        estimator.add(measurement.throughputSample)
    }

    /// Returns the highest allowed rung for the estimate and the buffer level.
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

    /// Abandons a transfer that would take much longer than the segment's duration, and longer than the buffer lasts.
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

    /// Resets the state that depends on the playback position.
    public mutating func seeked() { promised = nil }
}

extension ThroughputSelector {
    private var latency: Double { estimator.latency?.clampedSeconds ?? 0 }

    private func isCarried(_ rung: Int, _ situation: SelectionSituation, _ throughput: Double) -> Bool {
        let bits = situation.expectedBits(of: rung)
        let isRise = situation.currentRung.map { rung > $0 } ?? true
        let share = isRise ? Self.risenShare : Self.keptShare
        guard latency + bits / max(1, throughput * share) <= situation.segmentSeconds else { return false }
        // Before playback begins, there can be no stall.
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
