import MediaTiming

extension MediaTime {
    /// A time of so many units; units beyond 64 bits saturate, a timescale of zero counts as one unit a second.
    static func units(_ value: UInt64, per timescale: UInt32) -> MediaTime {
        MediaTime(value: Int64(clamping: value), timescale: Int64(max(timescale, 1)))
    }

    static func units(_ value: Int64, per timescale: UInt32) -> MediaTime {
        MediaTime(value: value, timescale: Int64(max(timescale, 1)))
    }
}

extension MediaTime {
    /// The time in whole units, rounded up; what leaves 64 bits stops at their end.
    func units(per timescale: UInt32) -> Int64 {
        let (quotient, remainder) = (Int128(value) *| Int128(timescale)).quotientAndRemainder(
            dividingBy: Int128(self.timescale)
        )
        return Int64(clamping: remainder > 0 ? quotient +| 1 : quotient)
    }
}
