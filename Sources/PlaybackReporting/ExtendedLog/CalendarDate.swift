import MediaTiming

/// A date and time in the Gregorian calendar, in the format of logs.
struct CalendarDate: Sendable, Hashable {
    /// The date in the form `YYYY-MM-DD`.
    let date: String
    /// The time in UTC in the form `HH:MM:SS.sss`, with at least three fractional digits.
    let time: String

    private static let secondsPerDay: Int128 = 86_400

    // Bounded: a duration of 128 bits of attoseconds has fewer than 2^67 seconds, to which a day is added.
    /// Converts a time to a date; `nil` outside of the years 0 to 9999, which have four digits.
    ///
    /// - Parameter moment: The time since 1970-01-01 00:00:00 UTC.
    init?(_ moment: Duration) {
        let attosecondsPerDay = Self.secondsPerDay * Duration.attosecondsPerSecond
        var (day, rest) = moment.attoseconds.quotientAndRemainder(dividingBy: attosecondsPerDay)
        if rest < 0 { (day, rest) = (day - 1, rest + attosecondsPerDay) }
        guard (Self.day(0, 1, 1)..<Self.day(10_000, 1, 1)).contains(day) else { return nil }
        date = Self.text(forDay: day)
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
        let days = day(year, month, dayOfMonth)
        // Otherwise February 30 would be accepted as a day in March.
        let spelling = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
        guard text(forDay: days) == spelling, let within = time.map(timeOfDay) ?? .zero else { return nil }
        // Bounded: a year has four digits.
        return Duration(attoseconds: days * secondsPerDay * Duration.attosecondsPerSecond) + within
    }

    // Bounded: hours, minutes and seconds are compared with their limits.
    private static func timeOfDay(_ text: String) -> Duration? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count),
            let hour = number(parts[0], 0...23),
            let minute = number(parts[1], 0...59)
        else { return nil }
        var result = Duration(attoseconds: (hour * 3_600 + minute * 60) * Duration.attosecondsPerSecond)
        if parts.count == 3 {
            guard let seconds = DecimalNumber(parts[2]) else { return nil }
            // A leap second is written as second 60.
            guard (0..<61 * Duration.attosecondsPerSecond).contains(seconds.scaledValue) else { return nil }
            result += Duration(attoseconds: seconds.scaledValue)
        }
        return result
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int128>) -> Int128? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let number = Int128(text)
        else { return nil }
        return range.contains(number) ? number : nil
    }

    private static func padded(_ number: Int128, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    // The year begins in March, so that the leap day is its last day; an era is 400 years or 146,097 days.

    // Bounded: years have four digits, and a duration fewer than 2^62 days; all products fit in Int128.
    /// Returns the number of days from 1970-01-01 to a date.
    private static func day(_ year: Int128, _ month: Int128, _ dayOfMonth: Int128) -> Int128 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + dayOfMonth - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    // Bounded: years have four digits, and a duration fewer than 2^62 days; all products fit in Int128.
    private static func text(forDay: Int128) -> String {
        let sinceMarch0 = forDay + 719_468
        let era = (sinceMarch0 >= 0 ? sinceMarch0 : sinceMarch0 - 146_096) / 146_097
        let dayOfEra = sinceMarch0 - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfYear - (153 * shifted + 2) / 5 + 1, 2))"
    }
}
