import MediaTiming

/// An exponentially weighted moving average: after one half-life of added weight, an older value counts half.
///
/// The sum and the weight decay together, and are divided only when the average is read. Therefore, an average of few
/// values has no bias toward zero or toward its first value.
struct MovingAverage: Sendable {
    /// The weight after which earlier values count half.
    let halfLife: Double
    /// The sum of the values, each multiplied by its decayed weight.
    private(set) var sum = 0.0
    /// The sum of all decayed weights, at most 1.44 half-lives (1/ln 2).
    private(set) var weight = 0.0
    /// The decay of a value that preceded the first one, from 1 down to 0.
    private(set) var priorDecay = 1.0

    /// Creates an average without values; half-lives below 0.001 are raised to 0.001.
    init(halfLife: Double) {
        self.halfLife = max(0.001, halfLife)
    }

    /// Adds a value with the given weight, for example the time for which it was valid.
    mutating func add(_ value: Double, weight added: Double) {
        guard added > 0, value.isFinite else { return }
        let kept = exponentialDecay(halfLives: added / halfLife)
        // The integral of the decay over the time for which the value was valid; 0.693… is ln 2.
        let share = (1 - kept) * halfLife / naturalLogarithmOf2
        sum = sum * kept + value * share
        weight = weight * kept + share
        priorDecay *= kept
    }

    /// The average, or `nil` without values.
    var value: Double? { weight > 0 ? sum / weight : nil }

    /// Returns the average with a prior value that preceded the first value and had the given weight.
    func value(withPrior prior: Double, weight priorWeight: Double) -> Double? {
        let left = max(0, priorWeight) * priorDecay
        let total = weight + left
        return total > 0 ? (sum + prior * left) / total : nil
    }
}

private let naturalLogarithmOf2 = 0.693_147_180_559_945_3

/// Returns 2 to the power of −`halfLives`, for 0 or more, in arithmetic that has the same result on every platform.
func exponentialDecay(halfLives: Double) -> Double {
    // Beyond this the result is below the smallest positive number.
    guard halfLives < 1_075 else { return 0 }
    let whole = halfLives.rounded(.down)
    let exponent = -(halfLives - whole) * naturalLogarithmOf2
    var term = 1.0
    var sum = 1.0
    // The Taylor series of e^x: with |x| < 0.7, the terms after the 15th are below 10^-16.
    for index in 1...15 {
        term *= exponent / Double(index)
        sum += term
    }
    return Double(sign: .plus, exponent: Int(saturating: -whole), significand: sum)
}
