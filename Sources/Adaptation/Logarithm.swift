/// The logarithm to the base 2 of a positive number, in arithmetic that every platform rounds alike.
///
/// - Parameter value: Numbers that are not positive count as the least positive one, and infinity as the greatest.
/// - Returns: The logarithm.
func binaryLogarithm(_ value: Double) -> Double {
    let value = min(max(value, .leastNormalMagnitude), .greatestFiniteMagnitude)
    // Two times the inverse hyperbolic tangent of this is the natural logarithm of the significand, 1 to 2.
    let ratio = (value.significand - 1) / (value.significand + 1)
    let square = ratio * ratio
    var power = ratio
    var sum = 0.0
    // With a ratio of a third at most, the term after the 17th is below 10^-17.
    for index in 0..<17 {
        sum += power / Double(2 * index + 1)
        power *= square
    }
    return Double(value.exponent) + 2 * sum * binaryLogarithmOfE
}

/// Two to the power of any number, in arithmetic that every platform rounds alike.
func powerOfTwo(_ exponent: Double) -> Double {
    guard exponent.isFinite else { return exponent < 0 ? 0 : .greatestFiniteMagnitude }
    let bounded = min(max(exponent, -1_000), 1_000)
    return bounded <= 0 ? halved(times: -bounded) : 1 / halved(times: bounded)
}

/// *e* to the power of any number.
func exponential(_ exponent: Double) -> Double { powerOfTwo(exponent * binaryLogarithmOfE) }

/// The logarithm to the base 2 of *e*.
let binaryLogarithmOfE = 1.442_695_040_888_963_4
