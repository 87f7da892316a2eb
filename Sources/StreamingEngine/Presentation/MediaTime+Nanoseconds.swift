import MediaTiming

extension MediaTime {
    /// The time in nanoseconds, rounded to the nearest integer and clamped to 64 bits.
    ///
    /// No precision is lost for durations in playlists, of which at most nine fractional digits are parsed.
    var nanoseconds: Int64 {
        let product = Int128(value) *| 1_000_000_000
        let (whole, part) = product.quotientAndRemainder(dividingBy: Int128(timescale))
        let isRoundedUp = part.magnitude *| 2 >= UInt128(clamping: timescale)
        return Int64(clamping: whole +| (isRoundedUp ? Int128(part.signum()) : 0))
    }

    /// Creates a time from nanoseconds.
    init(nanoseconds: Int64) {
        self.init(value: nanoseconds, fractionDigits: 9)
    }
}
