public import MediaTiming

/// The default selector, which plans ahead and balances video quality, stalls and switches.
///
/// Instead of a single estimate of the throughput, it keeps a probability distribution. It therefore knows how
/// uncertain the throughput is: it chooses higher rungs on a steady link than on a noisy one, and keeps a larger buffer
/// on a link that had outages. For each rung it computes the expected long-term value of the choice with this
/// distribution and this buffer, and takes the best. A transfer is abandoned if another rung has become more valuable.
///
/// A link whose throughput alternates between high and low about once per segment cannot be predicted; in this case the
/// selector plans with the mean throughput.
///
/// The sizes of future segments are not needed; if the size of the next segment is known, it is used. The choice is
/// independent of scale: only the ratios of bit rates, durations and throughput matter.
///
/// A new plan, which takes some milliseconds to compute, is made for the first decision during playback and after the
/// allowed rungs, the segment duration, the buffer capacity or the latency changed substantially. Selectors with the
/// same inputs share plans.
public struct BalancedSelector: VariantSelector {
    /// The costs and thresholds of the selector.
    public let options: Options
    /// The throughput estimate before the first measurement, in bits per second.
    private let initialEstimate: Double?

    /// The probability distribution of the link's state, or `nil` before the first selection context, which contains the
    /// ladder.
    private var linkState: LinkStateDistribution?
    private var ladder: Ladder?
    private var plan: PlanTable?
    private var oscillationDetector = LinkOscillationDetector()
    /// The measurements that were added before the first selection context.
    private var pendingMeasurements: [SegmentMeasurement] = []
    private var hasMeasured = false
    /// The rate of the last large transfer, or the initial estimate, in bits per second.
    private var recentRate: Double?
    /// The average latency in seconds, in which recent requests count most.
    private var latency = MovingAverage(halfLife: 2)
    /// The average latency in seconds over more requests, so that the plan does not change with each response.
    private var longTermLatency = MovingAverage(halfLife: 8)
    /// The part of the running transfer that has already been taken into account.
    private var transferProgress = TransferProgress()
    /// The rung from which an abandoned segment is to be requested again.
    private var retryRung: Int?
    private var history = SwitchHistory()

    /// Creates a selector without measurements.
    ///
    /// - Parameters:
    ///   - initialEstimate: The throughput estimate of an earlier session (``ThroughputMemory``), if there is one.
    ///     Without it, the first segment is of the lowest allowed rung.
    ///   - options: The costs and thresholds.
    public init(initialEstimate: BitRate? = nil, options: Options = Options()) {
        self.initialEstimate = initialEstimate.map { Double($0.bitsPerSecond) }
        self.options = options
        recentRate = self.initialEstimate
    }

    /// Adds the measurement of a finished or abandoned transfer.
    public mutating func add(_ measurement: SegmentMeasurement) {
        defer { transferProgress = TransferProgress() }
        if !measurement.isAbandoned { retryRung = nil }
        guard !measurement.isCached else { return }
        guard linkState != nil else {
            // A player may load segments before it asks for a decision; the number stored is limited.
            if pendingMeasurements.count < 16 { pendingMeasurements.append(measurement) }
            return
        }
        updateLinkState(with: measurement)
    }

    /// Chooses the rung of the next segment.
    public mutating func decide(_ context: SelectionContext) -> SwitchDecision {
        prepareLinkState(for: context)
        transferProgress = TransferProgress()
        guard let linkState else { return lowestRungDecision(in: context) }
        if let retryRung, context.restriction.isAllowed(retryRung) {
            return decision(rung: retryRung, cause: .recovery, context: context, linkState: linkState)
        }
        guard hasMeasured || initialEstimate != nil else { return lowestRungDecision(in: context) }
        var next = linkState
        if hasMeasured { next.advance() }
        next = mixedWithMean(next, in: context)
        let rung =
            context.isStarting
            ? startupRung(in: context, linkState: next)
            : bestRung(in: context, plan: plan(for: context, next), linkState: next)
        let cause = history.cause(of: rung, in: context, throughput: next.quantile(0.5))
        history.record(rung, throughput: next.quantile(0.5), in: context)
        return decision(rung: rung, cause: cause, context: context, linkState: next)
    }

    /// Decides whether to wait for a transfer or to abandon it.
    public mutating func review(
        _ transfer: TransferInFlight,
        in context: SelectionContext
    ) -> TransferDecision {
        // A request that waits much longer than usual counts as a link on which nothing arrives.
        let waited = transfer.elapsedSeconds - (2 * (latency.value ?? 0.5) + 0.5)
        let flow = transfer.firstByte == nil ? max(0, waited) : transfer.flowSeconds
        guard
            let part = transferProgress.nextPart(
                bits: transfer.bitsReceived,
                seconds: flow,
                minimumSeconds: options.minimumMeasurementSeconds
            )
        else {
            return .wait
        }
        prepareLinkState(for: context)
        guard var linkState else { return .wait }
        if hasMeasured { linkState.advance() }
        linkState.observe(bitsPerSecond: part.bitsPerSecond)
        oscillationDetector.add(linkState.model.piece(part.bitsPerSecond, seconds: part.seconds, end: transfer.now))
        self.linkState = linkState
        hasMeasured = true
        linkState = mixedWithMean(linkState, in: context)
        guard
            let rung = betterRung(
                than: transfer,
                in: context,
                plan: plan(for: context, linkState),
                linkState: linkState
            )
        else {
            return .wait
        }
        retryRung = rung
        history.record(rung, throughput: linkState.quantile(0.5), in: context)
        return .abandon(decision(rung: rung, cause: .abandon, context: context, linkState: linkState))
    }

    /// Resets the state that depends on the playback position.
    public mutating func resetAfterSeek() {
        transferProgress = TransferProgress()
        retryRung = nil
    }

    /// The median of the expected throughput, or `nil` before the first measurement without an initial estimate.
    public var expectedThroughput: BitRate? {
        guard let linkState, hasMeasured || initialEstimate != nil else { return nil }
        return BitRate(bitsPerSecond: Int64(saturating: linkState.quantile(0.5)))
    }
}

// MARK: - Learning

extension BalancedSelector {
    /// The size in bits from which a transfer has its full weight.
    ///
    /// Smaller transfers measure the start of the sender rather than the link (see
    /// ``ThroughputEstimator/Options/fullWeightSize``).
    private static let fullWeightBits = 65_536.0 * 8
    /// The minimum weight with which a transfer is used for the detection of oscillation.
    ///
    /// A smaller transfer may look slow only because of its size, and would be taken for a change of the link.
    private static let minimumOscillationWeight = 0.5
    /// The minimum duration in seconds for which the rest of a transfer is measured after its parts have been.
    private static let minimumRemainderDuration = 0.3
    /// The standard deviation, in octaves, with which the mean throughput of an oscillating link is assumed to be
    /// known.
    private static let meanRateDeviation = 0.3
    /// The minimum duration in seconds for which a transfer has a rate of its own.
    ///
    /// A shorter one arrived too fast for a bit rate to be measured: its rate shows how fast a process reads, not how fast
    /// the network transferred.
    private static let minimumTransferDuration = 0.001

    private mutating func updateLinkState(with measurement: SegmentMeasurement) {
        guard var linkState else { return }
        let waited = min(measurement.latency.clampedSeconds, 60)
        if waited > 0 {
            latency.add(waited, weight: 1)
            longTermLatency.add(waited, weight: 1)
        }
        let bits = Double(measurement.bytes.bytes) * 8
        let flow = measurement.flowSeconds
        if flow < Self.minimumTransferDuration {
            guard bits > 0, waited + flow > 0 else { return }
            linkState.observe(atLeast: bits / (waited + flow))
        } else {
            let rest = transferProgress.remainder(bits: bits, seconds: flow)
            guard !transferProgress.hasMeasuredParts || rest.flow >= Self.minimumRemainderDuration else { return }
            if hasMeasured { linkState.advance() }
            let rate = rest.bits / rest.flow
            let trust = weight(bits: bits, seconds: flow)
            linkState.observe(bitsPerSecond: rate, weight: trust)
            if trust >= Self.minimumOscillationWeight {
                oscillationDetector.add(linkState.model.piece(rate, seconds: rest.flow, end: measurement.end))
            }
            if bits >= Self.fullWeightBits { recentRate = bits / flow }
        }
        hasMeasured = true
        self.linkState = linkState
    }

    /// Returns the distribution to plan with, mixed with the mean throughput if the link oscillates too fast to be
    /// followed.
    private func mixedWithMean(
        _ linkState: LinkStateDistribution,
        in context: SelectionContext
    ) -> LinkStateDistribution {
        let share = oscillationDetector.meanRateWeight(segmentDuration: context.segmentSeconds)
        guard share > 0, let mean = oscillationDetector.meanRate else { return linkState }
        return linkState.mixed(share, around: mean, octaves: Self.meanRateDeviation)
    }

    /// Returns the weight of a transfer, 0 to 1: low if it was small, unless it was slow.
    private func weight(bits: Double, seconds flow: Double) -> Double {
        min(1, max(bits / Self.fullWeightBits, flow / options.minimumMeasurementSeconds))
    }

    /// Creates the probability distribution for the ladder of a selection context, if the existing one is for another.
    private mutating func prepareLinkState(for context: SelectionContext) {
        guard ladder != context.ladder else { return }
        let model = RateModel(context.ladder)
        if let linkState, hasMeasured {
            self.linkState = LinkStateDistribution(model, around: linkState.quantile(0.5), octaves: 0.7)
        } else if let initialEstimate {
            linkState = LinkStateDistribution(model, around: initialEstimate, octaves: 1)
        } else {
            linkState = LinkStateDistribution(model)
        }
        ladder = context.ladder
        plan = nil
        let waiting = pendingMeasurements
        pendingMeasurements = []
        for measurement in waiting { updateLinkState(with: measurement) }
    }

    /// Returns the plan for a selection context: the existing one if it is still valid.
    private mutating func plan(for context: SelectionContext, _ linkState: LinkStateDistribution) -> PlanTable {
        let key = PlanKey(context, latency: longTermLatency.value ?? expectedLatency)
        if let plan, plan.key.isValid(for: key) { return plan }
        let made = PlanCache.plan(for: key, ladder: context.ladder, model: linkState.model, weights: options.weights)
        plan = made
        return made
    }
}

// MARK: - Choosing

extension BalancedSelector {
    /// Returns the allowed rung with the highest value.
    private func bestRung(in context: SelectionContext, plan: PlanTable, linkState: LinkStateDistribution) -> Int {
        let level = plan.level(context.bufferSeconds)
        let current = context.validPreviousRung.map { plan.quality($0, of: context.ladder) }
        // With slightly less than the expected throughput, the buffer level stays constant; no bytes arrive during
        // latency.
        let flowing = max(0, 1 - plan.key.latency / context.segmentSeconds)
        let carried = 0.9 * linkState.quantile(0.5) * flowing
        var best = 0
        var greatest = -Double.infinity
        for index in 0..<plan.rungs {
            let rung = plan.key.rungs[index]
            var value = plan.quality[index]
            if let bits = context.knownBits(of: rung) {
                let transfer = PlanTable.Transfer(
                    rung: index,
                    bits: bits,
                    latency: expectedLatency,
                    isSizeKnown: true,
                    mayBeAbandoned: true
                )
                // A large segment is followed by smaller ones; using the full size of each would only cause switches.
                value += 0.5 * plan.value(of: transfer, linkState: linkState, bufferSeconds: context.bufferSeconds)
                value += 0.5 * plan.value(ofTypicalSegment: index, linkState: linkState, at: level)
            } else {
                value += plan.value(ofTypicalSegment: index, linkState: linkState, at: level)
            }
            if let current {
                var cost = plan.weights.switchCost * abs(plan.quality[index] - current)
                let isBorrowed = context.ladder.bitsPerSecond(of: rung) * context.clampedPlaybackRate > carried
                if isBorrowed, plan.quality[index] > current { cost *= 1 + history.switchPenalty }
                value -= cost
            }
            if rung != context.validPreviousRung { value -= options.boundedLeastGain }
            if value > greatest { (best, greatest) = (index, value) }
        }
        return plan.key.rungs[best]
    }

    /// Returns the highest allowed rung with a segment that loads within the startup duration.
    private func startupRung(in context: SelectionContext, linkState: LinkStateDistribution) -> Int {
        var rate = linkState.quantile(0.25)
        // The distribution ends slightly above the ladder: enough for playback, but not for the fastest startup.
        if linkState.quantile(0.5) > linkState.model.rates[linkState.model.count - 1] / 2 {
            rate = max(rate, 0.7 * (recentRate ?? 0))
        }
        let bits = rate * (options.startupSeconds - expectedLatency)
        return context.allowedRungs.last { context.expectedBits(of: $0) <= bits } ?? lowestRung(context)
    }

    /// Returns the lower rung that is most valuable compared with the rest of a transfer, or `nil` to wait.
    private func betterRung(
        than transfer: TransferInFlight,
        in context: SelectionContext,
        plan: PlanTable,
        linkState: LinkStateDistribution
    ) -> Int? {
        let lower = plan.key.rungs.indices.filter { plan.key.rungs[$0] < transfer.rung }
        guard !lower.isEmpty, context.ladder.rungs.indices.contains(transfer.rung) else { return nil }
        let whole = transfer.expectedSize.map { Double($0.bytes) * 8 } ?? context.expectedBits(of: transfer.rung)
        let rest = max(0, whole - transfer.bitsReceived)
        let buffer = context.bufferSeconds
        let own = plan.quality(transfer.rung, of: context.ladder)
        let current = context.validPreviousRung.map { plan.quality($0, of: context.ladder) } ?? own
        // The plan may not contain the rung of the running transfer; the nearest lower one replaces it.
        let running = plan.key.rungs.lastIndex { $0 <= transfer.rung } ?? 0
        let waiting = PlanTable.Transfer(
            rung: running,
            bits: rest,
            latency: 0,
            isSizeKnown: true,
            mayBeAbandoned: false
        )
        var greatest =
            own - plan.weights.switchCost * abs(own - current)
            + plan.value(of: waiting, linkState: linkState, bufferSeconds: buffer)
            + options.boundedLeastGainOfAbandonment
        var choice: Int?
        for index in lower {
            let rung = plan.key.rungs[index]
            let bits = context.expectedBits(of: rung)
            guard bits < rest else { continue }
            let other = PlanTable.Transfer(
                rung: index,
                bits: bits,
                latency: expectedLatency,
                isSizeKnown: context.knownBits(of: rung) != nil,
                mayBeAbandoned: false
            )
            let value =
                plan.quality[index] - plan.weights.switchCost * abs(plan.quality[index] - current)
                + plan.value(of: other, linkState: linkState, bufferSeconds: buffer)
            if value > greatest { (choice, greatest) = (rung, value) }
        }
        return choice
    }

    /// The expected time from a request to its first byte, in seconds.
    private var expectedLatency: Double { latency.value ?? 0.1 }

    private func lowestRung(_ context: SelectionContext) -> Int { context.allowedRungs.first ?? 0 }

    private func lowestRungDecision(in context: SelectionContext) -> SwitchDecision {
        SwitchDecision(
            rung: lowestRung(context),
            cause: .start,
            evidence: .init(bufferLevel: context.bufferLevel)
        )
    }

    private func decision(
        rung: Int,
        cause: SwitchDecision.Cause,
        context: SelectionContext,
        linkState: LinkStateDistribution
    ) -> SwitchDecision {
        guard hasMeasured || initialEstimate != nil else { return lowestRungDecision(in: context) }
        let expected = linkState.quantile(0.5)
        let bits = context.expectedBits(of: rung)
        let buffer = context.bufferSeconds
        let left = max(0, buffer - expectedLatency - bits / expected) + context.segmentSeconds
        let evidence = SwitchDecision.Evidence(
            throughput: BitRate(bitsPerSecond: Int64(saturating: expected)),
            cautiousThroughput: BitRate(bitsPerSecond: Int64(saturating: linkState.quantile(0.1))),
            bufferLevel: context.bufferLevel,
            predictedBufferLevel: .seconds(min(left * context.clampedPlaybackRate, 1e9)),
            stallProbability: linkState.probability(below: bits / max(0.001, buffer - expectedLatency))
        )
        return SwitchDecision(rung: rung, cause: cause, evidence: evidence)
    }
}

extension RateModel {
    /// Returns a part of a transfer as input of the oscillation detector.
    fileprivate func piece(_ bitsPerSecond: Double, seconds: Double, end: Duration) -> LinkOscillationDetector.Piece {
        LinkOscillationDetector.Piece(
            bitsPerSecond: bitsPerSecond,
            logarithm: clampedLogarithm(bitsPerSecond),
            seconds: seconds,
            end: end.clampedSeconds
        )
    }
}

extension PlanTable {
    /// Returns the quality of any rung of the ladder, relative to the highest rung of the plan.
    func quality(_ rung: Int, of ladder: Ladder) -> Double {
        ladder.bitsPerSecond(of: rung) / ladder.bitsPerSecond(of: key.rungs[key.rungs.count - 1])
    }
}
