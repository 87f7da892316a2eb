// Durations that never trap.
//
// The operators and factories below have the signatures of the standard library's, and take their place wherever this
// module is imported: within the package, arithmetic with durations saturates. The standard library's own trap where
// a result leaves 128 bits of attoseconds, and `components` does where the whole seconds leave 64 bits. A playlist
// can reach both bounds with a few lines. `Scripts/check-numbers` reports uses of the ones that trap.

extension Duration {
    /// The longest duration that saturating arithmetic gives: 2^63 − 1 seconds.
    ///
    /// The whole seconds of every duration between this and its negative fit in 64 bits, as `components` requires.
    package static let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)

    /// Attoseconds in a second.
    package static let attosecondsPerSecond: Int128 = 1_000_000_000_000_000_000

    /// The attoseconds of ``longest``.
    private static let mostAttoseconds = Int128(Int64.max) *| attosecondsPerSecond

    /// Creates a duration of attoseconds within ±``longest``.
    package init(saturatingAttoseconds attoseconds: Int128) {
        self.init(attoseconds: min(max(attoseconds, Self.mostAttoseconds.negatedSaturated()), Self.mostAttoseconds))
    }

    /// Creates a duration of a number of units within ±``longest``, to the attosecond.
    private init(_ count: Double, attosecondsPerUnit unit: Int128) {
        // The fraction apart: a product with 10^18 would lose its last digits.
        let whole = count.rounded(.towardZero)
        let fraction = Int128(saturating: ((count - whole) * Double(unit)).rounded())
        self.init(
            saturatingAttoseconds: Int128(saturating: whole).multipliedSaturated(by: unit).addingSaturated(fraction)
        )
    }

    /// The duration within ±``longest``.
    package var saturated: Duration { Duration(saturatingAttoseconds: attoseconds) }

    /// The duration in seconds, for arithmetic where rounding does not matter.
    package var inSeconds: Double { Double(attoseconds) / 1e18 }

    /// The duration in nanoseconds, rounded toward zero, or the bound of 64 bits beyond which it lies.
    package var saturatingNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

    /// Creates a duration of seconds; what lies beyond ±``longest`` saturates, NaN gives zero.
    package static func seconds(_ seconds: Double) -> Duration {
        Duration(seconds, attosecondsPerUnit: attosecondsPerSecond)
    }

    /// Creates a duration of milliseconds; what lies beyond ±``longest`` saturates, NaN gives zero.
    package static func milliseconds(_ milliseconds: Double) -> Duration {
        Duration(milliseconds, attosecondsPerUnit: 1_000_000_000_000_000)
    }

    /// Creates a duration of microseconds; what lies beyond ±``longest`` saturates, NaN gives zero.
    package static func microseconds(_ microseconds: Double) -> Duration {
        Duration(microseconds, attosecondsPerUnit: 1_000_000_000_000)
    }

    /// Creates a duration of nanoseconds; what lies beyond ±``longest`` saturates, NaN gives zero.
    package static func nanoseconds(_ nanoseconds: Double) -> Duration {
        Duration(nanoseconds, attosecondsPerUnit: 1_000_000_000)
    }

    /// The whole seconds and the attoseconds of the rest, both with the sign of the duration.
    ///
    /// Seconds beyond 64 bits saturate.
    package var components: (seconds: Int64, attoseconds: Int64) {
        let (seconds, rest) = attoseconds.quotientAndRemainder(dividingBy: Self.attosecondsPerSecond)
        return (Int64(clamping: seconds), Int64(clamping: rest))
    }

    /// Returns the sum, within ±``longest``.
    package static func + (left: Duration, right: Duration) -> Duration {
        Duration(saturatingAttoseconds: left.attoseconds.addingSaturated(right.attoseconds))
    }

    /// Returns the difference, within ±``longest``.
    package static func - (left: Duration, right: Duration) -> Duration {
        Duration(saturatingAttoseconds: left.attoseconds.subtractingSaturated(right.attoseconds))
    }

    /// Adds a duration, within ±``longest``.
    package static func += (left: inout Duration, right: Duration) { left = left + right }

    /// Subtracts a duration, within ±``longest``.
    package static func -= (left: inout Duration, right: Duration) { left = left - right }

    /// Returns the product with an integer, within ±``longest``.
    package static func * <Factor: BinaryInteger>(left: Duration, right: Factor) -> Duration {
        Duration(saturatingAttoseconds: left.attoseconds.multipliedSaturated(by: Int128(clamping: right)))
    }

    /// Returns the product with a floating-point number, within ±``longest``; NaN gives zero.
    package static func * (left: Duration, right: Double) -> Duration {
        Duration(saturatingAttoseconds: Int128(saturating: Double(left.attoseconds) * right))
    }

    /// Returns the quotient by an integer, within ±``longest``; division by zero saturates.
    package static func / <Divisor: BinaryInteger>(left: Duration, right: Divisor) -> Duration {
        Duration(saturatingAttoseconds: left.attoseconds.dividedSaturated(by: Int128(clamping: right)))
    }

    /// Returns the quotient by a floating-point number, within ±``longest``; NaN gives zero.
    package static func / (left: Duration, right: Double) -> Duration {
        Duration(saturatingAttoseconds: Int128(saturating: Double(left.attoseconds) / right))
    }

    /// Returns the ratio of two durations; not finite where the right one is zero.
    package static func / (left: Duration, right: Duration) -> Double {
        Double(left.attoseconds) / Double(right.attoseconds)
    }

    /// Divides by a floating-point number, within ±``longest``; NaN gives zero.
    package static func /= (left: inout Duration, right: Double) { left = left / right }

    /// Multiplies by an integer, within ±``longest``.
    package static func *= <Factor: BinaryInteger>(left: inout Duration, right: Factor) { left = left * right }

    /// Divides by an integer, within ±``longest``; division by zero saturates.
    package static func /= <Divisor: BinaryInteger>(left: inout Duration, right: Divisor) { left = left / right }
}
