/// A moment: whole seconds since the beginning of 1970 in UTC, leap seconds not counted.
///
/// It is handed in by whoever has a clock; cookies never read one.
public struct UnixSeconds: Sendable, Hashable {
    /// The number of seconds; negative before 1970.
    public let rawValue: Int64

    /// Makes a moment of a number of seconds since 1970.
    public init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// The moment this many seconds later; at the end of the range it stops.
    func adding(seconds: Int64) -> UnixSeconds {
        let (sum, isTooLarge) = rawValue.addingReportingOverflow(seconds)
        guard isTooLarge else { return UnixSeconds(sum) }
        return UnixSeconds(seconds > 0 ? .max : .min)
    }
}

extension UnixSeconds: Comparable {
    /// Whether a moment is earlier than another.
    public static func < (left: UnixSeconds, right: UnixSeconds) -> Bool { left.rawValue < right.rawValue }
}
