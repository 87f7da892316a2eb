import MediaTiming

extension Duration {
    /// As far as a figure goes either way: 10^15 seconds, 31 million years.
    ///
    /// Streams say how long their segments are; sums of what they say must neither wrap around nor trap.
    private static let mostAttoseconds = Int128(1_000_000_000_000_000) *| attosecondsPerSecond

    /// Attoseconds in a second.
    static let attosecondsPerSecond: Int128 = 1_000_000_000_000_000_000

    /// The duration, or the most that figures go to.
    var clamped: Duration {
        Duration(attoseconds: min(max(attoseconds, Self.mostAttoseconds.negatedSaturated()), Self.mostAttoseconds))
    }

    /// The sum, within what figures go to.
    func addingClamped(_ other: Duration) -> Duration { (clamped + other.clamped).clamped }

    /// The difference, 0 where it would be negative.
    func subtractingToZero(_ other: Duration) -> Duration { max(.zero, clamped - other.clamped) }

    /// The product with a factor of 0 or more, to the nanosecond; 0 for any other factor.
    func scaled(by factor: Double) -> Duration {
        let product = inSeconds * factor
        guard product > 0 else { return .zero }
        return .nanoseconds(Int64(saturating: (min(product, 9e9) * 1e9).rounded()))
    }

    /// Seconds for arithmetic where rounding does not matter.
    var inSeconds: Double { Double(attoseconds) / 1e18 }
}

extension Int {
    /// The sum, or the most that fits; negative numbers count as 0.
    func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(Swift.max(0, other))
        return overflow ? .max : sum
    }
}
