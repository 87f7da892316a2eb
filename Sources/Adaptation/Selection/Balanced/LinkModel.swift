internal import MediaTiming

/// How links are expected to behave: the rates that they can have, and how they move between them.
///
/// A link has a rate that drifts. What a transfer gets differs from it at random. Rarely the rate jumps anywhere. And
/// sometimes nothing comes for a few seconds, after which the rate is what it was. Links differ in how much of each they
/// have: that is their ``Temper``, found out while they are used.
struct LinkModel: Sendable, Hashable {
    /// One kind of link; spreads are standard deviations in octaves (factors of two).
    struct Temper: Sendable, Hashable {
        /// How far the rate drifts from one segment to the next.
        let drift: Double
        /// How far a transfer differs from the rate.
        let noise: Double
        /// How likely an outage begins within a segment.
        let outageProbability: Double
        /// How likely a link is of this kind before anything was measured.
        let share: Double
    }

    /// The kinds of links: a steady line, one whose rate wanders, one that is noisy, and a steady one with outages.
    ///
    /// Fitted, with the other numbers here, on measured links (3G and 4G on the move, lines at home) and on invented
    /// ones (states, steps, outages, waves, wandering), with segments of 2 to 6 s and buffers of 12 to 60 s. A link counts
    /// as steady until it shows otherwise, which takes few measurements.
    static let tempers = [
        Temper(drift: 0.12, noise: 0.13, outageProbability: 0, share: 0.7),
        Temper(drift: 0.27, noise: 0.42, outageProbability: 0.003, share: 0.15),
        Temper(drift: 0.21, noise: 0.53, outageProbability: 0.007, share: 0.1),
        Temper(drift: 0.12, noise: 0.16, outageProbability: 0.04, share: 0.05),
    ]
    /// The temper of which transfers differ most from the rate.
    static let noisiest = tempers.indices.max { tempers[$0].noise < tempers[$1].noise } ?? 0
    /// How likely the temper itself changes from one segment to the next.
    static let temperChange = 0.005
    /// How likely the rate jumps from one segment to the next.
    static let jumpProbability = 0.008
    /// How far apart, in octaves, rates lie around the middle of the ladder after a jump: a standard deviation.
    static let jumpSpread = 1.2
    /// How likely an outage ends within a segment's time.
    static let outageEnd = 0.18
    /// How long outages are thought to last, in seconds.
    static let outageSeconds = 6.0
    /// A rate below the link's own by so many octaves looks like an outage.
    static let outageDepth = 2.0
    /// How much an outage explains of a low rate; a density over octaves.
    static let outageDensity = 0.4
    /// How likely nothing at all comes in an outage.
    static let outageSilence = 0.9
    /// How inexact a measurement is on its own, in octaves.
    static let measurementNoise = 0.14
    /// How much of a measurement's likelihood lies far from anything expected.
    static let surprise = 0.001
    /// The distance of two rates, in octaves, unless the ladder is too long for it.
    static let widestStep = 0.4
    /// The most rates; they cover 18 octaves with the step above.
    static let mostRates = 48
    /// How far below the lowest rung the rates begin, in octaves.
    static let below = 3.0
    /// How far above the highest rung the rates end, in octaves: beyond, more changes nothing.
    static let above = 1.3

    /// Logarithms to the base 2 of the rates in bits a second, ascending and evenly spaced.
    let logarithms: [Double]
    /// The rates in bits a second.
    let rates: [Double]
    /// How likely each rate is after a jump.
    let jumpTargets: [Double]
    /// For each temper, how likely the rate drifts by so many steps, from `-reach` to `reach`.
    let drifts: [[Double]]

    /// Makes the model for a ladder: rates that make no difference to any of its rungs are left out.
    init(_ ladder: Ladder) {
        let lowest = binaryLogarithm(ladder.bitsPerSecond(of: 0))
        let highest = binaryLogarithm(ladder.bitsPerSecond(of: ladder.highest))
        let first = lowest - Self.below
        let span = highest + Self.above - first
        let count = min(Int(saturating: (span / Self.widestStep).rounded(.up)) +| 1, Self.mostRates)
        let step = max(Self.widestStep, span / Double(count - 1))
        logarithms = (0..<count).map { first + step * Double($0) }
        rates = logarithms.map(powerOfTwo)
        let middle = (lowest + highest) / 2
        jumpTargets = normalized(logarithms.map { bell(($0 - middle) / Self.jumpSpread) })
        drifts = Self.tempers.map { temper in
            let reach = Int(saturating: (3 * temper.drift / step).rounded(.up))
            return normalized((reach.negatedSaturated()...reach).map { bell(Double($0) * step / temper.drift) })
        }
    }

    /// How many rates there are.
    var count: Int { rates.count }
    /// How many tempers there are.
    var tempers: Int { Self.tempers.count }
}

/// The bell curve's height at a distance in standard deviations, 1 in the middle.
func bell(_ distance: Double) -> Double { exponential(-0.5 * distance * distance) }

/// Shares of a whole.
private func normalized(_ weights: [Double]) -> [Double] {
    let sum = weights.reduce(0, +)
    return sum > 0 ? weights.map { $0 / sum } : weights
}
