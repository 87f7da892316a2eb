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
    private static let firstSafety = 0.9
    private static let leastSafety = 0.5

    private var estimator: ThroughputEstimator
    private var history = SwitchHistory()
    private var promised: Int?
    private var isFirst = true
    private var safety = firstSafety
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
        if !measurement.isAbandoned { promised = nil }
        guard let curve, curve.indices.contains(measurement.rung) else { return }
        let time = measurement.latency.clampedSeconds + measurement.flowSeconds
        if measurement.isAbandoned {
            // The throughput dropped: the placeholder is limited to the level that the replacement rung needs.
            let wanted = promised.map { $0 > 0 ? curve.least(for: $0) : curve.minimum } ?? curve.minimum
            placeholder = min(placeholder, max(0, wanted - max(0, lastLevel - time)))
        } else {
            let level = lastLevel + lastSegment
            placeholder = min(placeholder, max(0, curve.most(for: measurement.rung) - level))
            // A rung that another rule chose is not to be left immediately, unless the buffer ran empty.
            if lastLevel > time { placeholder = max(placeholder, curve.least(for: measurement.rung) - level) }
        }
    }

    /// Returns the rung with the highest value at this buffer level, limited by the throughput.
    public mutating func decide(_ situation: SelectionSituation) -> SwitchDecision {
        let curve = BufferCurve(situation)
        let level = situation.bufferSeconds
        count(waitUntil: situation.now)
        self.curve = curve
        lastLevel = level
        lastSegment = situation.segmentSeconds
        guard let estimate = estimator.estimate else {
            return decision(situation.openRungs.first ?? 0, .start, situation, nil, delay: 0)
        }
        let throughput = max(1, Double(estimate.bitsPerSecond))
        if let promised, situation.restriction.isOpen(promised) {
            return decision(promised, .recovery, situation, throughput, delay: 0)
        }
        var (rung, delay) = choice(situation, curve, throughput)
        if bound(&rung, situation, curve, throughput) { delay = 0 }
        let cause = history.cause(of: rung, in: situation, throughput: throughput)
        history.note(rung, throughput: throughput, in: situation)
        return decision(rung, cause, situation, throughput, delay: delay)
    }

    /// Abandons a transfer if another rung has a higher value than the rest of the transfer.
    public mutating func review(
        _ transfer: TransferInFlight,
        in situation: SelectionSituation
    ) -> TransferVerdict {
        guard transfer.bitsReceived > 0, transfer.flowSeconds > 0,
            situation.ladder.rungs.indices.contains(transfer.rung)
        else { return .keepGoing }
        let curve = BufferCurve(situation)
        let whole = transfer.expectedSize.map { Double($0.bytes) * 8 } ?? situation.expectedBits(of: transfer.rung)
        let throughput = transfer.bitsReceived / transfer.flowSeconds
        // A new request has to wait for its first byte, during which this transfer would continue.
        let rest = whole - transfer.bitsReceived - transfer.latencySeconds * throughput
        // With enough time left, a temporary drop does not justify discarding the bytes received.
        guard rest > 0, rest / throughput > max(situation.segmentSeconds, situation.bufferSeconds) / 2 else {
            return .keepGoing
        }
        let level = max(0, situation.bufferSeconds + placeholder - transfer.latencySeconds)
        var greatest = curve.worth(of: transfer.rung, at: level, bits: rest)
        var choice: Int?
        for rung in situation.openRungs where rung < transfer.rung {
            let bits = situation.expectedBits(of: rung)
            guard bits < rest else { continue }
            let worth = curve.worth(of: rung, at: level, bits: bits)
            if worth > greatest { (choice, greatest) = (rung, worth) }
        }
        guard let choice else { return .keepGoing }
        promised = choice
        history.note(choice, throughput: throughput, in: situation)
        return .abandon(decision(choice, .abandon, situation, throughput, delay: 0))
    }

    /// Resets the buffer state, so that the next rung is chosen by throughput as at the start.
    public mutating func seeked() {
        promised = nil
        isFirst = true
        placeholder = 0
        lastEnd = nil
    }
}

extension BufferSelector {
    private var latency: Double { estimator.latency?.clampedSeconds ?? 0 }

    /// Adds the time since the last transfer to the placeholder, because the buffer could have grown meanwhile.
    private mutating func count(waitUntil now: Duration) {
        guard let lastEnd else { return }
        placeholder += min(max(0, now.clampedSeconds - lastEnd), 3_600)
        self.lastEnd = now.clampedSeconds
    }

    /// Returns the rung for the buffer level, and the delay before its request in seconds.
    private mutating func choice(
        _ situation: SelectionSituation,
        _ curve: BufferCurve,
        _ throughput: Double
    ) -> (rung: Int, delay: Double) {
        let open = situation.openRungs
        let level = situation.bufferSeconds
        let carried =
            open.last {
                latency + situation.expectedBits(of: $0) / throughput <= situation.segmentSeconds
            } ?? open.first ?? 0
        if isFirst {
            isFirst = false
            safety = Self.firstSafety
            placeholder = max(0, curve.least(for: carried) - level)
            return (carried, 0)
        }
        var rung =
            open.max { first, second in
                let (left, right) = (
                    curve.worth(of: first, at: level + placeholder, bits: curve.bits(first)),
                    curve.worth(of: second, at: level + placeholder, bits: curve.bits(second))
                )
                return left < right
            } ?? 0
        if let current = situation.currentRung, rung > current, rung > carried {
            // A rung above the throughput would soon be left again.
            rung = situation.restriction.nearestOpen(below: max(current, carried))
        }
        return (rung, wait(for: rung, level, curve, isHighest: rung == open.last))
    }

    /// Returns the time until the buffer level for a rung is reached, after reducing the placeholder first.
    private mutating func wait(for rung: Int, _ level: Double, _ curve: BufferCurve, isHighest: Bool) -> Double {
        let excess = level + placeholder - curve.most(for: rung)
        guard excess > 0 else { return 0 }
        let waiting = max(0, excess - max(0, placeholder))
        placeholder = max(0, placeholder - excess)
        return isHighest ? 0 : min(waiting, level)
    }

    /// Lowers the rung if its segment may not arrive before the buffer is empty, and returns whether it did.
    private mutating func bound(
        _ rung: inout Int,
        _ situation: SelectionSituation,
        _ curve: BufferCurve,
        _ throughput: Double
    ) -> Bool {
        guard !situation.isStarting else { return false }
        let safe = safety * max(0, situation.bufferSeconds - latency) * throughput
        safety = max(safety * Self.firstSafety, Self.leastSafety)
        guard situation.expectedBits(of: rung) > safe else { return false }
        let open = situation.openRungs
        let lower = open.last { $0 < rung && situation.expectedBits(of: $0) <= safe } ?? open.first ?? 0
        guard lower < rung else { return false }
        rung = lower
        placeholder = min(placeholder, max(0, curve.least(for: rung) - situation.bufferSeconds))
        return true
    }

    private func decision(
        _ rung: Int,
        _ cause: SwitchDecision.Cause,
        _ situation: SelectionSituation,
        _ throughput: Double?,
        delay: Double
    ) -> SwitchDecision {
        let left = throughput.map { throughput in
            let time = latency + situation.expectedBits(of: rung) / max(1, throughput)
            return max(0, situation.bufferSeconds - time) + situation.segmentSeconds
        }
        let rate = throughput.map { BitRate(bitsPerSecond: Int64(saturating: min($0, 1e15))) }
        return SwitchDecision(
            rung: rung,
            cause: cause,
            evidence: .init(
                throughput: rate,
                cautiousThroughput: rate,
                bufferLevel: situation.bufferLevel,
                predictedBufferLevel: left.map { .seconds(min($0 * situation.playbackRate, 1e9)) }
            ),
            delay: delay > 0.001 ? .seconds(min(delay, 3_600)) : nil
        )
    }
}
