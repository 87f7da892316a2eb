public import MediaTiming

/// A selector that chooses a higher rung the more media is buffered.
///
/// It implements BOLA (Spiteri, Urgaonkar, Sitaraman, INFOCOM 2016) with the additions of BOLA-E (Spiteri, Sitaraman,
/// Sparacio, MMSys 2018). A virtual placeholder buffer represents media that could have been loaded, so that startup, a
/// short ladder or a full buffer do not keep the rung low. A switch up is limited to the throughput (BOLA-O), because
/// it would soon be reversed otherwise. The size of the next segment is limited to the bytes that can arrive before the
/// buffer is empty.
public struct BufferSelector: VariantSelector {
    /// The initial and the final limit of a segment's size, as a fraction of the bits that can arrive before the buffer
    /// is empty.
    private static let initialSafetyFactor = 0.9
    private static let minimumSafetyFactor = 0.5

    private var estimator: ThroughputEstimator
    private var history = SwitchHistory()
    private var retryRung: Int?
    private var isFirst = true
    private var safety = initialSafetyFactor
    /// The level of the placeholder buffer, in seconds.
    private var placeholder = 0.0
    /// The curve of the last decision.
    private var curve: BufferCurve?
    /// The buffer level and the segment duration of the last decision, in seconds.
    private var lastLevel = 0.0
    private var lastSegment = 0.0
    /// The time at which the last transfer ended, in seconds.
    private var lastEnd: Double?

    /// Creates a selector without measurements.
    ///
    /// - Parameters:
    ///   - initialEstimate: The throughput estimate of an earlier session (``ThroughputMemory``), if there is one.
    ///   - options: The weights and thresholds of the throughput estimator.
    public init(initialEstimate: BitRate? = nil, options: ThroughputEstimator.Options = .init()) {
        estimator = ThroughputEstimator(initial: initialEstimate, options: options)
    }

    /// Adds the measurement of a finished or abandoned transfer.
    public mutating func add(_ measurement: SegmentMeasurement) {
        estimator.add(measurement.throughputSample)
        lastEnd = measurement.end.clampedSeconds
        if !measurement.isAbandoned { retryRung = nil }
        guard let curve, curve.indices.contains(measurement.rung) else { return }
        let time = measurement.latency.clampedSeconds + measurement.flowSeconds
        if measurement.isAbandoned {
            // The throughput dropped: the placeholder is limited to the level that the replacement rung needs.
            let wanted =
                retryRung.map { $0 > 0 ? curve.minimumLevel(for: $0) : curve.minimumLevel } ?? curve.minimumLevel
            placeholder = min(placeholder, max(0, wanted - max(0, lastLevel - time)))
        } else {
            let level = lastLevel + lastSegment
            placeholder = min(placeholder, max(0, curve.maximumLevel(for: measurement.rung) - level))
            // A rung that another rule chose is not to be left immediately, unless the buffer ran empty.
            if lastLevel > time { placeholder = max(placeholder, curve.minimumLevel(for: measurement.rung) - level) }
        }
    }

    /// Returns the rung with the highest value at this buffer level, limited by the throughput.
    public mutating func decide(_ context: SelectionContext) -> SwitchDecision {
        let curve = BufferCurve(context)
        let level = context.bufferSeconds
        addIdleTime(until: context.now)
        self.curve = curve
        lastLevel = level
        lastSegment = context.segmentSeconds
        guard let estimate = estimator.estimate else {
            return decision(
                rung: context.allowedRungs.first ?? 0,
                cause: .start,
                context: context,
                throughput: nil,
                delay: 0
            )
        }
        let throughput = max(1, Double(estimate.bitsPerSecond))
        if let retryRung, context.restriction.isAllowed(retryRung) {
            return decision(rung: retryRung, cause: .recovery, context: context, throughput: throughput, delay: 0)
        }
        var (rung, delay) = rungAndDelay(in: context, curve: curve, throughput: throughput)
        if limitRung(&rung, in: context, curve: curve, throughput: throughput) { delay = 0 }
        let cause = history.cause(of: rung, in: context, throughput: throughput)
        history.record(rung, throughput: throughput, in: context)
        return decision(rung: rung, cause: cause, context: context, throughput: throughput, delay: delay)
    }

    /// Abandons a transfer if another rung has a higher value than the rest of the transfer.
    public mutating func review(
        _ transfer: TransferInFlight,
        in context: SelectionContext
    ) -> TransferDecision {
        guard transfer.bitsReceived > 0, transfer.flowSeconds > 0,
            context.ladder.rungs.indices.contains(transfer.rung)
        else { return .wait }
        let curve = BufferCurve(context)
        let whole = transfer.expectedSize.map { Double($0.bytes) * 8 } ?? context.expectedBits(of: transfer.rung)
        let throughput = transfer.bitsReceived / transfer.flowSeconds
        // A new request has to wait for its first byte, during which this transfer would continue.
        let rest = whole - transfer.bitsReceived - transfer.latencySeconds * throughput
        // With enough time left, a temporary drop does not justify discarding the bytes received.
        guard rest > 0, rest / throughput > max(context.segmentSeconds, context.bufferSeconds) / 2 else {
            return .wait
        }
        let level = max(0, context.bufferSeconds + placeholder - transfer.latencySeconds)
        var greatest = curve.value(of: transfer.rung, at: level, bits: rest)
        var choice: Int?
        for rung in context.allowedRungs where rung < transfer.rung {
            let bits = context.expectedBits(of: rung)
            guard bits < rest else { continue }
            let value = curve.value(of: rung, at: level, bits: bits)
            if value > greatest { (choice, greatest) = (rung, value) }
        }
        guard let choice else { return .wait }
        retryRung = choice
        history.record(choice, throughput: throughput, in: context)
        return .abandon(decision(rung: choice, cause: .abandon, context: context, throughput: throughput, delay: 0))
    }

    /// Resets the buffer state, so that the next rung is chosen by throughput as at the start.
    public mutating func resetAfterSeek() {
        retryRung = nil
        isFirst = true
        placeholder = 0
        lastEnd = nil
    }
}

extension BufferSelector {
    private var latency: Double { estimator.latency?.clampedSeconds ?? 0 }

    /// Adds the time since the last transfer to the placeholder, because the buffer could have grown meanwhile.
    private mutating func addIdleTime(until now: Duration) {
        guard let lastEnd else { return }
        placeholder += min(max(0, now.clampedSeconds - lastEnd), 3_600)
        self.lastEnd = now.clampedSeconds
    }

    /// Returns the rung for the buffer level, and the delay before its request in seconds.
    private mutating func rungAndDelay(
        in context: SelectionContext,
        curve: BufferCurve,
        throughput: Double
    ) -> (rung: Int, delay: Double) {
        let open = context.allowedRungs
        let level = context.bufferSeconds
        let carried =
            open.last {
                latency + context.expectedBits(of: $0) / throughput <= context.segmentSeconds
            } ?? open.first ?? 0
        if isFirst {
            isFirst = false
            safety = Self.initialSafetyFactor
            placeholder = max(0, curve.minimumLevel(for: carried) - level)
            return (carried, 0)
        }
        var rung =
            open.max { first, second in
                let (left, right) = (
                    curve.value(of: first, at: level + placeholder, bits: curve.bits(first)),
                    curve.value(of: second, at: level + placeholder, bits: curve.bits(second))
                )
                return left < right
            } ?? 0
        if let current = context.validPreviousRung, rung > current, rung > carried {
            // A rung above the throughput would soon be left again.
            rung = context.restriction.nearestAllowed(atOrBelow: max(current, carried))
        }
        return (rung, delay(for: rung, level: level, curve: curve, isHighest: rung == open.last))
    }

    /// Returns the time until the buffer level for a rung is reached, after reducing the placeholder first.
    private mutating func delay(for rung: Int, level: Double, curve: BufferCurve, isHighest: Bool) -> Double {
        let excess = level + placeholder - curve.maximumLevel(for: rung)
        guard excess > 0 else { return 0 }
        let waiting = max(0, excess - max(0, placeholder))
        placeholder = max(0, placeholder - excess)
        return isHighest ? 0 : min(waiting, level)
    }

    /// Lowers the rung if its segment may not arrive before the buffer is empty, and returns whether it did.
    private mutating func limitRung(
        _ rung: inout Int,
        in context: SelectionContext,
        curve: BufferCurve,
        throughput: Double
    ) -> Bool {
        guard !context.isStarting else { return false }
        let safe = safety * max(0, context.bufferSeconds - latency) * throughput
        safety = max(safety * Self.initialSafetyFactor, Self.minimumSafetyFactor)
        guard context.expectedBits(of: rung) > safe else { return false }
        let open = context.allowedRungs
        let lower = open.last { $0 < rung && context.expectedBits(of: $0) <= safe } ?? open.first ?? 0
        guard lower < rung else { return false }
        rung = lower
        placeholder = min(placeholder, max(0, curve.minimumLevel(for: rung) - context.bufferSeconds))
        return true
    }

    private func decision(
        rung: Int,
        cause: SwitchDecision.Cause,
        context: SelectionContext,
        throughput: Double?,
        delay: Double
    ) -> SwitchDecision {
        let left = throughput.map { throughput in
            let time = latency + context.expectedBits(of: rung) / max(1, throughput)
            return max(0, context.bufferSeconds - time) + context.segmentSeconds
        }
        let rate = throughput.map { BitRate(bitsPerSecond: Int64(saturating: min($0, 1e15))) }
        return SwitchDecision(
            rung: rung,
            cause: cause,
            evidence: .init(
                throughput: rate,
                cautiousThroughput: rate,
                bufferLevel: context.bufferLevel,
                predictedBufferLevel: left.map { .seconds(min($0 * context.clampedPlaybackRate, 1e9)) }
            ),
            delay: delay > 0.001 ? .seconds(min(delay, 3_600)) : nil
        )
    }
}
