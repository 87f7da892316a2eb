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

    /// Buffer levels: dense where it is nearly empty, where a second makes a difference.
    static let levels = 14
    /// Enough rounds that the rest no longer changes a choice.
    static let rounds = 30
    /// What a request costs before the first byte, in seconds.
    static let latency = 0.05
    /// How far sizes of segments of one rung differ, in octaves: a standard deviation.
    static let sizeSpread = 0.18
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
    /// Seconds: the levels at which a request can be sent.
    private let buffers: [Double]
    /// Worth of a state after a rung was chosen, by temper, rate, rung and level.
    private var values: [Double]
    /// Worth of a choice while the link works, its quality left out, in the same order.
    private var workingWorth: [Double]
    /// Worth of a choice in an outage.
    private var outageWorth: [Double]

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
        bits = rates.map { $0 * key.segment }
        let room = max(key.capacity - key.segment, key.segment / 2)
        buffers = (0..<Self.levels).map { level in
            let share = Double(level) / Double(Self.levels - 1)
            return room * share * share
        }
        let size = model.tempers * model.count * key.rungs.count * Self.levels
        values = Array(repeating: 0, count: size)
        workingWorth = values
        outageWorth = values
        solve()
    }

    var rungs: Int { key.rungs.count }

    /// Where the entries of a temper, rate and rung begin.
    private func offset(_ temper: Int, _ rate: Int, _ rung: Int) -> Int {
        ((temper * model.count + rate) * rungs + rung) * Self.levels
    }

    /// A level between two of the grid.
    struct Level {
        let index: Int
        let fraction: Double

        /// The value of a row that begins at `offset`.
        func value(in row: [Double], at offset: Int) -> Double {
            let low = row[offset + index]
            return low + fraction * (row[offset + index + 1] - low)
        }
    }

    /// Where a buffer level lies.
    func level(_ seconds: Double) -> Level {
        let room = buffers[Self.levels - 1]
        let bounded = min(max(0, seconds), room)
        let index = min(Int((bounded / room).squareRoot() * Double(Self.levels - 1)), Self.levels - 2)
        let low = buffers[index]
        return Level(index: index, fraction: (bounded - low) / (buffers[index + 1] - low))
    }

    /// The least time after which a transfer that would come too late is given up in the plan.
    private func patience(_ buffer: Double) -> Double { 0.5 * key.segment + 0.4 * buffer }
}

// MARK: - What choices are worth

extension PlanTable {
    /// What is expected of a transfer that begins or goes on at a moment, without its quality.
    ///
    /// - Parameters:
    ///   - rung: Index into the plan's rungs.
    ///   - belief: What is thought of the link.
    ///   - level: The buffer.
    /// - Returns: What it is worth.
    func worth(ofTypical rung: Int, _ belief: LinkBelief, at level: Level) -> Double {
        var sum = 0.0
        for temper in 0..<model.tempers {
            for rate in 0..<model.count {
                let offset = offset(temper, rate, rung)
                let working = belief.working[temper][rate]
                if working > 1e-5 { sum += working * level.value(in: workingWorth, at: offset) }
                let outage = belief.inOutage[temper][rate]
                if outage > 1e-5 { sum += outage * level.value(in: outageWorth, at: offset) }
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
    /// - Returns: What it is worth.
    func worth(of transfer: Transfer, _ belief: LinkBelief, buffer: Double) -> Double {
        var sum = 0.0
        for temper in 0..<model.tempers {
            let noise = LinkModel.tempers[temper].noise
            let spread = transfer.isSizeKnown ? noise : (noise * noise + Self.sizeSpread * Self.sizeSpread).squareRoot()
            let factors = Self.noisePoints.map { powerOfTwo(-$0 * spread) }
            for rate in 0..<model.count {
                let offset = offset(temper, rate, transfer.rung)
                let flow = transfer.bits / model.rates[rate]
                let working = belief.working[temper][rate]
                if working > 1e-4 {
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
                        let later = arrival.level.value(in: values, at: offset)
                        sum +=
                            working * Self.noiseWeights[point]
                            * (weights.foresight * later - weights.stall * arrival.stall - loss)
                    }
                }
                let outage = belief.inOutage[temper][rate]
                guard outage > 1e-4 else { continue }
                for point in Self.outagePoints.indices {
                    let time = transfer.latency + flow + Self.outagePoints[point] * LinkModel.outageSeconds
                    let arrival = arrival(after: time, buffer: buffer)
                    let later = arrival.level.value(in: values, at: offset)
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
    /// Where transfers lead, reckoned once for all rounds: by rate, point, rung and level.
    private struct Outcomes {
        var index: [Int] = []
        var fraction: [Double] = []
        /// What is lost on the way, in quality.
        var cost: [Double] = []

        mutating func append(_ level: Level, cost: Double) {
            index.append(level.index)
            fraction.append(level.fraction)
            self.cost.append(cost)
        }
    }

    private mutating func solve() {
        let outages = outageOutcomes()
        for temper in 0..<model.tempers { solve(temper, outages) }
    }

    /// Where transfers lead while the link works.
    private func workingOutcomes(_ temper: Int) -> Outcomes {
        var outcomes = Outcomes()
        let noise = LinkModel.tempers[temper].noise
        let spread = (noise * noise + Self.sizeSpread * Self.sizeSpread).squareRoot()
        let factors = Self.noisePoints.map { powerOfTwo(-$0 * spread) }
        for rate in 0..<model.count {
            for rung in 0..<rungs {
                for factor in factors {
                    let time = Self.latency + bits[rung] / model.rates[rate] * factor
                    let least = Self.latency + bits[0] / model.rates[rate] * factor
                    for buffer in buffers {
                        let escape = patience(buffer) + least
                        let gaveUp = rung > 0 && time > escape
                        let arrival = arrival(after: gaveUp ? escape : time, buffer: buffer)
                        let loss = gaveUp ? (1 + weights.change) * (quality[rung] - quality[0]) : 0
                        outcomes.append(arrival.level, cost: weights.stall * arrival.stall + loss)
                    }
                }
            }
        }
        return outcomes
    }

    /// Where transfers lead that meet an outage.
    private func outageOutcomes() -> Outcomes {
        var outcomes = Outcomes()
        for rate in 0..<model.count {
            for rung in 0..<rungs {
                for point in Self.outagePoints {
                    let time = Self.latency + bits[rung] / model.rates[rate] + point * LinkModel.outageSeconds
                    for buffer in buffers {
                        let arrival = arrival(after: time, buffer: buffer)
                        outcomes.append(arrival.level, cost: weights.stall * arrival.stall)
                    }
                }
            }
        }
        return outcomes
    }

    /// Iterates for one temper.
    private mutating func solve(_ temper: Int, _ outages: Outcomes) {
        let outcomes = workingOutcomes(temper)
        let rowSize = rungs * Self.levels
        let size = model.count * rowSize
        let base = temper * size
        var value = Array(repeating: 0.0, count: size)
        var working = value
        var outage = value
        var mixed = value
        var jump = Array(repeating: 0.0, count: rowSize)
        var choice = jump
        let beginning = LinkModel.tempers[temper].outageProbability
        let drift = model.drifts[temper]
        for _ in 0..<Self.rounds {
            expect(outcomes, Self.noiseWeights, value, into: &working)
            expect(outages, Self.outageWeights, value, into: &outage)
            for rung in 0..<jump.count { jump[rung] = 0 }
            for rate in 0..<model.count {
                let target = model.jumpTargets[rate] * LinkModel.jumpProbability
                for entry in 0..<rowSize {
                    let index = rate * rowSize + entry
                    let either = working[index] + beginning * (outage[index] - working[index])
                    mixed[index] = either
                    jump[entry] += target * either
                }
            }
            for rate in 0..<model.count {
                for entry in 0..<rowSize { choice[entry] = jump[entry] + quality[entry / Self.levels] }
                for step in drift.indices {
                    let from = min(max(rate + step - drift.count / 2, 0), model.count - 1) * rowSize
                    let weight = drift[step] * (1 - LinkModel.jumpProbability)
                    for entry in 0..<rowSize { choice[entry] += weight * mixed[from + entry] }
                }
                choose(choice, into: &value, at: rate * rowSize)
            }
        }
        for index in 0..<size {
            values[base + index] = value[index]
            workingWorth[base + index] = working[index]
            outageWorth[base + index] = outage[index]
        }
    }

    /// What is expected after each choice, over the points of noise or outage.
    private func expect(_ outcomes: Outcomes, _ points: [Double], _ value: [Double], into result: inout [Double]) {
        var outcome = 0
        var row = 0
        while row < result.count {
            for level in 0..<Self.levels { result[row + level] = 0 }
            for point in points {
                for level in 0..<Self.levels {
                    let low = row + outcomes.index[outcome]
                    let later = value[low] + outcomes.fraction[outcome] * (value[low + 1] - value[low])
                    result[row + level] += point * (weights.foresight * later - outcomes.cost[outcome])
                    outcome += 1
                }
            }
            row += Self.levels
        }
    }

    /// The best choice after each rung, switches paid for.
    ///
    /// The cost of a switch is in proportion to its height, so one walk upwards and one downwards find the best.
    private func choose(_ choice: [Double], into value: inout [Double], at offset: Int) {
        for level in 0..<Self.levels {
            var best = -Double.infinity
            for rung in 0..<rungs {
                if rung > 0 { best -= weights.change * (quality[rung] - quality[rung - 1]) }
                best = max(best, choice[rung * Self.levels + level])
                value[offset + rung * Self.levels + level] = best
            }
            best = -.infinity
            for rung in (0..<rungs).reversed() {
                if rung < rungs - 1 { best -= weights.change * (quality[rung + 1] - quality[rung]) }
                let index = offset + rung * Self.levels + level
                best = max(best, choice[rung * Self.levels + level])
                value[index] = max(value[index], best)
            }
        }
    }
}
