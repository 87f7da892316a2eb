/// What is thought of a link: how likely each rate is, with each temper, and whether there is an outage.
///
/// Probabilities move as time passes (``pass()``) and gather where measurements are (``observe(bitsPerSecond:trust:)``).
/// It is Bayes's rule on the grid of a ``LinkModel``.
struct LinkBelief: Sendable {
    let model: LinkModel
    /// By temper and then by rate: how likely, and the link works.
    ///
    /// Together with ``inOutage`` they add up to 1.
    private(set) var working: [Double]
    /// By temper and then by rate: how likely, and nothing comes at the moment.
    private(set) var inOutage: [Double]

    /// Thinks every rate alike, and each temper as common as it is.
    init(_ model: LinkModel) {
        self.model = model
        let size = model.count * model.tempers
        // Bounded: a model has at least one rate.
        working = (0..<size).map { LinkModel.tempers[$0 / model.count].share / Double(model.count) }
        inOutage = Array(repeating: 0, count: size)
    }

    /// Thinks that the rate is about so much, within `octaves`.
    init(_ model: LinkModel, around bitsPerSecond: Double, octaves: Double) {
        self.init(model)
        let middle = model.clampedLogarithm(bitsPerSecond)
        for index in working.indices {
            // Bounded: a model has at least one rate.
            let distance = model.logarithms[index % model.count] - middle
            working[index] *= bell(distance / octaves) + 1e-9
        }
        normalize()
    }

    /// The belief, mixed with another one: that the rate is about so much, and that transfers differ much from it.
    ///
    /// - Parameters:
    ///   - share: What the other one counts, 0 to 1.
    ///   - bitsPerSecond: The rate on the whole.
    ///   - octaves: How exactly it is known: a standard deviation.
    /// - Returns: The mixture.
    func mixed(_ share: Double, around bitsPerSecond: Double, octaves: Double) -> LinkBelief {
        var result = self
        for index in working.indices {
            result.working[index] *= 1 - share
            result.inOutage[index] *= 1 - share
        }
        let middle = model.clampedLogarithm(bitsPerSecond)
        let heights = model.logarithms.map { bell(($0 - middle) / octaves) }
        let factor = share / heights.reduce(0, +)
        let base = LinkModel.noisiest * model.count
        for rate in heights.indices { result.working[base + rate] += factor * heights[rate] }
        return result
    }

    /// Lets a segment's time pass: rates drift, jump, and outages begin and end.
    mutating func pass() {
        let count = model.count
        var moved = Array(repeating: 0.0, count: working.count)
        for temper in 0..<model.tempers {
            let beginning = LinkModel.tempers[temper].outageProbability
            let ending = LinkModel.outageEnd
            var jumped = 0.0
            let drift = model.drifts[temper]
            let reach = drift.count / 2
            let base = temper * count
            for rate in 0..<count {
                let (up, down) = (working[base + rate], inOutage[base + rate])
                let share = up * (1 - beginning) + down * ending
                inOutage[base + rate] = down * (1 - ending) + up * beginning
                guard share > 1e-9 else { continue }
                jumped += share * LinkModel.jumpProbability
                let staying = share * (1 - LinkModel.jumpProbability)
                for step in drift.indices {
                    // The ends of the grid stand for all beyond.
                    moved[base + min(max(rate + step - reach, 0), count - 1)] += staying * drift[step]
                }
            }
            for rate in 0..<count { moved[base + rate] += jumped * model.jumpTargets[rate] }
        }
        mixTempers(of: &moved)
        working = moved
    }

    /// Takes a measured rate into account.
    ///
    /// - Parameters:
    ///   - bitsPerSecond: The rate of a transfer or of a part of it; zero says that nothing came.
    ///   - trust: 0 to 1: less for small transfers, which tell little.
    mutating func observe(bitsPerSecond: Double, trust: Double = 1) {
        guard trust > 0 else { return }
        let measured = model.clampedLogarithm(bitsPerSecond)
        // So little that it could be any rate below the grid: a probability, where others are densities.
        let isNothing = measured <= model.logarithms[0]
        let spreads = LinkModel.tempers.map { temper in
            let extra = LinkModel.measurementNoise
            return (temper.noise * temper.noise + extra * extra).squareRoot() / min(1, trust).squareRoot()
        }
        for rate in 0..<model.count {
            let distance = measured - model.logarithms[rate]
            let surprise = LinkModel.surprise * exponential(-abs(distance))
            // An outage lets through less than a fraction of the rate.
            let above = max(0, distance + LinkModel.outageDepth)
            let density = isNothing ? LinkModel.outageSilence : LinkModel.outageDensity
            let outage = density * exponential(-4 * above)
            for temper in spreads.indices {
                let index = temper * model.count + rate
                let deviations = distance / spreads[temper]
                // Beyond, the bell is lower than the surprise by far.
                let width = isNothing ? 1 : spreads[temper]
                let height = abs(deviations) < 7 ? bell(deviations) / width : 0
                working[index] *= height + surprise
                inOutage[index] *= outage
            }
        }
        normalize()
    }

    /// Takes into account that the rate was no lower than this: all came at once.
    mutating func observe(atLeast bitsPerSecond: Double) {
        let bound = model.clampedLogarithm(bitsPerSecond)
        for index in working.indices {
            // Bounded: a model has at least one rate.
            let missing = max(0, bound - model.logarithms[index % model.count])
            working[index] *= exponential(-4 * missing)
            inOutage[index] *= 1e-3
        }
        normalize()
    }

    /// The rate that is exceeded with a probability of 1 - `share`, in bits a second.
    func quantile(_ share: Double) -> Double {
        var sum = 0.0
        for rate in 0..<model.count {
            let part = probability(ofRate: rate)
            if sum + part >= share, part > 0 {
                // Between two rates, as if they lay evenly around this one.
                let step = model.count > 1 ? model.logarithms[1] - model.logarithms[0] : 0
                return powerOfTwo(model.logarithms[rate] + step * ((share - sum) / part - 0.5))
            }
            sum += part
        }
        return model.rates[model.count - 1]
    }

    /// How likely the link is slower than a rate, or in an outage.
    func probability(below bitsPerSecond: Double) -> Double {
        let bound = model.clampedLogarithm(bitsPerSecond)
        var sum = 0.0
        for index in working.indices {
            sum += inOutage[index]
            // Bounded: a model has at least one rate.
            if model.logarithms[index % model.count] < bound { sum += working[index] }
        }
        return min(max(sum, 0), 1)
    }

    /// How likely a rate is, with any temper, in an outage or not.
    private func probability(ofRate rate: Int) -> Double {
        var part = 0.0
        for index in stride(from: rate, to: working.count, by: model.count) { part += working[index] + inOutage[index] }
        return part
    }

    /// Moves a little of each temper's share to the others, rate by rate.
    private func mixTempers(of shares: inout [Double]) {
        let change = LinkModel.temperChange
        for rate in 0..<model.count {
            var sum = 0.0
            for index in stride(from: rate, to: shares.count, by: model.count) { sum += shares[index] }
            let share = change * sum / Double(model.tempers)
            for index in stride(from: rate, to: shares.count, by: model.count) {
                shares[index] = (1 - change) * shares[index] + share
            }
        }
    }

    private mutating func normalize() {
        var sum = 0.0
        for index in working.indices { sum += working[index] + inOutage[index] }
        guard sum > 1e-280, sum.isFinite else {
            // Nothing explains what was seen: begin anew.
            self = LinkBelief(model)
            return
        }
        let factor = 1 / sum
        for index in working.indices {
            working[index] *= factor
            inOutage[index] *= factor
        }
    }
}

extension LinkModel {
    /// The logarithm of a rate, no further than the grid goes.
    func clampedLogarithm(_ bitsPerSecond: Double) -> Double {
        let first = logarithms[0]
        let last = logarithms[logarithms.count - 1]
        guard bitsPerSecond > 0 else { return first }
        return min(max(binaryLogarithm(bitsPerSecond), first), last)
    }
}
