public import MediaTiming

/// The default selector for viewers, which plans ahead and balances video quality, stalls and switches.
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

    /// The probability distribution of the link's state, or `nil` before the first situation, which contains the
    /// ladder.
    private var belief: LinkBelief?
    private var ladder: Ladder?
    private var plan: PlanTable?
    private var rhythm = LinkRhythm()
    /// The measurements that were added before the first situation.
    private var early: [SegmentMeasurement] = []
    private var hasMeasured = false
    /// The rate of the last large transfer, or the initial estimate, in bits per second.
    private var recentRate: Double?
    /// The average latency in seconds, in which recent requests count most.
    private var latency = FadingAverage(halfLife: 2)
    /// The average latency in seconds over more requests, so that the plan does not change with each response.
    private var usualLatency = FadingAverage(halfLife: 8)
    /// The part of the running transfer that has already been taken into account.
    private var piece = TransferPiece()
    /// The rung from which an abandoned segment is to be requested again.
    private var promised: Int?
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
        defer { piece = TransferPiece() }
        if !measurement.isAbandoned { promised = nil }
        guard !measurement.isCached else { return }
        guard belief != nil else {
            // A player may load segments before it asks for a decision; the number stored is limited.
            if early.count < 16 { early.append(measurement) }
            return
        }
        learn(measurement)
    }

    /// Chooses the rung of the next segment.
    public mutating func decide(_ situation: SelectionSituation) -> SwitchDecision {
        prepare(situation)
        piece = TransferPiece()
        guard let belief else { return lowest(situation) }
        if let promised, situation.restriction.isOpen(promised) {
            return decision(promised, .recovery, situation, belief)
        }
        guard hasMeasured || initialEstimate != nil else { return lowest(situation) }
        var next = belief
        if hasMeasured { next.pass() }
        next = averaged(next, situation)
        let rung = situation.isStarting ? start(situation, next) : best(situation, plan(for: situation, next), next)
        let cause = history.cause(of: rung, in: situation, throughput: next.quantile(0.5))
        history.note(rung, throughput: next.quantile(0.5), in: situation)
        return decision(rung, cause, situation, next)
    }

    /// Decides whether to wait for a transfer or to abandon it.
    public mutating func review(
        _ transfer: TransferInFlight,
        in situation: SelectionSituation
    ) -> TransferVerdict {
        // A request that waits much longer than usual counts as a link on which nothing arrives.
        let waited = transfer.elapsedSeconds - (2 * (latency.value ?? 0.5) + 0.5)
        let flow = transfer.firstByte == nil ? max(0, waited) : transfer.flowSeconds
        guard let part = piece.next(bits: transfer.bitsReceived, flow: flow, atLeast: options.pieceSeconds) else {
            return .keepGoing
        }
        prepare(situation)
        guard var belief else { return .keepGoing }
        if hasMeasured { belief.pass() }
        belief.observe(bitsPerSecond: part.bitsPerSecond)
        rhythm.add(belief.model.piece(part.bitsPerSecond, seconds: part.seconds, end: transfer.now))
        self.belief = belief
        hasMeasured = true
        belief = averaged(belief, situation)
        guard let rung = alternative(to: transfer, situation, plan(for: situation, belief), belief) else {
            return .keepGoing
        }
        promised = rung
        history.note(rung, throughput: belief.quantile(0.5), in: situation)
        return .abandon(decision(rung, .abandon, situation, belief))
    }

    /// Resets the state that depends on the playback position.
    public mutating func seeked() {
        piece = TransferPiece()
        promised = nil
    }

    /// The median of the expected throughput, or `nil` before the first measurement without an initial estimate.
    public var expectedThroughput: BitRate? {
        guard let belief, hasMeasured || initialEstimate != nil else { return nil }
        return BitRate(bitsPerSecond: Int64(saturating: belief.quantile(0.5)))
    }
}

// MARK: - Learning

extension BalancedSelector {
    /// The size in bits from which a transfer has its full weight.
    ///
    /// Smaller transfers measure the start of the sender rather than the link (see
    /// ``ThroughputEstimator/Options/fullWeight``).
    private static let fullTrustBits = 65_536.0 * 8
    /// The minimum weight with which a transfer is used for the detection of oscillation.
    ///
    /// A smaller transfer may look slow only because of its size, and would be taken for a change of the link.
    private static let trustOfRhythm = 0.5
    /// The minimum duration in seconds for which the rest of a transfer is measured after its parts have been.
    private static let shortestRest = 0.3
    /// The standard deviation, in octaves, with which the mean throughput of an oscillating link is assumed to be
    /// known.
    private static let spreadOfMean = 0.3
    /// The minimum duration in seconds for which a transfer has a rate of its own.
    ///
    /// A shorter one arrived at once: its rate shows how fast a process reads, not how fast the network transferred.
    private static let shortestFlow = 0.001

    private mutating func learn(_ measurement: SegmentMeasurement) {
        guard var belief else { return }
        let waited = min(measurement.latency.clampedSeconds, 60)
        if waited > 0 {
            latency.add(waited, weight: 1)
            usualLatency.add(waited, weight: 1)
        }
        let bits = Double(measurement.bytes.bytes) * 8
        let flow = measurement.flowSeconds
        if flow < Self.shortestFlow {
            guard bits > 0, waited + flow > 0 else { return }
            belief.observe(atLeast: bits / (waited + flow))
        } else {
            let rest = piece.rest(bits: bits, flow: flow)
            guard !piece.hasPieces || rest.flow >= Self.shortestRest else { return }
            if hasMeasured { belief.pass() }
            let rate = rest.bits / rest.flow
            let trust = trust(bits, flow)
            belief.observe(bitsPerSecond: rate, trust: trust)
            if trust >= Self.trustOfRhythm {
                rhythm.add(belief.model.piece(rate, seconds: rest.flow, end: measurement.end))
            }
            if bits >= Self.fullTrustBits { recentRate = bits / flow }
        }
        hasMeasured = true
        self.belief = belief
    }

    /// Returns the distribution to plan with, mixed with the mean throughput if the link oscillates too fast to be
    /// followed.
    private func averaged(_ belief: LinkBelief, _ situation: SelectionSituation) -> LinkBelief {
        let share = rhythm.weightOfMean(segment: situation.segmentSeconds)
        guard share > 0, let mean = rhythm.meanRate else { return belief }
        return belief.mixed(share, around: mean, octaves: Self.spreadOfMean)
    }

    /// Returns the weight of a transfer, 0 to 1: low if it was small, unless it was slow.
    private func trust(_ bits: Double, _ flow: Double) -> Double {
        min(1, max(bits / Self.fullTrustBits, flow / options.pieceSeconds))
    }

    /// Creates the probability distribution for the ladder of a situation, if the existing one is for another ladder.
    private mutating func prepare(_ situation: SelectionSituation) {
        guard ladder != situation.ladder else { return }
        let model = LinkModel(situation.ladder)
        if let belief, hasMeasured {
            self.belief = LinkBelief(model, around: belief.quantile(0.5), octaves: 0.7)
        } else if let initialEstimate {
            belief = LinkBelief(model, around: initialEstimate, octaves: 1)
        } else {
            belief = LinkBelief(model)
        }
        ladder = situation.ladder
        plan = nil
        let waiting = early
        early = []
        for measurement in waiting { learn(measurement) }
    }

    /// Returns the plan for a situation: the existing one if it is still valid.
    private mutating func plan(for situation: SelectionSituation, _ belief: LinkBelief) -> PlanTable {
        let key = PlanKey(situation, latency: usualLatency.value ?? expectedLatency)
        if let plan, plan.key.serves(key) { return plan }
        let made = PlanShelf.plan(key, ladder: situation.ladder, model: belief.model, weights: options.weights)
        plan = made
        return made
    }
}

// MARK: - Choosing

extension BalancedSelector {
    /// Returns the allowed rung with the highest value.
    private func best(_ situation: SelectionSituation, _ plan: PlanTable, _ belief: LinkBelief) -> Int {
        let level = plan.level(situation.bufferSeconds)
        let current = situation.currentRung.map { plan.quality($0, of: situation.ladder) }
        // With slightly less than the expected throughput, the buffer level stays constant; no bytes arrive during
        // latency.
        let flowing = max(0, 1 - plan.key.latency / situation.segmentSeconds)
        let carried = 0.9 * belief.quantile(0.5) * flowing
        var best = 0
        var greatest = -Double.infinity
        for index in 0..<plan.rungs {
            let rung = plan.key.rungs[index]
            var worth = plan.quality[index]
            if let bits = situation.knownBits(of: rung) {
                let transfer = PlanTable.Transfer(
                    rung: index,
                    bits: bits,
                    latency: expectedLatency,
                    isSizeKnown: true,
                    mayBeAbandoned: true
                )
                // A large segment is followed by smaller ones; using the full size of each would only cause switches.
                worth += 0.5 * plan.worth(of: transfer, belief, buffer: situation.bufferSeconds)
                worth += 0.5 * plan.worth(ofTypical: index, belief, at: level)
            } else {
                worth += plan.worth(ofTypical: index, belief, at: level)
            }
            if let current {
                var cost = plan.weights.change * abs(plan.quality[index] - current)
                let isBorrowed = situation.ladder.bitsPerSecond(of: rung) * situation.playbackRate > carried
                if isBorrowed, plan.quality[index] > current { cost *= 1 + history.weariness }
                worth -= cost
            }
            if rung != situation.currentRung { worth -= options.boundedLeastGain }
            if worth > greatest { (best, greatest) = (index, worth) }
        }
        return plan.key.rungs[best]
    }

    /// Returns the highest allowed rung with a segment that loads within the startup duration.
    private func start(_ situation: SelectionSituation, _ belief: LinkBelief) -> Int {
        var rate = belief.quantile(0.25)
        // The distribution ends slightly above the ladder: enough for playback, but not for the fastest startup.
        if belief.quantile(0.5) > belief.model.rates[belief.model.count - 1] / 2 {
            rate = max(rate, 0.7 * (recentRate ?? 0))
        }
        let bits = rate * (options.startupSeconds - expectedLatency)
        return situation.openRungs.last { situation.expectedBits(of: $0) <= bits } ?? lowestRung(situation)
    }

    /// Returns the lower rung that is most valuable compared with the rest of a transfer, or `nil` to wait.
    private func alternative(
        to transfer: TransferInFlight,
        _ situation: SelectionSituation,
        _ plan: PlanTable,
        _ belief: LinkBelief
    ) -> Int? {
        let lower = plan.key.rungs.indices.filter { plan.key.rungs[$0] < transfer.rung }
        guard !lower.isEmpty, situation.ladder.rungs.indices.contains(transfer.rung) else { return nil }
        let whole = transfer.expectedSize.map { Double($0.bytes) * 8 } ?? situation.expectedBits(of: transfer.rung)
        let rest = max(0, whole - transfer.bitsReceived)
        let buffer = situation.bufferSeconds
        let own = plan.quality(transfer.rung, of: situation.ladder)
        let current = situation.currentRung.map { plan.quality($0, of: situation.ladder) } ?? own
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
            own - plan.weights.change * abs(own - current) + plan.worth(of: waiting, belief, buffer: buffer)
            + options.boundedLeastGainOfAbandonment
        var choice: Int?
        for index in lower {
            let rung = plan.key.rungs[index]
            let bits = situation.expectedBits(of: rung)
            guard bits < rest else { continue }
            let other = PlanTable.Transfer(
                rung: index,
                bits: bits,
                latency: expectedLatency,
                isSizeKnown: situation.knownBits(of: rung) != nil,
                mayBeAbandoned: false
            )
            let worth =
                plan.quality[index] - plan.weights.change * abs(plan.quality[index] - current)
                + plan.worth(of: other, belief, buffer: buffer)
            if worth > greatest { (choice, greatest) = (rung, worth) }
        }
        return choice
    }

    /// The expected time from a request to its first byte, in seconds.
    private var expectedLatency: Double { latency.value ?? 0.1 }

    private func lowestRung(_ situation: SelectionSituation) -> Int { situation.openRungs.first ?? 0 }

    private func lowest(_ situation: SelectionSituation) -> SwitchDecision {
        SwitchDecision(
            rung: lowestRung(situation),
            cause: .start,
            evidence: .init(bufferLevel: situation.bufferLevel)
        )
    }

    private func decision(
        _ rung: Int,
        _ cause: SwitchDecision.Cause,
        _ situation: SelectionSituation,
        _ belief: LinkBelief
    ) -> SwitchDecision {
        guard hasMeasured || initialEstimate != nil else { return lowest(situation) }
        let expected = belief.quantile(0.5)
        let bits = situation.expectedBits(of: rung)
        let buffer = situation.bufferSeconds
        let left = max(0, buffer - expectedLatency - bits / expected) + situation.segmentSeconds
        let evidence = SwitchDecision.Evidence(
            throughput: BitRate(bitsPerSecond: Int64(saturating: expected)),
            cautiousThroughput: BitRate(bitsPerSecond: Int64(saturating: belief.quantile(0.1))),
            bufferLevel: situation.bufferLevel,
            predictedBufferLevel: .seconds(min(left * situation.playbackRate, 1e9)),
            stallProbability: belief.probability(below: bits / max(0.001, buffer - expectedLatency))
        )
        return SwitchDecision(rung: rung, cause: cause, evidence: evidence)
    }
}

extension LinkModel {
    /// Returns a part of a transfer as input of the oscillation detector.
    fileprivate func piece(_ bitsPerSecond: Double, seconds: Double, end: Duration) -> LinkRhythm.Piece {
        LinkRhythm.Piece(
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
