public import MediaTiming

/// A date and time of day as in a playlist: ISO 8601 with a time zone (RFC 8216bis §4.4.4.6).
public struct ProgramDateTime: Sendable, Hashable {
    /// The seconds since 1970-01-01T00:00:00Z, exact to the digits written.
    public let sinceEpoch: MediaTime
    /// The time zone as written, in minutes east of UTC, or `nil` if there was none, which counts as UTC.
    public let zoneMinutes: Int?

    /// Creates a date from a number of seconds.
    public init(sinceEpoch: MediaTime, zoneMinutes: Int? = 0) {
        self.sinceEpoch = sinceEpoch
        self.zoneMinutes = zoneMinutes
    }

    /// Creates a date from text of the form `YYYY-MM-DDThh:mm[:ss[.fraction]][Z|±hh:mm|±hhmm|±hh]`.
    ///
    /// A space is accepted in place of the T, and lowercase letters are accepted. The result is `nil` for any other
    /// text.
    public init?(_ text: some StringProtocol) {
        self.init(Array(text.utf8).span)
    }

    /// Creates a date from text of the same form in UTF-8.
    init?(_ bytes: Span<UInt8>) {
        var reader = DigitReader(bytes)
        guard let year = reader.number(4, in: bytes), reader.skip("-", in: bytes),
            let month = reader.number(2, in: bytes), reader.skip("-", in: bytes),
            let day = reader.number(2, in: bytes), (1...12).contains(month), (1...31).contains(day),
            reader.skip("T", in: bytes) || reader.skip("t", in: bytes) || reader.skip(" ", in: bytes),
            let hour = reader.number(2, in: bytes), reader.skip(":", in: bytes),
            let minute = reader.number(2, in: bytes), hour <= 24, minute < 60
        else { return nil }
        guard let second = reader.skip(":", in: bytes) ? reader.decimal(in: bytes) : .zero,
            second < MediaTime(seconds: 61)
        else { return nil }
        if reader.skip("Z", in: bytes) || reader.skip("z", in: bytes) {
            zoneMinutes = 0
        } else if let sign = reader.sign(in: bytes) {
            guard let hours = reader.number(2, in: bytes) else { return nil }
            _ = reader.skip(":", in: bytes)
            // Bounded: two numbers of two digits.
            zoneMinutes = sign * (hours * 60 + (reader.number(2, in: bytes) ?? 0))
        } else {
            zoneMinutes = nil
        }
        guard reader.isAtEnd else { return nil }
        let days = CalendarDay(year: year, month: month, day: day).daysSince1970
        // Bounded: a year has four digits, the other numbers have two each.
        let minutes = days * 1440 + hour * 60 + minute - (zoneMinutes ?? 0)
        // Bounded: a year has four digits.
        sinceEpoch = MediaTime(seconds: Int64(minutes) * 60) + second
    }

    /// Returns the date that is `time` later.
    public func advanced(by time: MediaTime) -> ProgramDateTime {
        ProgramDateTime(sinceEpoch: sinceEpoch + time, zoneMinutes: zoneMinutes)
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

extension ProgramDateTime: CustomStringConvertible {
    /// The date in ISO 8601 with the time zone as written and at least three decimal places of the seconds.
    public var description: String {
        // Bounded: the offset of a zone is less than 100 hours.
        let local = sinceEpoch + MediaTime(seconds: Int64(zoneMinutes ?? 0) * 60)
        // An extrapolated date can be as distant as the largest `MediaTime`, which exceeds the range of the calendar
        // computation.
        let maximumSeconds = 1 << 60
        // Bounded: a timescale is positive.
        let (quotient, remainder) = (local.value / local.timescale, local.value % local.timescale)
        let whole = min(max(Int(quotient), maximumSeconds.negatedSaturated()), maximumSeconds) - (remainder < 0 ? 1 : 0)
        let fraction = (local - MediaTime(seconds: Int64(whole))).description.dropFirst(2)
        let days = whole >= 0 ? whole / 86_400 : (whole - 86_399) / 86_400
        // Bounded: the product is not farther from zero than the whole seconds.
        let second = whole - days * 86_400
        var text = CalendarDay(daysSince1970: days).description
        text += "T\(Self.padded(second / 3600, 2)):\(Self.padded(second / 60 % 60, 2)):\(Self.padded(second % 60, 2))"
        text += "." + fraction + String(repeating: "0", count: max(0, 3 - fraction.count))
        guard let zoneMinutes else { return text }
        if zoneMinutes == 0 { return text + "Z" }
        let zone = abs(zoneMinutes)
        return text + (zoneMinutes < 0 ? "-" : "+") + Self.padded(zone / 60, 2) + ":" + Self.padded(zone % 60, 2)
    }
}

/// A reader of fixed-width numbers from the front of a text.
private struct DigitReader {
    private var position: Int
    private let end: Int

    init(_ bytes: Span<UInt8>) {
        let range = bytes.trimmingSpaces(0..<bytes.count)
        position = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { position == end }

    mutating func number(_ digits: Int, in bytes: Span<UInt8>) -> Int? {
        guard end - position >= digits else { return nil }
        var number = 0
        for index in position..<(position + digits) {
            guard bytes[index].isDigit else { return nil }
            // Bounded: at most four digits, each compared with both ends.
            number = number * 10 + Int(bytes[index] - UInt8(ascii: "0"))
        }
        position += digits
        return number
    }

    mutating func decimal(in bytes: Span<UInt8>) -> MediaTime? {
        let start = position
        while position < end, bytes[position].isDigit || bytes[position] == UInt8(ascii: ".") { position += 1 }
        return DecimalDigits(bytes.extracting(start..<position)).map { MediaTime($0) }
    }

    mutating func skip(_ character: Unicode.Scalar, in bytes: Span<UInt8>) -> Bool {
        guard position < end, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func sign(in bytes: Span<UInt8>) -> Int? {
        skip("+", in: bytes) ? 1 : skip("-", in: bytes) ? -1 : nil
    }
}
