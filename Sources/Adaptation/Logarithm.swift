/// Returns the base-2 logarithm of a positive number, in arithmetic that has the same result on every platform.
///
/// - Parameter value: A number; values are clamped to the positive normal finite numbers.
/// - Returns: The logarithm.
func binaryLogarithm(_ value: Double) -> Double {
    let value = min(max(value, .leastNormalMagnitude), .greatestFiniteMagnitude)
    // 2 · artanh(ratio) is the natural logarithm of the significand, which is between 1 and 2.
    let ratio = (value.significand - 1) / (value.significand + 1)
    let square = ratio * ratio
    var power = ratio
    var sum = 0.0
    // The ratio is at most 1/3, so the terms after the 17th are below 10^-17.
    for index in 0..<17 {
        sum += power / Double(2 * index + 1)
        power *= square
    }
    return Double(value.exponent) + 2 * sum * binaryLogarithmOfE
}

/// Returns 2 to the power of the given number, in arithmetic that has the same result on every platform.
///
/// Finite exponents are clamped to −1,000…1,000.
func powerOfTwo(_ exponent: Double) -> Double {
    guard exponent.isFinite else { return exponent < 0 ? 0 : .greatestFiniteMagnitude }
    let bounded = min(max(exponent, -1_000), 1_000)
    return bounded <= 0 ? exponentialDecay(halfLives: -bounded) : 1 / exponentialDecay(halfLives: bounded)
}

/// Returns *e* to the power of the given number.
func exponential(_ exponent: Double) -> Double { powerOfTwo(exponent * binaryLogarithmOfE) }

/// The base-2 logarithm of *e*.
let binaryLogarithmOfE = 1.442_695_040_888_963_4
