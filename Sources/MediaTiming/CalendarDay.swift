/// A day in the proleptic Gregorian calendar.
package struct CalendarDay: Sendable, Hashable {
    /// The year; the year 0 is the one before the year 1.
    package let year: Int
    /// The month, from 1 to 12.
    package let month: Int
    /// The day of the month, from 1.
    ///
    /// Days after the end of the month are those of the next month.
    package let day: Int

    /// Creates a day.
    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    // The year begins in March, so that the leap day is its last day; an era is 400 years or 146,097 days.

    /// Creates a day from the number of days since 1970-01-01, which is negative for earlier days.
    ///
    /// - Parameter days: The number of days, from -2^60 to 2^60.
    package init(daysSince1970 days: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        month = monthIndex + (monthIndex < 10 ? 3 : -9)
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * monthIndex + 2) / 5 + 1
    }

    /// The number of days since 1970-01-01, negative for earlier days.
    package var daysSince1970: Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// A Boolean value that indicates whether the calendar has the day, unlike February 30.
    package var exists: Bool { self == CalendarDay(daysSince1970: daysSince1970) }
}

extension CalendarDay: CustomStringConvertible {
    /// The day in the form `YYYY-MM-DD`, with more digits for later years.
    package var description: String {
        "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
