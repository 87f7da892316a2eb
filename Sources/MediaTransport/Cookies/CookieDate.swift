import MediaTiming

/// A lenient parser for the date of an `Expires` attribute (RFC 6265 §5.1.1).
///
/// The tokens may be in any order; the first token that matches the time is the time, and so on. Names of weekdays and
/// time zones are ignored, because the date is always in UTC.
struct CookieDate {
    private var time: (hour: Int, minute: Int, second: Int)?
    private var day: Int?
    private var month: Int?
    private var year: Int?

    /// Parses a date; `nil` if a component is missing or the date does not exist.
    static func parse(_ text: some Collection<UInt8>) -> UnixSeconds? {
        var date = CookieDate()
        for word in text.split(whereSeparator: isDelimiter) { date.parseToken(Array(word)) }
        return date.moment
    }

    /// Assigns a token to the first missing component that it matches.
    private mutating func parseToken(_ word: [UInt8]) {
        if time == nil, let found = Self.time(word) {
            time = found
        } else if day == nil, let found = Self.number(word, digits: 1...2) {
            day = found
        } else if month == nil, let found = Self.month(word) {
            month = found
        } else if year == nil, let found = Self.number(word, digits: 2...4) {
            year = found
        }
    }

    private var moment: UnixSeconds? {
        guard let time, let day, let month, var year else { return nil }
        switch year {
        case 70...99: year += 1900
        case 0...69: year += 2000
        default: break
        }
        let date = CalendarDay(year: year, month: month, day: day)
        guard year >= 1601, date.exists, time.hour <= 23, time.minute <= 59, time.second <= 59 else { return nil }
        // Bounded: hours, minutes, and seconds were compared with their limits.
        let seconds = time.hour * 3600 + time.minute * 60 + time.second
        // Bounded: a year has at most four digits.
        return UnixSeconds(Int64(date.daysSince1970) * 86_400 + Int64(seconds))
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Returns the number at the start of a token if it has an allowed number of digits; the characters after it are
    /// ignored.
    private static func number(_ word: some Collection<UInt8>, digits: ClosedRange<Int>) -> Int? {
        let figures = word.prefix { $0.isASCIIDigit }
        guard digits.contains(figures.count) else { return nil }
        // Bounded: the number has at most four digits.
        return figures.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Parses three numbers that are separated by colons.
    private static func time(_ word: [UInt8]) -> (hour: Int, minute: Int, second: Int)? {
        let fields = word.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, fields[0].allSatisfy(\.isASCIIDigit), fields[1].allSatisfy(\.isASCIIDigit),
            let hour = number(fields[0], digits: 1...2),
            let minute = number(fields[1], digits: 1...2),
            let second = number(fields[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static let monthNames = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private static func month(_ word: [UInt8]) -> Int? {
        let name = word.prefix(3).map(\.asciiLowercased)
        return monthNames.firstIndex { $0.utf8.elementsEqual(name) }.map { $0 + 1 }
    }
}
