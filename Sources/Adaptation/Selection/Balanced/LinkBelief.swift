/// What is thought of a link: how likely each rate is, with each temper, and whether there is an outage.
///
/// Probabilities move as time passes (``pass()``) and gather where measurements are (``observe(bitsPerSecond:trust:)``).
/// It is Bayes's rule on the grid of a ``LinkModel``.
struct LinkBelief: Sendable {
    let model: LinkModel
    /// By temper and rate: how likely, and the link works.
    ///
    /// Together with ``inOutage`` they add up to 1.
    private(set) var working: [[Double]]
    /// By temper and rate: how likely, and nothing comes at the moment.
    private(set) var inOutage: [[Double]]

    /// Thinks every rate alike.
    init(_ model: LinkModel) {
        self.model = model
        let share = 1 / Double(model.count * model.tempers)
        working = Array(repeating: Array(repeating: share, count: model.count), count: model.tempers)
        inOutage = Array(repeating: Array(repeating: 0, count: model.count), count: model.tempers)
    }

    /// Thinks that the rate is about so much, within `octaves`.
    init(_ model: LinkModel, around bitsPerSecond: Double, octaves: Double) {
        self.init(model)
        let middle = model.clampedLogarithm(bitsPerSecond)
        for temper in working.indices {
            for rate in working[temper].indices {
                working[temper][rate] *= bell((model.logarithms[rate] - middle) / octaves) + 1e-9
            }
        }
        normalize()
    }

    /// Lets a segment's time pass: rates drift, jump, and outages begin and end.
    mutating func pass() {
        let count = model.count
        for temper in working.indices {
            let beginning = LinkModel.tempers[temper].outageProbability
            let ending = LinkModel.outageEnd
            var moved = Array(repeating: 0.0, count: count)
            var jumped = 0.0
            let drift = model.drifts[temper]
            let reach = drift.count / 2
            for rate in 0..<count {
                let (up, down) = (working[temper][rate], inOutage[temper][rate])
                let share = up * (1 - beginning) + down * ending
                inOutage[temper][rate] = down * (1 - ending) + up * beginning
                guard share > 1e-12 else { continue }
                jumped += share * LinkModel.jumpProbability
                let staying = share * (1 - LinkModel.jumpProbability)
                for step in drift.indices {
                    // The ends of the grid stand for all beyond.
                    moved[min(max(rate + step - reach, 0), count - 1)] += staying * drift[step]
                }
            }
            for rate in 0..<count { moved[rate] += jumped * model.jumpTargets[rate] }
            working[temper] = moved
        }
        mixTempers()
    }

    /// Takes a measured rate into account.
    ///
    /// - Parameters:
    ///   - bitsPerSecond: The rate of a transfer or of a part of it; zero says that nothing came.
    ///   - trust: 0 to 1: less for small transfers, which tell little.
    mutating func observe(bitsPerSecond: Double, trust: Double = 1) {
        guard trust > 0 else { return }
        let measured = model.clampedLogarithm(bitsPerSecond)
        for temper in working.indices {
            let noise = LinkModel.tempers[temper].noise
            let extra = LinkModel.measurementNoise
            let spread = (noise * noise + extra * extra).squareRoot() / min(1, trust).squareRoot()
            for rate in working[temper].indices {
                let distance = measured - model.logarithms[rate]
                working[temper][rate] *=
                    bell(distance / spread) / spread
                    + LinkModel.surprise * exponential(-abs(distance))
                // An outage lets through less than a fraction of the rate.
                let above = max(0, distance + LinkModel.outageDepth)
                inOutage[temper][rate] *= LinkModel.outageDensity * exponential(-4 * above)
            }
        }
        normalize()
    }

    /// Takes into account that the rate was no lower than this: all came at once.
    mutating func observe(atLeast bitsPerSecond: Double) {
        let bound = model.clampedLogarithm(bitsPerSecond)
        for temper in working.indices {
            for rate in working[temper].indices {
                let missing = max(0, bound - model.logarithms[rate])
                working[temper][rate] *= exponential(-4 * missing)
                inOutage[temper][rate] *= 1e-3
            }
        }
        normalize()
    }

    /// The rate that is exceeded with a probability of 1 - `share`, in bits a second.
    func quantile(_ share: Double) -> Double {
        var sum = 0.0
        for rate in 0..<model.count {
            var part = 0.0
            for temper in working.indices { part += working[temper][rate] + inOutage[temper][rate] }
            if sum + part >= share, part > 0 {
                // Between two rates, as if they lay evenly around this one.
                let step = model.count > 1 ? model.logarithms[1] - model.logarithms[0] : 0
                return powerOfTwo(model.logarithms[rate] + step * ((share - sum) / part - 0.5))
            }
            sum += part
        }
        return model.rates[model.count - 1]
    }

    /// Moves a little of each temper's share to the others, rate by rate.
    private mutating func mixTempers() {
        let change = LinkModel.temperChange
        for rate in 0..<model.count {
            var sum = 0.0
            for temper in working.indices { sum += working[temper][rate] }
            let share = sum / Double(working.count)
            for temper in working.indices {
                working[temper][rate] = (1 - change) * working[temper][rate] + change * share
            }
        }
    }

    private mutating func normalize() {
        var sum = 0.0
        for temper in working.indices {
            for rate in working[temper].indices { sum += working[temper][rate] + inOutage[temper][rate] }
        }
        guard sum > 1e-280, sum.isFinite else {
            // Nothing explains what was seen: begin anew.
            self = LinkBelief(model)
            return
        }
        for temper in working.indices {
            for rate in working[temper].indices {
                working[temper][rate] /= sum
                inOutage[temper][rate] /= sum
            }
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
