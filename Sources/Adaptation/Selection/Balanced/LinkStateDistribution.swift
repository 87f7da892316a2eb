/// A probability distribution over the rate and volatility of a link and over whether it has an outage.
///
/// The distribution evolves as time passes (``advance()``) and is updated with measurements by Bayes' rule
/// (``observe(bitsPerSecond:weight:)``), on the grid of a ``RateModel``.
struct LinkStateDistribution: Sendable {
    let model: RateModel
    /// The probabilities of the states in which the link works, by volatility class and then by rate.
    ///
    /// Together with ``outageProbabilities`` they add up to 1.
    private(set) var workingProbabilities: [Double]
    /// The probabilities of the states in which the link has an outage, by volatility class and then by rate.
    private(set) var outageProbabilities: [Double]

    /// Creates a distribution in which all rates are equally likely and the volatility classes have their prior
    /// probabilities.
    init(_ model: RateModel) {
        self.model = model
        let size = model.count * model.volatilityCount
        // Bounded: a model has at least one rate.
        workingProbabilities = (0..<size).map { RateModel.volatilities[$0 / model.count].share / Double(model.count) }
        outageProbabilities = Array(repeating: 0, count: size)
    }

    /// Creates a distribution around a rate, with a standard deviation in octaves.
    init(_ model: RateModel, around bitsPerSecond: Double, octaves: Double) {
        self.init(model)
        let middle = model.clampedLogarithm(bitsPerSecond)
        for index in workingProbabilities.indices {
            // Bounded: a model has at least one rate.
            let distance = model.logarithms[index % model.count] - middle
            workingProbabilities[index] *= gaussian(distance / octaves) + 1e-9
        }
        normalize()
    }

    /// Returns a mixture with a distribution around a given rate in the class of the noisiest links.
    ///
    /// - Parameters:
    ///   - share: The weight of the other distribution, 0 to 1.
    ///   - bitsPerSecond: The mean rate of the other distribution.
    ///   - octaves: The standard deviation of the other distribution.
    /// - Returns: The mixture.
    func mixed(_ share: Double, around bitsPerSecond: Double, octaves: Double) -> LinkStateDistribution {
        var result = self
        for index in workingProbabilities.indices {
            result.workingProbabilities[index] *= 1 - share
            result.outageProbabilities[index] *= 1 - share
        }
        let middle = model.clampedLogarithm(bitsPerSecond)
        let heights = model.logarithms.map { gaussian(($0 - middle) / octaves) }
        let factor = share / heights.reduce(0, +)
        let base = RateModel.noisiestVolatility * model.count
        for rate in heights.indices { result.workingProbabilities[base + rate] += factor * heights[rate] }
        return result
    }

    /// Advances the distribution by the time of one segment: rates drift and jump, and outages begin and end.
    mutating func advance() {
        let count = model.count
        var moved = Array(repeating: 0.0, count: workingProbabilities.count)
        for volatility in 0..<model.volatilityCount {
            let beginning = RateModel.volatilities[volatility].outageProbability
            let ending = RateModel.outageEndProbability
            var jumped = 0.0
            let drift = model.drifts[volatility]
            let reach = drift.count / 2
            let base = volatility * count
            for rate in 0..<count {
                let (up, down) = (workingProbabilities[base + rate], outageProbabilities[base + rate])
                let share = up * (1 - beginning) + down * ending
                outageProbabilities[base + rate] = down * (1 - ending) + up * beginning
                guard share > 1e-9 else { continue }
                jumped += share * RateModel.jumpProbability
                let staying = share * (1 - RateModel.jumpProbability)
                for step in drift.indices {
                    // The rates at both ends of the grid also represent all rates beyond them.
                    moved[base + min(max(rate + step - reach, 0), count - 1)] += staying * drift[step]
                }
            }
            for rate in 0..<count { moved[base + rate] += jumped * model.jumpTargets[rate] }
        }
        mixVolatilities(of: &moved)
        workingProbabilities = moved
    }

    /// Updates the distribution with a measured rate.
    ///
    /// - Parameters:
    ///   - bitsPerSecond: The rate of a transfer or of a part of one; zero if no bytes arrived.
    ///   - weight: The weight of the measurement, 0 to 1; small transfers have less.
    mutating func observe(bitsPerSecond: Double, weight: Double = 1) {
        guard weight > 0 else { return }
        let measured = model.clampedLogarithm(bitsPerSecond)
        // A rate below the grid can be any lower rate, so its likelihood is a probability, not a density.
        let isNothing = measured <= model.logarithms[0]
        let spreads = RateModel.volatilities.map { volatility in
            let extra = RateModel.measurementNoise
            return (volatility.noise * volatility.noise + extra * extra).squareRoot() / min(1, weight).squareRoot()
        }
        for rate in 0..<model.count {
            let distance = measured - model.logarithms[rate]
            let likelihood = RateModel.outlierLikelihood * exponential(-abs(distance))
            // In an outage, less than a fraction of the rate arrives.
            let above = max(0, distance + RateModel.outageDepth)
            let density = isNothing ? RateModel.outageSilenceLikelihood : RateModel.outageDensity
            let outage = density * exponential(-4 * above)
            for volatility in spreads.indices {
                let index = volatility * model.count + rate
                let deviations = distance / spreads[volatility]
                // Further away, the normal distribution is far below the likelihood of outliers.
                let width = isNothing ? 1 : spreads[volatility]
                let height = abs(deviations) < 7 ? gaussian(deviations) / width : 0
                workingProbabilities[index] *= height + likelihood
                outageProbabilities[index] *= outage
            }
        }
        normalize()
    }

    /// Updates the distribution with a lower bound of the rate, from a response that arrived too fast for a bit rate to be
    /// measured.
    mutating func observe(atLeast bitsPerSecond: Double) {
        let bound = model.clampedLogarithm(bitsPerSecond)
        for index in workingProbabilities.indices {
            // Bounded: a model has at least one rate.
            let missing = max(0, bound - model.logarithms[index % model.count])
            workingProbabilities[index] *= exponential(-4 * missing)
            outageProbabilities[index] *= 1e-3
        }
        normalize()
    }

    /// Returns the rate, in bits per second, that is exceeded with a probability of 1 − `share`.
    func quantile(_ share: Double) -> Double {
        var sum = 0.0
        for rate in 0..<model.count {
            let part = probability(ofRate: rate)
            if sum + part >= share, part > 0 {
                // Interpolates between rates, as if the probability were distributed evenly around each.
                let step = model.count > 1 ? model.logarithms[1] - model.logarithms[0] : 0
                return powerOfTwo(model.logarithms[rate] + step * ((share - sum) / part - 0.5))
            }
            sum += part
        }
        return model.rates[model.count - 1]
    }

    /// Returns the probability that the link is slower than a rate or has an outage.
    func probability(below bitsPerSecond: Double) -> Double {
        let bound = model.clampedLogarithm(bitsPerSecond)
        var sum = 0.0
        for index in workingProbabilities.indices {
            sum += outageProbabilities[index]
            // Bounded: a model has at least one rate.
            if model.logarithms[index % model.count] < bound { sum += workingProbabilities[index] }
        }
        return min(max(sum, 0), 1)
    }

    /// Returns the probability of a rate, over all volatility classes, with and without an outage.
    private func probability(ofRate rate: Int) -> Double {
        var part = 0.0
        for index in stride(from: rate, to: workingProbabilities.count, by: model.count) {
            part += workingProbabilities[index] + outageProbabilities[index]
        }
        return part
    }

    /// Moves a small part of the probability between the volatility classes, separately for each rate.
    private func mixVolatilities(of shares: inout [Double]) {
        let change = RateModel.volatilityChangeProbability
        for rate in 0..<model.count {
            var sum = 0.0
            for index in stride(from: rate, to: shares.count, by: model.count) { sum += shares[index] }
            let share = change * sum / Double(model.volatilityCount)
            for index in stride(from: rate, to: shares.count, by: model.count) {
                shares[index] = (1 - change) * shares[index] + share
            }
        }
    }

    private mutating func normalize() {
        var sum = 0.0
        for index in workingProbabilities.indices { sum += workingProbabilities[index] + outageProbabilities[index] }
        guard sum > 1e-280, sum.isFinite else {
            // The measurement is impossible in every state, so the distribution is reset.
            self = LinkStateDistribution(model)
            return
        }
        let factor = 1 / sum
        for index in workingProbabilities.indices {
            workingProbabilities[index] *= factor
            outageProbabilities[index] *= factor
        }
    }
}

extension RateModel {
    /// Returns the base-2 logarithm of a rate, clamped to the grid.
    func clampedLogarithm(_ bitsPerSecond: Double) -> Double {
        let first = logarithms[0]
        let last = logarithms[logarithms.count - 1]
        guard bitsPerSecond > 0 else { return first }
        return min(max(binaryLogarithm(bitsPerSecond), first), last)
    }
}
