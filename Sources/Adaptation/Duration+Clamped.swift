import MediaTiming

extension Duration {
    /// The duration in nanoseconds, limited to ±73 years so that the sum or difference of two fits in 64 bits.
    var clampedNanoseconds: Int64 {
        let limit = Int64.max / 4
        return min(max(saturatingNanoseconds, limit.negatedSaturated()), limit)
    }

    /// The duration in seconds for floating-point arithmetic, limited to ±73 years.
    var clampedSeconds: Double { Double(clampedNanoseconds) / 1_000_000_000 }
}
