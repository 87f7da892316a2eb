package import MediaTiming

/// A converter that unwraps 33-bit timestamps at 90 kHz, which wrap to zero after 26.5 hours (ISO/IEC 13818-1
/// §2.4.2.1).
///
/// Each timestamp is converted to the 64-bit value nearest to the previous one. Therefore streams of any duration are
/// supported, and timestamps may also decrease, as the presentation timestamps of B-frames do.
package struct TimestampUnwrapper: Sendable, Hashable {
    /// The number of distinct timestamps: 2^33.
    package static let period: Int64 = 1 << 33
    /// The clock rate, in units per second.
    package static let timescale: Int64 = 90_000

    /// The last unwrapped timestamp, in units of 1/90000 s; before the first timestamp, the reference or `nil`.
    package private(set) var last: Int64?

    /// Creates an unwrapper whose first result is the value nearest to `reference`.
    ///
    /// - Parameter reference: Any unwrapped value, in units of 1/90000 s. If it is `nil`, the first timestamp is
    ///   returned unchanged.
    package init(near reference: Int64? = nil) {
        last = reference
    }

    /// Returns the unwrapped value of the next timestamp, of which only the lowest 33 bits are used.
    package mutating func unwrap(_ timestamp: UInt64) -> Int64 {
        let value = last.map { Self.unwrap(timestamp, near: $0) } ?? Int64(clamping: timestamp & 0x1_FFFF_FFFF)
        last = value
        return value
    }

    /// Returns the value nearest to `reference` that has the same lowest 33 bits as `timestamp`.
    ///
    /// Of two equally near values, the greater one is returned. Near the limits of `Int64` the result is the nearest
    /// value that can be represented, which may be more than half a period away.
    package static func unwrap(_ timestamp: UInt64, near reference: Int64) -> Int64 {
        let masked = Int64(clamping: timestamp & 0x1_FFFF_FFFF)
        // Difference d with -2^32 < d <= 2^32, computed from the lowest 33 bits alone.
        var step = (masked &- reference) & (period -| 1)
        if step > period / 2 { step -|= period }
        let (value, overflow) = reference.addingReportingOverflow(step)
        return overflow ? value &- (step > 0 ? period : period.negatedSaturated()) : value
    }

    /// Returns the media time of an unwrapped timestamp.
    package static func mediaTime(of unrolled: Int64) -> MediaTime { MediaTime(value: unrolled, timescale: timescale) }
}
