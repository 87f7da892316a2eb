public import MediaTiming

/// Unrolls 33-bit timestamps of a 90 kHz clock, which begin again at zero after 26.5 hours (ISO/IEC 13818-1 §2.4.2.1).
///
/// Each timestamp is taken for the value nearest to the one before. So a stream may run for years, and may also step
/// backwards, as the presentation times of B-frames do.
public struct TimestampWrap: Sendable, Hashable {
    /// How many values there are: 2^33.
    public static let period: Int64 = 1 << 33
    /// Units a second.
    public static let timescale: Int64 = 90_000

    /// The last timestamp, unrolled; `nil` before the first.
    public private(set) var last: Int64?

    /// Makes an unrolling that takes its first timestamp near `reference`, or as it is without one.
    ///
    /// The reference is in units of 1/90000 s and may be any unrolled value.
    public init(near reference: Int64? = nil) {
        last = reference
    }

    /// The unrolled value of the next timestamp, of which the lowest 33 bits count.
    public mutating func unroll(_ timestamp: UInt64) -> Int64 {
        let value = last.map { Self.unroll(timestamp, near: $0) } ?? Int64(clamping: timestamp & 0x1_FFFF_FFFF)
        last = value
        return value
    }

    /// The value with the same lowest 33 bits that is nearest to a reference; of two equally near ones the later.
    ///
    /// Near the ends of `Int64` the result stays inside of it and is then no longer the nearest.
    public static func unroll(_ timestamp: UInt64, near reference: Int64) -> Int64 {
        let masked = Int64(clamping: timestamp & 0x1_FFFF_FFFF)
        // The difference of the two in -2^32 < d <= 2^32, computed on the lowest 33 bits alone.
        var step = (masked &- reference) & (period -| 1)
        if step > period / 2 { step -|= period }
        let (value, overflow) = reference.addingReportingOverflow(step)
        return overflow ? value &- (step > 0 ? period : period.negatedSaturated()) : value
    }

    /// The time of an unrolled value.
    public static func time(_ unrolled: Int64) -> MediaTime { MediaTime(value: unrolled, timescale: timescale) }
}
