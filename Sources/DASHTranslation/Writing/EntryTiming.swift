import DASHManifest
import MediaTiming

/// The arithmetic of the times of segments, relative to the start of their period.
///
/// All implementations give the same times. ``TickTiming`` calculates with integers of 64 bits, which is faster than with
/// fractions; ``ExactTiming`` is for segments whose times have no common timescale of that size.
protocol EntryTiming {
    /// A time or a duration.
    associatedtype Time: AdditiveArithmetic, Comparable

    /// Returns the start and duration of the segment at an index, or `nil` if there is none.
    ///
    /// Successive calls should have successive indices.
    mutating func timing(at index: Int64) -> (start: Time, duration: Time)?
    /// Returns the time that a fraction of a second has here, which must be one with which the timing was created.
    func time(_ time: MediaTime) -> Time
    /// Returns the fraction of a second that a time is.
    func mediaTime(_ time: Time) -> MediaTime
    /// Returns a time in microseconds, rounded to the nearest integer.
    func microseconds(_ time: Time) -> Int64
    /// Returns starts of entries in a period that starts at a time on the timeline of the presentation.
    func starts(_ times: [Time], after origin: MediaTime) -> EntryStarts.Part
    /// Returns the product of a duration of at most a minute and a number of at most 1,000.
    func product(_ time: Time, _ count: Int64) -> Time
}

/// Times as fractions of a second.
struct ExactTiming: EntryTiming {
    let addressing: SegmentAddressing

    func timing(at index: Int64) -> (start: MediaTime, duration: MediaTime)? { addressing.timing(at: index) }
    func time(_ time: MediaTime) -> MediaTime { time }
    func mediaTime(_ time: MediaTime) -> MediaTime { time }
    func microseconds(_ time: MediaTime) -> Int64 { time.microseconds }
    func product(_ time: MediaTime, _ count: Int64) -> MediaTime { time * count }
    func starts(_ times: [MediaTime], after origin: MediaTime) -> EntryStarts.Part {
        EntryStarts.Part(origin: origin, times: .exact(times))
    }
}

/// Times as numbers of ticks, in a unit in which all times of a section are integers.
struct TickTiming: EntryTiming {
    private let times: SegmentTimes
    private let offset: Int64
    /// The ticks in a unit of the timescale of the segments.
    private let factor: Int64
    /// The ticks per second.
    private let rate: Int64
    /// The numerator and the denominator of the microseconds in a tick, in lowest terms.
    private let microsecondsPerTick: (value: Int64, divisor: Int64)
    private let cut: Int64?
    private var position = SegmentTimes.Position()

    /// The maximum number of ticks per second; a thousand minutes of them fit in 64 bits with room for sums.
    private static let maximumRate: Int64 = 1 << 40
    /// The maximum magnitude of a time in ticks; sums of three of them fit in 64 bits.
    private static let maximumTicks: Int64 = 1 << 60

    /// Creates the timing of a section, or `nil` if its times are not integers of a sufficient size.
    ///
    /// - Parameters:
    ///   - addressing: The addresses of the segments.
    ///   - others: Other times that ``time(_:)`` has to return.
    init?(_ addressing: SegmentAddressing, others: [MediaTime]) {
        guard let times = addressing.times, let bounds = times.bounds else { return nil }
        let cut = addressing.cuttingDuration
        var rate = addressing.timescale
        for time in others + (cut.map { [$0] } ?? []) {
            guard rate <= Self.maximumRate, time.timescale <= Self.maximumRate else { return nil }
            let divisor = Self.greatestCommonDivisor(rate, time.timescale)
            rate *|= time.timescale.dividedSaturated(by: divisor)
        }
        guard rate <= Self.maximumRate else { return nil }
        let factor = rate / max(1, addressing.timescale)
        let offset = addressing.presentationTimeOffset
        let extremes = [bounds.lowerBound, bounds.upperBound, offset].map { Int128($0) *| Int128(factor) }
        let given = (others + (cut.map { [$0] } ?? [])).map {
            Int128($0.value) *| Int128(rate.dividedSaturated(by: $0.timescale))
        }
        guard (extremes + given).allSatisfy({ $0.magnitude <= UInt128(Self.maximumTicks.magnitude) / 2 }) else {
            return nil
        }
        let divisor = Self.greatestCommonDivisor(1_000_000, rate)
        self.times = times
        self.offset = offset
        self.factor = factor
        self.rate = rate
        microsecondsPerTick = (Int64(1_000_000).dividedSaturated(by: divisor), rate.dividedSaturated(by: divisor))
        self.cut = cut.map { $0.value *| rate.dividedSaturated(by: $0.timescale) }
    }

    mutating func timing(at index: Int64) -> (start: Int64, duration: Int64)? {
        guard let entry = times.entry(at: index, near: &position) else { return nil }
        let start = (entry.start &- offset) &* factor
        var duration = entry.duration &* factor
        if let cut, start &+ duration > cut { duration = max(0, cut &- start) }
        return (start, duration)
    }

    func time(_ time: MediaTime) -> Int64 { time.value *| (rate / max(1, time.timescale)) }
    func mediaTime(_ time: Int64) -> MediaTime { MediaTime(value: time, timescale: rate) }
    func product(_ time: Int64, _ count: Int64) -> Int64 { time *| count }
    func starts(_ times: [Int64], after origin: MediaTime) -> EntryStarts.Part {
        EntryStarts.Part(origin: origin, times: .ticks(times, rate: rate))
    }

    func microseconds(_ time: Int64) -> Int64 {
        let (product, overflow) = time.multipliedReportingOverflow(by: microsecondsPerTick.value)
        // Longer times are rounded as all times that do not fit in 64 bits.
        guard !overflow, product > .min else { return mediaTime(time).microseconds }
        let (whole, part) = product.quotientAndRemainder(dividingBy: microsecondsPerTick.divisor)
        // The remainder is less than the divisor, which is at most `maximumRate`.
        let doubled = part &* 2
        let divisor = microsecondsPerTick.divisor
        return doubled >= divisor ? whole +| 1 : doubled < divisor.negatedSaturated() ? whole -| 1 : whole
    }

    private static func greatestCommonDivisor(_ first: Int64, _ second: Int64) -> Int64 {
        var (a, b) = (max(1, first), max(1, second))
        // Bounded: the loop ends before the divisor is zero.
        while b != 0 { (a, b) = (b, a % b) }
        return max(1, a)
    }
}
