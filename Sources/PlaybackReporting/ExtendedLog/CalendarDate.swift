import MediaTiming

/// A date and time in the Gregorian calendar, in the format of logs.
struct CalendarDate: Sendable, Hashable {
    /// The date in the form `YYYY-MM-DD`.
    let date: String
    /// The time in UTC in the form `HH:MM:SS.sss`, with at least three fractional digits.
    let time: String

    private static let secondsPerDay: Int128 = 86_400
    /// The days of the years 0 to 9999, as numbers of days since 1970-01-01.
    private static let days: Range<Int> = {
        let start = CalendarDay(year: 0, month: 1, day: 1).daysSince1970
        return start..<CalendarDay(year: 10_000, month: 1, day: 1).daysSince1970
    }()

    // Bounded: a duration of 128 bits of attoseconds has fewer than 2^67 seconds, to which a day is added.
    /// Creates the date of a time; `nil` outside of the years 0 to 9999, which have four digits.
    ///
    /// - Parameter moment: The time since 1970-01-01 00:00:00 UTC.
    init?(_ moment: Duration) {
        let attosecondsPerDay = Self.secondsPerDay * Duration.attosecondsPerSecond
        var (day, rest) = moment.attoseconds.quotientAndRemainder(dividingBy: attosecondsPerDay)
        if rest < 0 { (day, rest) = (day - 1, rest + attosecondsPerDay) }
        guard let days = Int(exactly: day), Self.days.contains(days) else { return nil }
        date = CalendarDay(daysSince1970: days).description
        let (minutes, within) = rest.quotientAndRemainder(dividingBy: 60 * Duration.attosecondsPerSecond)
        let seconds = Duration(attoseconds: within).decimalSeconds(minimumFractionDigits: 3)
        let padding = within < 10 * Duration.attosecondsPerSecond ? "0" : ""
        time = "\(Self.padded(minutes / 60, 2)):\(Self.padded(minutes % 60, 2)):\(padding)\(seconds)"
    }

    /// Parses a date and a time as the time since 1970-01-01 00:00:00 UTC; `nil` if they are invalid.
    ///
    /// The date is `YYYY-MM-DD`, or with slashes as AVFoundation writes it. The time is `HH:MM`, `HH:MM:SS` or
    /// `HH:MM:SS.sss` in UTC, with a default of midnight.
    static func timeSince1970(date: String, time: String?) -> Duration? {
        let parts = date.split(separator: date.contains("/") ? "/" : "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].utf8.count == 4,
            let year = number(parts[0], 0...9_999),
            let month = number(parts[1], 1...12),
            let dayOfMonth = number(parts[2], 1...31)
        else { return nil }
        let day = CalendarDay(year: year, month: month, day: dayOfMonth)
        // Otherwise February 30 would be accepted as a day in March.
        guard day.exists, let within = time.map(timeOfDay) ?? .zero else { return nil }
        // Bounded: a year has four digits.
        return Duration(attoseconds: Int128(day.daysSince1970) * secondsPerDay * Duration.attosecondsPerSecond) + within
    }

    // Bounded: hours, minutes and seconds are compared with their limits.
    private static func timeOfDay(_ text: String) -> Duration? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count),
            let hour = number(parts[0], 0...23),
            let minute = number(parts[1], 0...59)
        else { return nil }
        var result = Duration(attoseconds: Int128(hour * 3_600 + minute * 60) * Duration.attosecondsPerSecond)
        if parts.count == 3 {
            guard let seconds = DecimalNumber(parts[2]) else { return nil }
            // A leap second is written as second 60.
            guard (0..<61 * Duration.attosecondsPerSecond).contains(seconds.scaledValue) else { return nil }
            result += Duration(attoseconds: seconds.scaledValue)
        }
        return result
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let number = Int(text)
        else { return nil }
        return range.contains(number) ? number : nil
    }

    private static func padded(_ number: Int128, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
