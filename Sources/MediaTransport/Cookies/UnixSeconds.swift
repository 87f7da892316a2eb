/// A time in whole seconds since 1970-01-01T00:00:00Z, without leap seconds.
///
/// The caller passes the current time; cookies have no clock.
public struct UnixSeconds: Sendable, Hashable {
    /// The number of seconds; negative before 1970.
    public let rawValue: Int64

    /// Creates a time from a number of seconds since 1970-01-01T00:00:00Z.
    public init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Returns the time the given number of seconds later, limited to the range of `Int64`.
    func adding(seconds: Int64) -> UnixSeconds {
        let (sum, isTooLarge) = rawValue.addingReportingOverflow(seconds)
        guard isTooLarge else { return UnixSeconds(sum) }
        return UnixSeconds(seconds > 0 ? .max : .min)
    }
}

extension UnixSeconds: Comparable {
    /// Returns a Boolean value that indicates whether a time is earlier than another.
    public static func < (left: UnixSeconds, right: UnixSeconds) -> Bool { left.rawValue < right.rawValue }
}
