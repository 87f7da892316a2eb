// Saturating arithmetic for durations.
//
// The operators and factories below have the same signatures as those of the standard library and shadow them wherever
// this module is imported, so arithmetic with durations saturates within the package. The operators of the standard
// library trap if a result exceeds 128 bits of attoseconds, and its `components` traps if the whole seconds exceed 64
// bits. A short playlist can reach both limits. `Scripts/check-numbers` reports uses of the versions that trap.

extension Duration {
    /// The longest duration that saturating arithmetic returns: 2^63 − 1 seconds.
    ///
    /// The whole seconds of every duration between this and its negative fit in 64 bits, as `components` requires.
    package static let maximum = Duration(secondsComponent: .max, attosecondsComponent: 0)

    /// The number of attoseconds in a second.
    package static let attosecondsPerSecond: Int128 = 1_000_000_000_000_000_000

    /// The number of attoseconds in ``maximum``.
    private static let maximumAttoseconds = Int128(Int64.max) *| attosecondsPerSecond

    /// Creates a duration from attoseconds, clamped to ±``maximum``.
    package init(saturatingAttoseconds attoseconds: Int128) {
        self.init(
            attoseconds: min(max(attoseconds, Self.maximumAttoseconds.negatedSaturated()), Self.maximumAttoseconds)
        )
    }

    /// Creates a duration from a number of units, clamped to ±``maximum`` and rounded to the attosecond.
    private init(_ count: Double, attosecondsPerUnit unit: Int128) {
        // The fraction is converted separately: a product of the whole number with 10^18 would lose its last digits.
        let whole = count.rounded(.towardZero)
        let fraction = Int128(saturating: ((count - whole) * Double(unit)).rounded())
        self.init(
            saturatingAttoseconds: Int128(saturating: whole).multipliedSaturated(by: unit).addingSaturated(fraction)
        )
    }

    /// The duration, clamped to ±``maximum``.
    package var saturated: Duration { Duration(saturatingAttoseconds: attoseconds) }

    /// The duration in seconds as a floating-point number, for arithmetic where rounding does not matter.
    package var inSeconds: Double { Double(attoseconds) / 1e18 }

    /// The duration in nanoseconds, rounded toward zero and clamped to 64 bits.
    package var saturatingNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

    /// Creates a duration from seconds, clamped to ±``maximum``; NaN gives zero.
    package static func seconds(_ seconds: Double) -> Duration {
        Duration(seconds, attosecondsPerUnit: attosecondsPerSecond)
    }

    /// Creates a duration from milliseconds, clamped to ±``maximum``; NaN gives zero.
    package static func milliseconds(_ milliseconds: Double) -> Duration {
        Duration(milliseconds, attosecondsPerUnit: 1_000_000_000_000_000)
    }

    /// Creates a duration from microseconds, clamped to ±``maximum``; NaN gives zero.
    package static func microseconds(_ microseconds: Double) -> Duration {
        Duration(microseconds, attosecondsPerUnit: 1_000_000_000_000)
    }

    /// Creates a duration from nanoseconds, clamped to ±``maximum``; NaN gives zero.
    package static func nanoseconds(_ nanoseconds: Double) -> Duration {
        Duration(nanoseconds, attosecondsPerUnit: 1_000_000_000)
    }

    /// The whole seconds and the remaining attoseconds, both with the sign of the duration.
    ///
    /// Seconds that exceed 64 bits are clamped.
    package var components: (seconds: Int64, attoseconds: Int64) {
        let (seconds, rest) = attoseconds.quotientAndRemainder(dividingBy: Self.attosecondsPerSecond)
        return (Int64(clamping: seconds), Int64(clamping: rest))
    }

    /// Returns the sum, clamped to ±``maximum``.
    package static func + (left: Duration, right: Duration) -> Duration {
        Duration(saturatingAttoseconds: left.attoseconds.addingSaturated(right.attoseconds))
    }

    /// Returns the difference, clamped to ±``maximum``.
    package static func - (left: Duration, right: Duration) -> Duration {
        Duration(saturatingAttoseconds: left.attoseconds.subtractingSaturated(right.attoseconds))
    }

    /// Adds a duration and clamps the result to ±``maximum``.
    package static func += (left: inout Duration, right: Duration) { left = left + right }

    /// Subtracts a duration and clamps the result to ±``maximum``.
    package static func -= (left: inout Duration, right: Duration) { left = left - right }

    /// Returns the product with an integer, clamped to ±``maximum``.
    package static func * <Factor: BinaryInteger>(left: Duration, right: Factor) -> Duration {
        Duration(saturatingAttoseconds: left.attoseconds.multipliedSaturated(by: Int128(clamping: right)))
    }

    /// Returns the product with a floating-point number, clamped to ±``maximum``; NaN gives zero.
    package static func * (left: Duration, right: Double) -> Duration {
        Duration(saturatingAttoseconds: Int128(saturating: Double(left.attoseconds) * right))
    }

    /// Returns the quotient by an integer, clamped to ±``maximum``; division by zero saturates.
    package static func / <Divisor: BinaryInteger>(left: Duration, right: Divisor) -> Duration {
        Duration(saturatingAttoseconds: left.attoseconds.dividedSaturated(by: Int128(clamping: right)))
    }

    /// Returns the quotient by a floating-point number, clamped to ±``maximum``; NaN gives zero.
    package static func / (left: Duration, right: Double) -> Duration {
        Duration(saturatingAttoseconds: Int128(saturating: Double(left.attoseconds) / right))
    }

    /// Returns the ratio of two durations, which is infinite or NaN if the right one is zero.
    package static func / (left: Duration, right: Duration) -> Double {
        Double(left.attoseconds) / Double(right.attoseconds)
    }

    /// Divides by a floating-point number and clamps the result to ±``maximum``; NaN gives zero.
    package static func /= (left: inout Duration, right: Double) { left = left / right }

    /// Multiplies by an integer and clamps the result to ±``maximum``.
    package static func *= <Factor: BinaryInteger>(left: inout Duration, right: Factor) { left = left * right }

    /// Divides by an integer and clamps the result to ±``maximum``; division by zero saturates.
    package static func /= <Divisor: BinaryInteger>(left: inout Duration, right: Divisor) { left = left / right }
}
