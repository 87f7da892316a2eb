package import MediaTiming

/// A duration of XML Schema, such as `P1DT2H30M0.5S` (XML Schema Part 2 §3.2.6).
///
/// A year counts as 365 days and a month as 30 days, because a manifest does not specify the date to which the duration
/// is added.
package struct ManifestDuration: Sendable, Hashable {
    /// The duration in seconds, which is negative if the text begins with a minus sign.
    package let time: MediaTime
    /// A Boolean value that indicates whether the text named a longer duration than ``maximum``.
    package let isClamped: Bool
    /// A Boolean value that indicates whether the text has years or months.
    package let hasCalendarUnits: Bool

    /// The longest duration that is represented: 2^40 seconds, about 34,800 years, so that sums stay exact.
    package static let maximum = MediaTime(seconds: 1 << 40)

    /// Creates a duration; the result is `nil` if the text is not a duration.
    package init?(_ text: String) {
        var rest = ManifestNumber.trimmed(text).utf8[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest = rest.dropFirst() }
        guard rest.popFirst() == UInt8(ascii: "P"), !rest.isEmpty else { return nil }
        var sum = MediaTime.zero
        var units: Substring = "YMD"
        var isTime = false
        var clamped = false
        var hasCalendar = false
        while let byte = rest.first {
            if byte == UInt8(ascii: "T"), !isTime {
                isTime = true
                units = "HMS"
                rest = rest.dropFirst()
                guard !rest.isEmpty else { return nil }
                continue
            }
            let digits = rest.prefix { $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            rest = rest.dropFirst(digits.count)
            guard !digits.isEmpty, let unit = rest.popFirst(),
                let position = units.firstIndex(of: Character(Unicode.Scalar(unit)))
            else { return nil }
            units = units[units.index(after: position)...]
            hasCalendar = hasCalendar || !isTime && unit != UInt8(ascii: "D")
            let number = String(Substring(digits))
            if let value = MediaTime(decimal: number), value <= Self.maximum {
                sum = sum + value * Self.seconds(of: unit, isTime: isTime)
            } else {
                // A number with too many digits is clamped; any other text that cannot be parsed is not a number.
                guard number.utf8.filter({ $0 == UInt8(ascii: ".") }).count <= 1, number != "." else { return nil }
                clamped = true
            }
        }
        if clamped || sum > Self.maximum {
            clamped = true
            sum = Self.maximum
        }
        time = isNegative ? .zero - sum : sum
        isClamped = clamped
        hasCalendarUnits = hasCalendar
    }

    private static func seconds(of unit: UInt8, isTime: Bool) -> Int64 {
        switch (unit, isTime) {
        case (UInt8(ascii: "Y"), _): 31_536_000
        case (UInt8(ascii: "M"), false): 2_592_000
        case (UInt8(ascii: "D"), _): 86_400
        case (UInt8(ascii: "H"), _): 3_600
        case (UInt8(ascii: "M"), true): 60
        default: 1
        }
    }
}
