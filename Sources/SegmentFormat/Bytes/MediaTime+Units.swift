import MediaTiming

extension MediaTime {
    /// Returns the time of `value` units; values beyond 64 bits saturate, and a timescale of zero counts as 1.
    static func units(_ value: UInt64, per timescale: UInt32) -> MediaTime {
        MediaTime(value: Int64(clamping: value), timescale: Int64(max(timescale, 1)))
    }

    static func units(_ value: Int64, per timescale: UInt32) -> MediaTime {
        MediaTime(value: value, timescale: Int64(max(timescale, 1)))
    }
}

extension MediaTime {
    /// Returns the time in units of the given timescale, rounded up; results beyond 64 bits saturate.
    func units(per timescale: UInt32) -> Int64 {
        let (quotient, remainder) = (Int128(value) *| Int128(timescale)).quotientAndRemainder(
            dividingBy: Int128(self.timescale)
        )
        return Int64(clamping: remainder > 0 ? quotient +| 1 : quotient)
    }
}
