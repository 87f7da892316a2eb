import MediaTiming

extension Duration {
    /// Nanoseconds, at most 73 years either way, so that sums of two and their differences fit in 64 bits.
    var clampedNanoseconds: Int64 {
        let limit = Int64.max / 4
        return min(max(saturatingNanoseconds, limit.negatedSaturated()), limit)
    }

    /// Seconds for arithmetic, at most 73 years either way.
    var clampedSeconds: Double { Double(clampedNanoseconds) / 1_000_000_000 }
}
