import MediaTiming

/// The long-term value of each choice of a rung in every state of link and buffer.
///
/// The values are computed by value iteration: the value of a state is the reward of the best choice plus the
/// discounted value of the resulting states. The reward is the quality minus the costs of stalls and switches (the
/// measure `QoE_lin` of Yin et al., SIGCOMM 2015). It is in units of the highest rung, so that the plan does not depend
/// on the scale of the ladder. The rates evolve according to a ``RateModel``.
struct PlanTable: Sendable {
    /// The costs and the discount factor of a plan.
    struct Weights: Sendable, Hashable {
        /// The cost of one second of stall, in segments of the highest quality.
        var stallCost: Double
        /// The cost of a switch, as a multiple of the difference in quality.
        var switchCost: Double
        /// The discount factor: the value of the next segment relative to this one.
        var discountFactor: Double
    }

    /// The values of a state at all buffer levels.
    typealias Row = SIMD16<Float>

    /// The number of buffer levels, which are closest to each other near zero, where a second has the greatest effect.
    static let levels = Row.scalarCount
    /// The index of the highest level.
    private static let lastStep = Double(levels - 1)
    /// The indexes of the levels.
    private static let steps = Row(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    /// The number of iterations; further iterations do not change any choice.
    static let iterationCount = 30
    /// The number of iterations that start with the values of another volatility class.
    static let laterIterationCount = 14
    /// The standard deviation of the sizes of segments of the same rung, in octaves.
    static let sizeSpread = 0.18
    /// The part of the time limit of a transfer that depends on the segment duration, as a fraction of it.
    ///
    /// In the plan, a transfer that exceeds the limit is abandoned.
    static let timeLimitPerSegment = 0.65
    /// The part of the time limit of a transfer that depends on the buffer level, as a fraction of it.
    static let timeLimitPerBuffer = 0.4
    /// The points at which the normal distribution of noise is sampled, in standard deviations.
    static let noisePoints = [-1.25, 0, 1.25]
    /// The probabilities of ``noisePoints``.
    static let noiseWeights = [0.3, 0.4, 0.3]
    /// The points at which the remaining duration of an outage is sampled, as multiples of the mean duration.
    static let outagePoints = [0.15, 0.7, 2.2]
    /// The probabilities of ``outagePoints``.
    static let outageWeights = [0.33, 0.34, 0.33]

    let key: PlanKey
    let model: RateModel
    let weights: Weights
    /// The qualities of the rungs, 0 to 1.
    let quality: [Double]
    /// The size of a segment of each rung, in bits.
    private let bits: [Double]
    /// The highest buffer level at which a request can be sent, in seconds.
    private let maximumRequestLevel: Double
    /// The buffer levels of the grid, from zero to ``maximumRequestLevel``, in seconds.
    private let buffers: Row
    /// The value of the state after the choice of a rung, by volatility class, rate and rung.
    private var values: [Row]
    /// The value of a choice while the link works, without the quality itself, in the same order.
    private var workingValues: [Row]
    /// The value of a choice in an outage, without the quality itself, in the same order.
    private var outageValues: [Row]

    /// Creates the plan by computing it.
    ///
    /// - Complexity: Some milliseconds for ten rungs.
    init(_ key: PlanKey, ladder: Ladder, model: RateModel, weights: Weights) {
        self.key = key
        self.model = model
        self.weights = weights
        let rates = key.rungs.map(ladder.bitsPerSecond)
        let top = rates[rates.count - 1]
        quality = rates.map { $0 / top }
        bits = rates.map { $0 * key.segment * key.rate }
        let room = max(key.capacity - key.segment, key.segment / 2)
        self.maximumRequestLevel = room
        buffers = Self.steps * Self.steps * Float(room / Self.lastStep / Self.lastStep)
        let size = model.volatilityCount * model.count * key.rungs.count
        values = Array(repeating: .zero, count: size)
        workingValues = values
        outageValues = values
        solve()
    }

    var rungs: Int { key.rungs.count }

    /// Returns the index of the row for a volatility class, rate and rung.
    private func row(_ volatility: Int, _ rate: Int, _ rung: Int) -> Int {
        (volatility * model.count + rate) * rungs + rung
    }

    /// A buffer level between two levels of the grid.
    struct Level {
        let index: Int
        let fraction: Double

        /// Returns the value of a row at this level, by linear interpolation.
        func value(in row: Row) -> Double {
            let low = Double(row[index])
            return low + fraction * (Double(row[index + 1]) - low)
        }
    }

    /// Returns the position of a buffer level, in seconds, in the grid.
    func level(_ seconds: Double) -> Level {
        // The levels are proportional to the squares of their indexes.
        let square = min(max(0, seconds), maximumRequestLevel) / maximumRequestLevel * Self.lastStep * Self.lastStep
        let index = min(Int(saturating: square.squareRoot()), Self.levels - 2)
        return Level(index: index, fraction: (square - Double(index * index)) / Double(2 * index + 1))
    }

    /// Returns the part of a transfer's time limit that does not depend on the link, in seconds.
    private func baseTimeLimit(bufferSeconds buffer: Double) -> Double {
        Self.timeLimitPerSegment * key.segment + Self.timeLimitPerBuffer * buffer
    }
}

// MARK: - Values of choices

extension PlanTable {
    /// Returns the expected value of the transfer of a segment of typical size, without its quality.
    ///
    /// - Parameters:
    ///   - rung: The index in the rungs of the plan.
    ///   - linkState: The probability distribution of the link's state.
    ///   - level: The buffer level.
    /// - Returns: The value, in segments of the highest quality.
    func value(ofTypicalSegment rung: Int, linkState: LinkStateDistribution, at level: Level) -> Double {
        var sum = 0.0
        for volatility in 0..<model.volatilityCount {
            for rate in 0..<model.count {
                let row = row(volatility, rate, rung)
                let working = linkState.workingProbabilities[volatility * model.count + rate]
                if working > 1e-5 { sum += working * level.value(in: workingValues[row]) }
                let outage = linkState.outageProbabilities[volatility * model.count + rate]
                if outage > 1e-5 { sum += outage * level.value(in: outageValues[row]) }
            }
        }
        return sum
    }

    /// A transfer whose value is computed.
    struct Transfer {
        /// The index in the rungs of the plan.
        let rung: Int
        /// The number of bits still to be received.
        let bits: Double
        /// The time until the next byte, in seconds.
        let latency: Double
        /// A Boolean value that indicates whether `bits` is the actual size, not an expected one.
        let isSizeKnown: Bool
        /// A Boolean value that indicates whether the transfer may be abandoned for the lowest rung if it takes too
        /// long.
        let mayBeAbandoned: Bool
    }

    /// Returns the expected value of a transfer of a given size, without its quality.
    ///
    /// - Parameters:
    ///   - transfer: The transfer.
    ///   - linkState: The probability distribution of the link's state.
    ///   - bufferSeconds: The buffer level in seconds.
    /// - Returns: The value, in segments of the highest quality.
    func value(of transfer: Transfer, linkState: LinkStateDistribution, bufferSeconds: Double) -> Double {
        var sum = 0.0
        for volatility in 0..<model.volatilityCount {
            let noise = RateModel.volatilities[volatility].noise
            let spread = transfer.isSizeKnown ? noise : (noise * noise + Self.sizeSpread * Self.sizeSpread).squareRoot()
            let factors = Self.noisePoints.map { powerOfTwo(-$0 * spread) }
            for rate in 0..<model.count {
                let row = row(volatility, rate, transfer.rung)
                let flow = transfer.bits / model.rates[rate]
                let working = linkState.workingProbabilities[volatility * model.count + rate]
                if working > 3e-4 {
                    for point in factors.indices {
                        var time = transfer.latency + flow * factors[point]
                        var loss = 0.0
                        if transfer.mayBeAbandoned, transfer.rung > 0 {
                            let escape =
                                baseTimeLimit(bufferSeconds: bufferSeconds) + transfer.latency + bits[0]
                                / model.rates[rate] * factors[point]
                            if time > escape {
                                time = escape
                                loss = (1 + weights.switchCost) * (quality[transfer.rung] - quality[0])
                            }
                        }
                        let arrival = arrival(after: time, buffer: bufferSeconds)
                        let later = arrival.level.value(in: values[row])
                        sum +=
                            working * Self.noiseWeights[point]
                            * (weights.discountFactor * later - weights.stallCost * arrival.stall - loss)
                    }
                }
                let outage = linkState.outageProbabilities[volatility * model.count + rate]
                guard outage > 3e-4 else { continue }
                for point in Self.outagePoints.indices {
                    let time = transfer.latency + flow + Self.outagePoints[point] * RateModel.outageSeconds
                    let arrival = arrival(after: time, buffer: bufferSeconds)
                    let later = arrival.level.value(in: values[row])
                    sum +=
                        outage * Self.outageWeights[point]
                        * (weights.discountFactor * later - weights.stallCost * arrival.stall)
                }
            }
        }
        return sum
    }

    /// Returns the buffer level after a transfer, and the duration of the stall in seconds.
    private func arrival(after seconds: Double, buffer: Double) -> (level: Level, stall: Double) {
        let left = max(0, buffer - seconds)
        return (level(left + key.segment), max(0, seconds - buffer))
    }
}

// MARK: - Value iteration

extension PlanTable {
    /// The outcomes of transfers from each buffer level, by rate and rung.
    private struct Outcomes {
        /// The expected cost of stalls and abandoned transfers, in units of quality.
        var cost: [Row]
        /// The discounted probability of each resulting buffer level, by rate, rung and resulting level.
        var shares: [Row]

        init(count: Int) {
            cost = Array(repeating: .zero, count: count)
            shares = Array(repeating: .zero, count: count * PlanTable.levels)
        }

        /// Adds transfers with the given duration and loss of quality.
        mutating func add(_ share: Double, at index: Int, seconds: Row, loss: Row, in plan: PlanTable) {
            let room = Float(plan.maximumRequestLevel)
            let left = plan.buffers - seconds
            let reached = nonnegative(left) + Float(plan.key.segment)
            let last = Float(PlanTable.lastStep)
            let square = reached.replacing(with: room, where: reached .> room) * (last * last / room)
            let step = square.squareRoot().rounded(.down)
            let position = step + (square - step * step) / (step + step + 1)
            cost[index] += (nonnegative(-left) * Float(plan.weights.stallCost) + loss) * Float(share)
            let weight = Float(share * plan.weights.discountFactor)
            for level in 0..<PlanTable.levels {
                // A level between two levels of the grid counts for both, by linear interpolation.
                let distance = position - Float(level)
                let nearness = nonnegative(minimum(1 - distance, 1 + distance))
                shares[index * PlanTable.levels + level] += nearness * weight
            }
        }

        /// Returns a mixture in which the other outcomes have the given probability.
        func mixed(_ share: Float, of others: Outcomes) -> Outcomes {
            var result = self
            for index in cost.indices { result.cost[index] += (others.cost[index] - cost[index]) * share }
            for index in shares.indices { result.shares[index] += (others.shares[index] - shares[index]) * share }
            return result
        }

        /// Returns the value of a choice, given the values of the resulting levels.
        func value(at index: Int, later: Row) -> Row {
            var sum = -cost[index]
            let first = index * PlanTable.levels
            for level in 0..<PlanTable.levels { sum += shares[first + level] * later[level] }
            return sum
        }
    }

    private mutating func solve() {
        let outages = outageOutcomes()
        var value = Array(repeating: Row.zero, count: model.count * rungs)
        for volatility in 0..<model.volatilityCount {
            solve(volatility, outages, &value, rounds: volatility == 0 ? Self.iterationCount : Self.laterIterationCount)
        }
    }

    /// Returns the outcomes while the link works, by rate and rung.
    private func workingOutcomes(_ volatility: Int) -> Outcomes {
        let noise = RateModel.volatilities[volatility].noise
        let spread = (noise * noise + Self.sizeSpread * Self.sizeSpread).squareRoot()
        let factors = Self.noisePoints.map { powerOfTwo(-$0 * spread) }
        var outcomes = Outcomes(count: model.count * rungs)
        for index in 0..<(model.count * rungs) {
            let (rate, rung) = index.quotientAndRemainder(dividingBy: rungs)
            let loss = Row(repeating: Float((1 + weights.switchCost) * (quality[rung] - quality[0])))
            for (point, factor) in factors.enumerated() {
                let time = Row(repeating: Float(key.latency + bits[rung] / model.rates[rate] * factor))
                let least = Float(key.latency + bits[0] / model.rates[rate] * factor)
                let escape = buffers * Float(Self.timeLimitPerBuffer) + (least + Float(baseTimeLimit(bufferSeconds: 0)))
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

    /// Returns the outcomes of transfers during an outage, by rate and rung.
    private func outageOutcomes() -> Outcomes {
        var outcomes = Outcomes(count: model.count * rungs)
        for index in 0..<(model.count * rungs) {
            let (rate, rung) = index.quotientAndRemainder(dividingBy: rungs)
            for (point, share) in Self.outageWeights.enumerated() {
                let outage = Self.outagePoints[point] * RateModel.outageSeconds
                let time = key.latency + bits[rung] / model.rates[rate] + outage
                outcomes.add(share, at: index, seconds: Row(repeating: Float(time)), loss: .zero, in: self)
            }
        }
        return outcomes
    }

    /// Iterates the values of one volatility class, starting with those in `value`.
    private mutating func solve(_ volatility: Int, _ outages: Outcomes, _ value: inout [Row], rounds: Int) {
        let working = workingOutcomes(volatility)
        let beginning = Float(RateModel.volatilities[volatility].outageProbability)
        let either = working.mixed(beginning, of: outages)
        let drift = model.drifts[volatility].map { Float($0 * (1 - RateModel.jumpProbability)) }
        var values = value
        var jump = Array(repeating: Row.zero, count: rungs)
        var choice = jump
        for round in 0..<rounds {
            if round == rounds - 1 {
                for index in value.indices {
                    workingValues[volatility * value.count + index] = working.value(at: index, later: value[index])
                    outageValues[volatility * value.count + index] = outages.value(at: index, later: value[index])
                }
            }
            for rung in 0..<rungs { jump[rung] = Row(repeating: Float(quality[rung])) }
            for rate in 0..<model.count {
                let target = Float(model.jumpTargets[rate] * RateModel.jumpProbability)
                for rung in 0..<rungs {
                    let index = rate * rungs + rung
                    values[index] = either.value(at: index, later: value[index])
                    jump[rung] += values[index] * target
                }
            }
            for rate in 0..<model.count {
                for rung in 0..<rungs { choice[rung] = jump[rung] }
                for step in drift.indices {
                    let from = min(max(rate + step - drift.count / 2, 0), model.count - 1) * rungs
                    for rung in 0..<rungs { choice[rung] += values[from + rung] * drift[step] }
                }
                storeBestChoice(choice, into: &value, at: rate * rungs)
            }
        }
        for index in value.indices { self.values[volatility * value.count + index] = value[index] }
    }

    /// Stores the value of the best choice after each rung, minus the cost of the switch.
    ///
    /// The cost of a switch is proportional to the difference in quality, so one pass upward and one downward find the
    /// best choice.
    private func storeBestChoice(_ choice: [Row], into value: inout [Row], at offset: Int) {
        var best = choice[0]
        value[offset] = best
        for rung in 1..<max(1, rungs) {
            best = maximum(best - Float(weights.switchCost * (quality[rung] - quality[rung - 1])), choice[rung])
            value[offset + rung] = best
        }
        best = choice[rungs - 1]
        for rung in (0..<max(0, rungs - 1)).reversed() {
            best = maximum(best - Float(weights.switchCost * (quality[rung + 1] - quality[rung])), choice[rung])
            value[offset + rung] = maximum(value[offset + rung], best)
        }
    }
}

/// Returns the elementwise maximum.
private func maximum(_ first: PlanTable.Row, _ second: PlanTable.Row) -> PlanTable.Row {
    first.replacing(with: second, where: second .> first)
}

/// Returns the elementwise minimum.
private func minimum(_ first: PlanTable.Row, _ second: PlanTable.Row) -> PlanTable.Row {
    first.replacing(with: second, where: second .< first)
}

/// Returns the row with negative elements replaced by zero.
private func nonnegative(_ row: PlanTable.Row) -> PlanTable.Row { maximum(row, .zero) }
