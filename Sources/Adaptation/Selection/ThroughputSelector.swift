public import MediaTiming

/// A selector that chooses the highest rung that a cautious throughput estimate allows.
///
/// The buffer level is used only to limit the size of the next segment. Transfers that would take much longer than the
/// segment's duration are abandoned.
public struct ThroughputSelector: VariantSelector {
    /// The fraction of the estimate up to which the current rung or a lower one is allowed.
    private static let currentRungFraction = 0.9
    /// The fraction of the estimate up to which a higher rung than the current one is allowed.
    ///
    /// It is lower than ``currentRungFraction``, so that small changes of the throughput do not cause switches up and down.
    private static let higherRungFraction = 0.85
    /// The maximum size of a segment, as a fraction of the bits that can arrive before the buffer is empty.
    private static let bufferFraction = 0.8
    /// The duration of a transfer, as a multiple of the segment duration, above which it may be abandoned.
    private static let abandonmentFactor = 1.8
    /// The elapsed time of a transfer, in seconds, after which it is reviewed.
    private static let minimumReviewTime = 0.5

    private var estimator: ThroughputEstimator
    private var retryRung: Int?
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
        if !measurement.isAbandoned { retryRung = nil }
        estimator.add(measurement.throughputSample)
    }

    /// Returns the highest allowed rung for the estimate and the buffer level.
    public mutating func decide(_ context: SelectionContext) -> SwitchDecision {
        let open = context.allowedRungs
        guard let estimate = estimator.estimate else {
            return SwitchDecision(
                rung: open.first ?? 0,
                cause: .start,
                evidence: .init(bufferLevel: context.bufferLevel)
            )
        }
        let throughput = Double(estimate.bitsPerSecond)
        if let retryRung, context.restriction.isAllowed(retryRung) {
            return decision(rung: retryRung, cause: .recovery, context: context, throughput: throughput)
        }
        let rung = open.last { isSustainable($0, in: context, throughput: throughput) } ?? open.first ?? 0
        let cause = history.cause(of: rung, in: context, throughput: throughput)
        history.record(rung, throughput: throughput, in: context)
        return decision(rung: rung, cause: cause, context: context, throughput: throughput)
    }

    /// Abandons a transfer that would take much longer than the segment's duration, and longer than the buffer lasts.
    public mutating func review(
        _ transfer: TransferInFlight,
        in context: SelectionContext
    ) -> TransferDecision {
        let flow = transfer.flowSeconds
        guard transfer.elapsedSeconds >= Self.minimumReviewTime, flow > 0,
            context.ladder.rungs.indices.contains(transfer.rung)
        else { return .wait }
        let whole = transfer.expectedSize.map { Double($0.bytes) * 8 } ?? context.expectedBits(of: transfer.rung)
        let rest = max(0, whole - transfer.bitsReceived)
        let throughput = max(1, transfer.bitsReceived / flow)
        let remaining = rest / throughput
        guard transfer.elapsedSeconds + remaining > Self.abandonmentFactor * context.segmentSeconds,
            remaining > context.bufferSeconds
        else { return .wait }
        let lower = context.allowedRungs.filter { $0 < transfer.rung && context.expectedBits(of: $0) < rest }
        let carried = lower.last {
            context.expectedBits(of: $0) <= throughput * Self.currentRungFraction * context.segmentSeconds
        }
        guard let rung = carried ?? lower.first else { return .wait }
        retryRung = rung
        history.record(rung, throughput: throughput, in: context)
        return .abandon(decision(rung: rung, cause: .abandon, context: context, throughput: throughput))
    }

    /// Resets the state that depends on the playback position.
    public mutating func resetAfterSeek() { retryRung = nil }
}

extension ThroughputSelector {
    private var latency: Double { estimator.latency?.clampedSeconds ?? 0 }

    private func isSustainable(_ rung: Int, in context: SelectionContext, throughput: Double) -> Bool {
        let bits = context.expectedBits(of: rung)
        let isRise = context.validPreviousRung.map { rung > $0 } ?? true
        let share = isRise ? Self.higherRungFraction : Self.currentRungFraction
        guard latency + bits / max(1, throughput * share) <= context.segmentSeconds else { return false }
        // Before playback begins, there can be no stall.
        if context.isStarting { return true }
        return bits <= Self.bufferFraction * throughput * max(0, context.bufferSeconds - latency)
    }

    private func decision(
        rung: Int,
        cause: SwitchDecision.Cause,
        context: SelectionContext,
        throughput: Double
    ) -> SwitchDecision {
        let time = latency + context.expectedBits(of: rung) / max(1, throughput)
        let left = max(0, context.bufferSeconds - time) + context.segmentSeconds
        return SwitchDecision(
            rung: rung,
            cause: cause,
            evidence: .init(
                throughput: BitRate(bitsPerSecond: Int64(saturating: throughput)),
                cautiousThroughput: BitRate(bitsPerSecond: Int64(saturating: throughput * Self.currentRungFraction)),
                bufferLevel: context.bufferLevel,
                predictedBufferLevel: .seconds(min(left * context.clampedPlaybackRate, 1e9))
            )
        )
    }
}
