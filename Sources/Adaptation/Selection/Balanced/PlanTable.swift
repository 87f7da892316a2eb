import MediaTiming

/// What each choice is worth in the long run, for every state of link and buffer: a plan for all that may come.
///
/// Found by value iteration: the worth of a state is the best choice's reward now plus what the states that follow are
/// worth, a little less for each step. The reward is the quality shown, less what a stall and a switch cost (the
/// measure `QoE_lin` of Yin et al., SIGCOMM 2015), with the highest rung as 1; so the plan does not depend on the scale
/// of the ladder. Rates move as a ``LinkModel`` says.
struct PlanTable: Sendable {
    /// What the plan aims at.
    struct Weights: Sendable, Hashable {
        /// What a second of stall costs, in segments of the highest quality.
        var stall: Double
        /// What a switch costs, in its difference of quality.
        var change: Double
        /// What the next segment counts beside this one.
        var foresight: Double
    }

    /// Worths at all buffer levels.
    typealias Row = SIMD16<Float>

    /// Buffer levels: dense where it is nearly empty, where a second makes a difference.
    static let levels = Row.scalarCount
    /// The number of the highest level.
    private static let lastStep = Double(levels - 1)
    /// The numbers of the levels.
    private static let steps = Row(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    /// Enough rounds that the rest no longer changes a choice.
    static let rounds = 30
    /// The same where the worth for another temper is at hand to begin with.
    static let furtherRounds = 14
    /// How far sizes of segments of one rung differ, in octaves: a standard deviation.
    static let sizeSpread = 0.18
    /// In the plan, a transfer is given up after this share of a segment, and some of the buffer.
    static let patienceOfSegment = 0.65
    /// The share of the buffer after which, on top of that, a transfer is given up.
    static let patienceOfBuffer = 0.4
    /// Noise is reckoned at three points, in standard deviations.
    static let noisePoints = [-1.25, 0, 1.25]
    /// Their probabilities.
    static let noiseWeights = [0.3, 0.4, 0.3]
    /// How long an outage still lasts, as shares of its mean time.
    static let outagePoints = [0.15, 0.7, 2.2]
    /// Their probabilities.
    static let outageWeights = [0.33, 0.34, 0.33]

    let key: PlanKey
    let model: LinkModel
    let weights: Weights
    /// Quality of the rungs, 0 to 1.
    let quality: [Double]
    /// Bits of a segment of the rungs.
    private let bits: [Double]
    /// Seconds: the highest level at which a request can be sent.
    private let room: Double
    /// Seconds: the levels at which a request can be sent, from zero to ``room``.
    private let buffers: Row
    /// Worth of a state after a rung was chosen, by temper, rate and rung.
    private var values: [Row]
    /// Worth of a choice while the link works, its quality left out, in the same order.
    private var workingWorth: [Row]
    /// Worth of a choice in an outage.
    private var outageWorth: [Row]

    /// Makes the plan.
    ///
    /// - Complexity: some milliseconds for ten rungs.
    init(_ key: PlanKey, ladder: Ladder, model: LinkModel, weights: Weights) {
        self.key = key
        self.model = model
        self.weights = weights
        let rates = key.rungs.map(ladder.bitsPerSecond)
        let top = rates[rates.count - 1]
        quality = rates.map { $0 / top }
        bits = rates.map { $0 * key.segment * key.rate }
        let room = max(key.capacity - key.segment, key.segment / 2)
        self.room = room
        buffers = Self.steps * Self.steps * Float(room / Self.lastStep / Self.lastStep)
        let size = model.tempers * model.count * key.rungs.count
        values = Array(repeating: .zero, count: size)
        workingWorth = values
        outageWorth = values
        solve()
    }

    var rungs: Int { key.rungs.count }

    /// Where the row of a temper, rate and rung is.
    private func row(_ temper: Int, _ rate: Int, _ rung: Int) -> Int {
        (temper * model.count + rate) * rungs + rung
    }

    /// A level between two of the grid.
    struct Level {
        let index: Int
        let fraction: Double

        /// The value of a row.
        func value(in row: Row) -> Double {
            let low = Double(row[index])
            return low + fraction * (Double(row[index + 1]) - low)
        }
    }

    /// Where a buffer level lies.
    func level(_ seconds: Double) -> Level {
        // Levels lie as the squares of their numbers.
        let square = min(max(0, seconds), room) / room * Self.lastStep * Self.lastStep
        let index = min(Int(saturating: square.squareRoot()), Self.levels - 2)
        return Level(index: index, fraction: (square - Double(index * index)) / Double(2 * index + 1))
    }

    /// The least time after which a transfer that would come too late is given up in the plan.
    private func patience(_ buffer: Double) -> Double {
        Self.patienceOfSegment * key.segment + Self.patienceOfBuffer * buffer
    }
}

// MARK: - What choices are worth

extension PlanTable {
    /// What is expected of a transfer that begins or goes on at a moment, without its quality.
    ///
    /// - Parameters:
    ///   - rung: Index into the plan's rungs.
    ///   - belief: What is thought of the link.
    ///   - level: The buffer.
    /// - Returns: The worth, in segments of the highest quality.
    func worth(ofTypical rung: Int, _ belief: LinkBelief, at level: Level) -> Double {
        var sum = 0.0
        for temper in 0..<model.tempers {
            for rate in 0..<model.count {
                let row = row(temper, rate, rung)
                let working = belief.working[temper * model.count + rate]
                if working > 1e-5 { sum += working * level.value(in: workingWorth[row]) }
                let outage = belief.inOutage[temper * model.count + rate]
                if outage > 1e-5 { sum += outage * level.value(in: outageWorth[row]) }
            }
        }
        return sum
    }

    /// One transfer, as far as its worth goes.
    struct Transfer {
        /// Index into the plan's rungs.
        let rung: Int
        /// What has still to come.
        let bits: Double
        /// Seconds until it begins to come.
        let latency: Double
        /// Whether `bits` is the size that was told, not one that is expected.
        let isSizeKnown: Bool
        /// Whether it may be given up for the lowest rung, should it come too late.
        let mayBeAbandoned: Bool
    }

    /// What is expected of a transfer of any size, without its quality.
    ///
    /// - Parameters:
    ///   - transfer: The transfer.
    ///   - belief: What is thought of the link.
    ///   - buffer: Seconds in the buffer.
    /// - Returns: The worth, in segments of the highest quality.
    func worth(of transfer: Transfer, _ belief: LinkBelief, buffer: Double) -> Double {
        var sum = 0.0
        for temper in 0..<model.tempers {
            let noise = LinkModel.tempers[temper].noise
            let spread = transfer.isSizeKnown ? noise : (noise * noise + Self.sizeSpread * Self.sizeSpread).squareRoot()
            let factors = Self.noisePoints.map { powerOfTwo(-$0 * spread) }
            for rate in 0..<model.count {
                let row = row(temper, rate, transfer.rung)
                let flow = transfer.bits / model.rates[rate]
                let working = belief.working[temper * model.count + rate]
                if working > 3e-4 {
                    for point in factors.indices {
                        var time = transfer.latency + flow * factors[point]
                        var loss = 0.0
                        if transfer.mayBeAbandoned, transfer.rung > 0 {
                            let escape =
                                patience(buffer) + transfer.latency + bits[0] / model.rates[rate] * factors[point]
                            if time > escape {
                                time = escape
                                loss = (1 + weights.change) * (quality[transfer.rung] - quality[0])
                            }
                        }
                        let arrival = arrival(after: time, buffer: buffer)
                        let later = arrival.level.value(in: values[row])
                        sum +=
                            working * Self.noiseWeights[point]
                            * (weights.foresight * later - weights.stall * arrival.stall - loss)
                    }
                }
                let outage = belief.inOutage[temper * model.count + rate]
                guard outage > 3e-4 else { continue }
                for point in Self.outagePoints.indices {
                    let time = transfer.latency + flow + Self.outagePoints[point] * LinkModel.outageSeconds
                    let arrival = arrival(after: time, buffer: buffer)
                    let later = arrival.level.value(in: values[row])
                    sum +=
                        outage * Self.outageWeights[point]
                        * (weights.foresight * later - weights.stall * arrival.stall)
                }
            }
        }
        return sum
    }

    /// The buffer when a segment has come, and how long nothing played.
    private func arrival(after seconds: Double, buffer: Double) -> (level: Level, stall: Double) {
        let left = max(0, buffer - seconds)
        return (level(left + key.segment), max(0, seconds - buffer))
    }
}

// MARK: - Value iteration

extension PlanTable {
    /// Where transfers lead, by rate and rung, from each level.
    private struct Outcomes {
        /// What is lost on the way, in quality.
        var cost: [Row]
        /// By rate, rung and level that is reached: how likely that is, less what comes later counts for.
        var shares: [Row]

        init(count: Int) {
            cost = Array(repeating: .zero, count: count)
            shares = Array(repeating: .zero, count: count * PlanTable.levels)
        }

        /// Adds transfers that take so long, and lose so much quality.
        mutating func add(_ share: Double, at index: Int, seconds: Row, loss: Row, in plan: PlanTable) {
            let room = Float(plan.room)
            let left = plan.buffers - seconds
            let reached = positive(left) + Float(plan.key.segment)
            let last = Float(PlanTable.lastStep)
            let square = reached.replacing(with: room, where: reached .> room) * (last * last / room)
            let step = square.squareRoot().rounded(.down)
            let position = step + (square - step * step) / (step + step + 1)
            cost[index] += (positive(-left) * Float(plan.weights.stall) + loss) * Float(share)
            let weight = Float(share * plan.weights.foresight)
            for level in 0..<PlanTable.levels {
                // What lies between two levels counts for both, in proportion to how near it is.
                let distance = position - Float(level)
                let nearness = positive(lesser(1 - distance, 1 + distance))
                shares[index * PlanTable.levels + level] += nearness * weight
            }
        }

        /// A mixture with others, which have this share.
        func mixed(_ share: Float, of others: Outcomes) -> Outcomes {
            var result = self
            for index in cost.indices { result.cost[index] += (others.cost[index] - cost[index]) * share }
            for index in shares.indices { result.shares[index] += (others.shares[index] - shares[index]) * share }
            return result
        }

        /// What a choice is worth, when this is what the levels are worth afterwards.
        func worth(_ index: Int, _ later: Row) -> Row {
            var sum = -cost[index]
            let first = index * PlanTable.levels
            for level in 0..<PlanTable.levels { sum += shares[first + level] * later[level] }
            return sum
        }
    }

    private mutating func solve() {
        let outages = outageOutcomes()
        var value = Array(repeating: Row.zero, count: model.count * rungs)
        for temper in 0..<model.tempers {
            solve(temper, outages, &value, rounds: temper == 0 ? Self.rounds : Self.furtherRounds)
        }
    }

    /// Where transfers lead while the link works, by rate and rung.
    private func workingOutcomes(_ temper: Int) -> Outcomes {
        let noise = LinkModel.tempers[temper].noise
        let spread = (noise * noise + Self.sizeSpread * Self.sizeSpread).squareRoot()
        let factors = Self.noisePoints.map { powerOfTwo(-$0 * spread) }
        var outcomes = Outcomes(count: model.count * rungs)
        for index in 0..<(model.count * rungs) {
            let (rate, rung) = index.quotientAndRemainder(dividingBy: rungs)
            let loss = Row(repeating: Float((1 + weights.change) * (quality[rung] - quality[0])))
            for (point, factor) in factors.enumerated() {
                let time = Row(repeating: Float(key.latency + bits[rung] / model.rates[rate] * factor))
                let least = Float(key.latency + bits[0] / model.rates[rate] * factor)
                let escape = buffers * Float(Self.patienceOfBuffer) + (least + Float(patience(0)))
                let givesUp = rung > 0 ? time .> escape : SIMDMask(repeating: false)
                outcomes.add(
                    Self.noiseWeights[point],
                    at: index,
                    seconds: time.replacing(with: escape, where: givesUp),
                    loss: Row.zero.replacing(with: loss, where: givesUp),
                    in: self
                )
            }
        }
        return outcomes
    }

    /// Where transfers lead that meet an outage, by rate and rung.
    private func outageOutcomes() -> Outcomes {
        var outcomes = Outcomes(count: model.count * rungs)
        for index in 0..<(model.count * rungs) {
            let (rate, rung) = index.quotientAndRemainder(dividingBy: rungs)
            for (point, share) in Self.outageWeights.enumerated() {
                let outage = Self.outagePoints[point] * LinkModel.outageSeconds
                let time = key.latency + bits[rung] / model.rates[rate] + outage
                outcomes.add(share, at: index, seconds: Row(repeating: Float(time)), loss: .zero, in: self)
            }
        }
        return outcomes
    }

    /// Iterates for one temper, from the worth in `value` to a better one.
    private mutating func solve(_ temper: Int, _ outages: Outcomes, _ value: inout [Row], rounds: Int) {
        let working = workingOutcomes(temper)
        let beginning = Float(LinkModel.tempers[temper].outageProbability)
        let either = working.mixed(beginning, of: outages)
        let drift = model.drifts[temper].map { Float($0 * (1 - LinkModel.jumpProbability)) }
        var worths = value
        var jump = Array(repeating: Row.zero, count: rungs)
        var choice = jump
        for round in 0..<rounds {
            if round == rounds - 1 {
                for index in value.indices {
                    workingWorth[temper * value.count + index] = working.worth(index, value[index])
                    outageWorth[temper * value.count + index] = outages.worth(index, value[index])
                }
            }
            for rung in 0..<rungs { jump[rung] = Row(repeating: Float(quality[rung])) }
            for rate in 0..<model.count {
                let target = Float(model.jumpTargets[rate] * LinkModel.jumpProbability)
                for rung in 0..<rungs {
                    let index = rate * rungs + rung
                    worths[index] = either.worth(index, value[index])
                    jump[rung] += worths[index] * target
                }
            }
            for rate in 0..<model.count {
                for rung in 0..<rungs { choice[rung] = jump[rung] }
                for step in drift.indices {
                    let from = min(max(rate + step - drift.count / 2, 0), model.count - 1) * rungs
                    for rung in 0..<rungs { choice[rung] += worths[from + rung] * drift[step] }
                }
                choose(choice, into: &value, at: rate * rungs)
            }
        }
        for index in value.indices { values[temper * value.count + index] = value[index] }
    }

    /// The best choice after each rung, switches paid for.
    ///
    /// The cost of a switch is in proportion to its height, so one walk upwards and one downwards find the best.
    private func choose(_ choice: [Row], into value: inout [Row], at offset: Int) {
        var best = choice[0]
        value[offset] = best
        for rung in 1..<max(1, rungs) {
            best = greater(best - Float(weights.change * (quality[rung] - quality[rung - 1])), choice[rung])
            value[offset + rung] = best
        }
        best = choice[rungs - 1]
        for rung in (0..<max(0, rungs - 1)).reversed() {
            best = greater(best - Float(weights.change * (quality[rung + 1] - quality[rung])), choice[rung])
            value[offset + rung] = greater(value[offset + rung], best)
        }
    }
}

/// The greater one, level by level.
private func greater(_ first: PlanTable.Row, _ second: PlanTable.Row) -> PlanTable.Row {
    first.replacing(with: second, where: second .> first)
}

/// The lesser one, level by level.
private func lesser(_ first: PlanTable.Row, _ second: PlanTable.Row) -> PlanTable.Row {
    first.replacing(with: second, where: second .< first)
}

/// Zero where it is negative.
private func positive(_ row: PlanTable.Row) -> PlanTable.Row { greater(row, .zero) }
