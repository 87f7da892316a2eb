import MediaTiming

/// An average in which the newest values count most: after one half-life of weight, an older value counts half.
///
/// Sum and weight fade together and are divided at the end, so an average of few values leans towards none of them, nor
/// towards zero.
struct FadingAverage: Sendable {
    /// How much weight halves what stood before.
    let halfLife: Double
    /// The sum of values times what is left of their weights.
    private(set) var sum = 0.0
    /// What is left of all weights; it grows to 1.44 half-lives and no further.
    private(set) var weight = 0.0
    /// What is left of anything that stood before the first value, 1 to 0.
    private(set) var remainder = 1.0

    /// Makes an average without values; a half-life below a thousandth counts as one.
    init(halfLife: Double) {
        self.halfLife = max(0.001, halfLife)
    }

    /// Adds a value that held for `weight`.
    mutating func add(_ value: Double, weight added: Double) {
        guard added > 0, value.isFinite else { return }
        let kept = halved(times: added / halfLife)
        // The integral of the fading over the time that the value held; 0.693… is the natural logarithm of 2.
        let share = (1 - kept) * halfLife / naturalLogarithmOf2
        sum = sum * kept + value * share
        weight = weight * kept + share
        remainder *= kept
    }

    /// The average, `nil` without values.
    var value: Double? { weight > 0 ? sum / weight : nil }

    /// The average where something stood before the first value that weighed as much as `priorWeight`.
    func value(after prior: Double, weighing priorWeight: Double) -> Double? {
        let left = max(0, priorWeight) * remainder
        let total = weight + left
        return total > 0 ? (sum + prior * left) / total : nil
    }
}

private let naturalLogarithmOf2 = 0.693_147_180_559_945_3

/// One halved so many times, 0 or more, in arithmetic that every platform rounds alike.
func halved(times: Double) -> Double {
    // Beyond this it is smaller than the least number there is.
    guard times < 1_075 else { return 0 }
    let whole = times.rounded(.down)
    let exponent = -(times - whole) * naturalLogarithmOf2
    var term = 1.0
    var sum = 1.0
    // The series of e^x: with |x| < 0.7, the term after the 15th is below 10^-16.
    for index in 1...15 {
        term *= exponent / Double(index)
        sum += term
    }
    return Double(sign: .plus, exponent: Int(saturating: -whole), significand: sum)
}
