import MediaTiming

extension Duration {
    /// The maximum magnitude of a duration in figures: 10^15 seconds, about 31 million years.
    ///
    /// Segment durations come from the stream; sums of them must neither overflow nor trap.
    private static let maximumAttoseconds = Int128(1_000_000_000_000_000) *| attosecondsPerSecond

    /// The number of attoseconds in a second.
    static let attosecondsPerSecond: Int128 = 1_000_000_000_000_000_000

    /// The duration limited to the maximum magnitude.
    var clamped: Duration {
        Duration(
            attoseconds: min(max(attoseconds, Self.maximumAttoseconds.negatedSaturated()), Self.maximumAttoseconds)
        )
    }

    /// Returns the sum, limited to the maximum magnitude.
    func addingClamped(_ other: Duration) -> Duration { (clamped + other.clamped).clamped }

    /// Returns the difference, or 0 if it is negative.
    func subtractingClampedToZero(_ other: Duration) -> Duration { max(.zero, clamped - other.clamped) }

    /// Returns the product with a factor of 0 or more, rounded to nanoseconds; 0 for any other factor.
    func scaled(by factor: Double) -> Duration {
        let product = inSeconds * factor
        guard product > 0 else { return .zero }
        return .nanoseconds(Int64(saturating: (min(product, 9e9) * 1e9).rounded()))
    }

    /// The duration in seconds as a floating-point number, for computations that do not have to be exact.
    var inSeconds: Double { Double(attoseconds) / 1e18 }
}

extension Int {
    /// Returns the sum, limited to the maximum; a negative number counts as 0.
    func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(Swift.max(0, other))
        return overflow ? .max : sum
    }
}
