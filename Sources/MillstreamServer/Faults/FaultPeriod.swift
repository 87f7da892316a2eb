import MediaTiming
import PlaylistEditing

/// The period in which a fault applies, once or at regular intervals.
///
/// Times count from the start of the server, or from the last change of its faults.
struct FaultPeriod: Sendable, Hashable {
    /// The maximum of all times and of the interval, in seconds: about 31 years.
    static let maximumTime: Int64 = 1_000_000_000

    /// The first time of the period.
    private var start = Duration.zero
    /// The time after the last one of the period, or `nil` for a period without an end.
    private var end: Duration?
    /// The time from one start to the next, or `nil` for a single period.
    private var interval: Duration?

    /// Sets the start and the end from text such as `10...20`, `0:01:30...` or `...20`.
    ///
    /// - Returns: A Boolean value that indicates whether the text is a period that is not empty.
    mutating func setTimes(_ text: String) -> Bool {
        guard let times = PartialRange<MediaTime>(text) else { return false }
        let (low, high) = (times.low ?? .zero, times.high)
        guard Self.isAllowed(low), high.map({ Self.isAllowed($0) && low < $0 }) ?? true else { return false }
        start = low.duration
        end = high?.duration
        return true
    }

    /// Sets the interval from text such as `60` or `0:01:00`.
    ///
    /// - Returns: A Boolean value that indicates whether the text is a time above zero, within the maximum time.
    mutating func setInterval(_ text: String) -> Bool {
        guard let time = ClockTime.parse(text), time > .zero, Self.isAllowed(time) else { return false }
        interval = time.duration
        return true
    }

    /// Returns a Boolean value that indicates whether a time does not exceed the maximum.
    private static func isAllowed(_ time: MediaTime) -> Bool { time <= MediaTime(seconds: maximumTime) }

    /// The reason for which the period cannot be repeated at its interval, as a phrase; `nil` if it can.
    var problem: String? {
        guard let interval else { return nil }
        guard let end else { return "interval requires a period with an end, time=START...END" }
        return end - start < interval ? nil : "interval must be longer than the period from START to END of time"
    }

    /// Returns a Boolean value that indicates whether the fault applies at a time.
    ///
    /// - Parameter time: The time since the start of the server, or since the last change of its faults.
    /// - Returns: `true` within the period, and within each of its repetitions.
    func contains(_ time: Duration) -> Bool {
        guard time >= start else { return false }
        guard let end else { return true }
        guard let interval, interval > .zero else { return time < end }
        // Bounded: the interval is longer than zero.
        let position = (time - start).attoseconds % interval.attoseconds
        return position < (end - start).attoseconds
    }
}
