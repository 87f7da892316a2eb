package import MediaTiming

/// A date and time of day of XML Schema, such as `2024-01-01T00:00:00Z` (XML Schema Part 2 §3.2.7).
package struct ManifestDate: Sendable, Hashable {
    /// The seconds since 1970-01-01T00:00:00Z, exact to the digits written.
    package let sinceEpoch: MediaTime
    /// A Boolean value that indicates whether the text names a time zone; without one, the time counts as UTC.
    package let hasTimeZone: Bool

    /// Creates a date from a number of seconds since 1970-01-01T00:00:00Z.
    package init(sinceEpoch: MediaTime) {
        self.sinceEpoch = sinceEpoch
        hasTimeZone = true
    }

    /// Creates a date; the result is `nil` if the text is not a date and time of day.
    package init?(_ text: String) {
        var rest = ManifestNumber.trimmed(text).utf8[...]
        guard let year = Self.number(&rest, 4), Self.skip(&rest, "-"), let month = Self.number(&rest, 2),
            Self.skip(&rest, "-"), let day = Self.number(&rest, 2), Self.skip(&rest, "T"),
            let hour = Self.number(&rest, 2), Self.skip(&rest, ":"), let minute = Self.number(&rest, 2),
            (1...12).contains(month), (1...31).contains(day), hour <= 24, minute < 60
        else { return nil }
        var second = MediaTime.zero
        if Self.skip(&rest, ":") {
            let digits = rest.prefix { $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            rest = rest.dropFirst(digits.count)
            guard let value = MediaTime(decimal: String(Substring(digits))), value < MediaTime(seconds: 61) else {
                return nil
            }
            second = value
        }
        var zoneMinutes: Int64 = 0
        var hasZone = Self.skip(&rest, "Z")
        if !hasZone, let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
            rest = rest.dropFirst()
            guard let hours = Self.number(&rest, 2) else { return nil }
            _ = Self.skip(&rest, ":")
            // Bounded: two numbers of two digits.
            zoneMinutes = (hours * 60 + (Self.number(&rest, 2) ?? 0)) * (sign == UInt8(ascii: "-") ? -1 : 1)
            hasZone = true
        }
        guard rest.isEmpty else { return nil }
        let days = Int64(CalendarDay(year: Int(year), month: Int(month), day: Int(day)).daysSince1970)
        // Bounded: a year has four digits, and the other numbers have two.
        let minutes = days * 1_440 + hour * 60 + minute - zoneMinutes
        // Bounded: a year has four digits.
        sinceEpoch = MediaTime(seconds: minutes * 60) + second
        hasTimeZone = hasZone
    }

    private static func number(_ rest: inout Substring.UTF8View, _ count: Int) -> Int64? {
        var result: Int64 = 0
        for _ in 0..<count {
            guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            // Bounded: callers read at most four digits.
            result = result * 10 + Int64(byte - UInt8(ascii: "0"))
            rest = rest.dropFirst()
        }
        return result
    }

    private static func skip(_ rest: inout Substring.UTF8View, _ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }
}
