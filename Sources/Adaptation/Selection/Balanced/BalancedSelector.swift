public import MediaTiming

/// The selector for viewers: it plans ahead, and weighs picture quality, stalls and switches against each other.
///
/// It keeps a belief of what the link can do, as probabilities, and not a single estimate. So it knows how
/// much it does not know: on a steady link it dares more than on a noisy one, and it keeps a reserve on a link that
/// broke off before. For each rung it reckons what the choice is worth in the long run with this belief and this
/// buffer, and takes the best. A transfer is given up when another rung has become worth more.
///
/// A link that turns from fast to slow and back about once a segment cannot be followed; there it plans with the mean.
///
/// It needs no sizes of coming segments; where the next one's are known, they are used. It is free of scale: only the
/// proportions of bit rates, durations and throughput matter.
///
/// The first decision that something plays with on a ladder, and one after its open rungs, the segment duration, the
/// buffer capacity or the latency changed much, makes a new plan, which takes some milliseconds. Selectors with the same
/// task share it.
public struct BalancedSelector: VariantSelector {
    /// What it weighs, and how.
    public let options: Options
    /// What was known before the first measurement, in bits a second.
    private let initialEstimate: Double?

    /// What is thought of the link; `nil` before the first situation, which brings the ladder.
    private var belief: LinkBelief?
    private var ladder: Ladder?
    private var plan: PlanTable?
    private var rhythm = LinkRhythm()
    /// Measurements from before the first situation.
    private var early: [SegmentMeasurement] = []
    private var hasMeasured = false
    /// The last rate that a large transfer had, or what was known before, in bits a second.
    private var recentRate: Double?
    /// Seconds, newest first in weight.
    private var latency = FadingAverage(halfLife: 2)
    /// Seconds over a longer time, so that the plan does not change with each answer.
    private var usualLatency = FadingAverage(halfLife: 8)
    /// What of the running transfer has been taken into account.
    private var piece = TransferPiece()
    /// The rung that an abandoned segment was promised.
    private var promised: Int?
    private var history = SwitchHistory()

    /// Makes a selector that has seen nothing.
    ///
    /// - Parameters:
    ///   - initialEstimate: What is known of the network from an earlier time (``ThroughputMemory``), if anything; without
    ///     it, the first segment is one of the lowest rung.
    ///   - options: What it weighs, and how.
    public init(initialEstimate: BitRate? = nil, options: Options = Options()) {
        self.initialEstimate = initialEstimate.map { Double($0.bitsPerSecond) }
        self.options = options
        recentRate = self.initialEstimate
    }

    /// Takes a finished or abandoned transfer into account.
    public mutating func add(_ measurement: SegmentMeasurement) {
        defer { piece = TransferPiece() }
        if !measurement.isAbandoned { promised = nil }
        guard !measurement.isCached else { return }
        guard belief != nil else {
            // A player may load a segment before it asks; more than a few are not waited for.
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

    /// Says whether a transfer is worth waiting for.
    public mutating func review(
        _ transfer: TransferInFlight,
        in situation: SelectionSituation
    ) -> TransferVerdict {
        // A request that waits much longer than others is a link on which nothing comes.
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

    /// Forgets what belonged to the old place.
    public mutating func seeked() {
        piece = TransferPiece()
        promised = nil
    }

    /// What throughput to expect, as likely to be exceeded as not; `nil` while nothing is known.
    public var expectedThroughput: BitRate? {
        guard let belief, hasMeasured || initialEstimate != nil else { return nil }
        return BitRate(bitsPerSecond: Int64(saturating: belief.quantile(0.5)))
    }
}

// MARK: - Learning

extension BalancedSelector {
    /// Fewer bytes than this tell about the sender's start rather than the link (as in ``ThroughputEstimator``).
    private static let fullTrustBits = 65_536.0 * 8
    /// A transfer that is trusted less than this could look slow for its smallness, and so like a turn of the link.
    private static let trustOfRhythm = 0.5
    /// A shorter rest of a transfer is left out, as its pieces have told of it.
    private static let shortestRest = 0.3
    /// How exactly the mean of a link that turns fast is known, in octaves: a standard deviation.
    private static let spreadOfMean = 0.3
    /// A shorter transfer came all at once: one sees how fast a process reads, not how fast the network sent.
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

    /// What to plan with: the belief, or the link's mean where it turns too fast to be followed.
    private func averaged(_ belief: LinkBelief, _ situation: SelectionSituation) -> LinkBelief {
        let share = rhythm.weightOfMean(segment: situation.segmentSeconds)
        guard share > 0, let mean = rhythm.meanRate else { return belief }
        return belief.mixed(share, around: mean, octaves: Self.spreadOfMean)
    }

    /// How much a transfer tells: little if it was small, unless it was slow.
    private func trust(_ bits: Double, _ flow: Double) -> Double {
        min(1, max(bits / Self.fullTrustBits, flow / options.pieceSeconds))
    }

    /// Makes the belief for a situation's ladder, if the one at hand is for another.
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

    /// The plan for a situation: the one at hand, if it serves.
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
    /// The open rung with the greatest worth.
    private func best(_ situation: SelectionSituation, _ plan: PlanTable, _ belief: LinkBelief) -> Int {
        let level = plan.level(situation.bufferSeconds)
        let current = situation.currentRung.map { plan.quality($0, of: situation.ladder) }
        // With a little less than is expected, the buffer neither grows nor shrinks; nothing comes while requests wait.
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
                // A large segment is followed by smaller ones: to follow each size in full makes for switches only.
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
            if rung != situation.currentRung { worth -= options.leastGain }
            if worth > greatest { (best, greatest) = (index, worth) }
        }
        return plan.key.rungs[best]
    }

    /// The highest open rung of which a segment comes soon enough for a start.
    private func start(_ situation: SelectionSituation, _ belief: LinkBelief) -> Int {
        var rate = belief.quantile(0.25)
        // The belief ends a little above the ladder, which is enough to play, but not to start at once.
        if belief.quantile(0.5) > belief.model.rates[belief.model.count - 1] / 2 {
            rate = max(rate, 0.7 * (recentRate ?? 0))
        }
        let bits = rate * (options.startupSeconds - expectedLatency)
        return situation.openRungs.last { situation.expectedBits(of: $0) <= bits } ?? lowestRung(situation)
    }

    /// A lower rung that is worth more than the rest of a transfer.
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
        // The plan may have thinned the running rung out; the nearest one stands for what comes after.
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
            + options.leastGainOfAbandonment
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

    /// Seconds until a request's first byte.
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
    /// A piece of a transfer, as the rhythm takes it.
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
    /// The quality of any rung of the ladder, on the plan's scale.
    func quality(_ rung: Int, of ladder: Ladder) -> Double {
        ladder.bitsPerSecond(of: rung) / ladder.bitsPerSecond(of: key.rungs[key.rungs.count - 1])
    }
}
