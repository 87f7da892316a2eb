internal import MediaTiming

/// A stochastic model of links: the possible rates and the transitions between them.
///
/// A link has a rate that drifts. The rate of a transfer differs from it randomly. Rarely, the rate jumps to any other
/// value. Sometimes no bytes arrive for a few seconds, after which the rate is the same as before. Links differ in the
/// strength of these effects; a ``Volatility`` is a class of links with the same strength, and the class of a link is
/// inferred from measurements.
struct RateModel: Sendable, Hashable {
    /// A volatility class; drift and noise are standard deviations in octaves (factors of two).
    struct Volatility: Sendable, Hashable {
        /// The change of the rate from one segment to the next.
        let drift: Double
        /// The deviation of a transfer from the rate.
        let noise: Double
        /// The probability that an outage begins within the time of one segment.
        let outageProbability: Double
        /// The prior probability of this class.
        let share: Double
    }

    /// The volatility classes: steady, drifting, noisy, and steady with outages.
    ///
    /// These and the other parameters of the model were fitted to measured links (3G and 4G in motion, fixed lines) and
    /// to synthetic ones (Markov chains, steps, outages, waves, random walks), with segments of 2 to 6 s and buffers of
    /// 12 to 60 s. A link counts as steady at first; few measurements are enough to change that.
    static let volatilities = [
        Volatility(drift: 0.12, noise: 0.13, outageProbability: 0, share: 0.7),
        Volatility(drift: 0.27, noise: 0.42, outageProbability: 0.003, share: 0.15),
        Volatility(drift: 0.21, noise: 0.53, outageProbability: 0.007, share: 0.1),
        Volatility(drift: 0.12, noise: 0.16, outageProbability: 0.04, share: 0.05),
    ]
    /// The index of the class in which transfers deviate most from the rate.
    static let noisiestVolatility = volatilities.indices.max { volatilities[$0].noise < volatilities[$1].noise } ?? 0
    /// The probability that the volatility class changes from one segment to the next.
    static let volatilityChangeProbability = 0.005
    /// The probability that the rate jumps from one segment to the next.
    static let jumpProbability = 0.008
    /// The standard deviation, in octaves, of the rates after a jump around the middle of the ladder.
    static let jumpSpread = 1.2
    /// The probability that an outage ends within the time of one segment.
    static let outageEndProbability = 0.18
    /// The expected duration of an outage, in seconds.
    static let outageSeconds = 6.0
    /// The distance below the rate, in octaves, from which a measurement indicates an outage.
    static let outageDepth = 2.0
    /// The likelihood of a low rate in an outage, as a density over octaves.
    static let outageDensity = 0.4
    /// The likelihood that no bytes arrive in an outage.
    static let outageSilenceLikelihood = 0.9
    /// The measurement error, a standard deviation in octaves.
    static let measurementNoise = 0.14
    /// The likelihood of outliers, which are far from every expected rate.
    static let outlierLikelihood = 0.001
    /// The distance between two rates of the grid in octaves; larger if the ladder needs more than ``maximumRateCount``.
    static let regularStep = 0.4
    /// The maximum number of rates; with ``regularStep`` they cover 18 octaves.
    static let maximumRateCount = 48
    /// The distance from the lowest rung down to the lowest rate, in octaves.
    static let octavesBelowLadder = 3.0
    /// The distance from the highest rung up to the highest rate, in octaves; higher rates do not change any choice.
    static let octavesAboveLadder = 1.3

    /// The base-2 logarithms of the rates in bits per second, ascending and evenly spaced.
    let logarithms: [Double]
    /// The rates in bits per second.
    let rates: [Double]
    /// The probability of each rate after a jump.
    let jumpTargets: [Double]
    /// The probabilities of a drift from `-reach` to `reach` steps of the grid, for each volatility class.
    let drifts: [[Double]]

    /// Creates the model for a ladder, with a grid of the rates that make a difference between its rungs.
    init(_ ladder: Ladder) {
        let lowest = binaryLogarithm(ladder.bitsPerSecond(of: 0))
        let highest = binaryLogarithm(ladder.bitsPerSecond(of: ladder.highest))
        let first = lowest - Self.octavesBelowLadder
        let span = highest + Self.octavesAboveLadder - first
        let count = min(Int(saturating: (span / Self.regularStep).rounded(.up)) +| 1, Self.maximumRateCount)
        let step = max(Self.regularStep, span / Double(count - 1))
        logarithms = (0..<count).map { first + step * Double($0) }
        rates = logarithms.map(powerOfTwo)
        let middle = (lowest + highest) / 2
        jumpTargets = normalized(logarithms.map { gaussian(($0 - middle) / Self.jumpSpread) })
        drifts = Self.volatilities.map { volatility in
            let reach = Int(saturating: (3 * volatility.drift / step).rounded(.up))
            return normalized((reach.negatedSaturated()...reach).map { gaussian(Double($0) * step / volatility.drift) })
        }
    }

    /// The number of rates.
    var count: Int { rates.count }
    /// The number of volatility classes.
    var volatilityCount: Int { Self.volatilities.count }
}

/// Returns the height of the normal distribution at a distance in standard deviations, with a maximum of 1.
func gaussian(_ distance: Double) -> Double { exponential(-0.5 * distance * distance) }

/// Returns the weights scaled so that their sum is 1.
private func normalized(_ weights: [Double]) -> [Double] {
    let sum = weights.reduce(0, +)
    return sum > 0 ? weights.map { $0 / sum } : weights
}
