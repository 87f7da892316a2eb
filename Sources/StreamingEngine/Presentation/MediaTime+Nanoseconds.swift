import MediaTiming

extension MediaTime {
    /// The time in whole nanoseconds, rounded to the nearest one; what does not fit in 64 bits is clamped.
    ///
    /// Playlists count at most nine digits behind the point, so nothing they say is lost.
    var nanoseconds: Int64 {
        let product = Int128(value) *| 1_000_000_000
        let (whole, part) = product.quotientAndRemainder(dividingBy: Int128(timescale))
        let isRoundedUp = part.magnitude *| 2 >= UInt128(clamping: timescale)
        return Int64(clamping: whole +| (isRoundedUp ? Int128(part.signum()) : 0))
    }

    /// The time of so many nanoseconds.
    init(nanoseconds: Int64) {
        self.init(value: nanoseconds, fractionDigits: 9)
    }
}
