/// The form of playback positions and durations in text for people.
package enum ClockText {
    /// Returns a short duration or a position in seconds with up to three decimal digits: `6.006 s`.
    ///
    /// - Parameter time: The time.
    /// - Returns: The text, without zeros at the end of the digits.
    package static func seconds(_ time: MediaTime) -> String { "\(number(time)) s" }

    /// Returns a time range in seconds with up to three decimal digits: `4 to 10.5 s`.
    ///
    /// - Parameter range: The time range.
    /// - Returns: The text.
    package static func seconds(_ range: MediaTimeRange) -> String { "\(number(range.start)) to \(seconds(range.end))" }

    /// Returns a time in seconds with up to three decimal digits, without the unit: `6.006`.
    ///
    /// - Parameter time: The time.
    /// - Returns: The text, without zeros at the end of the digits.
    package static func number(_ time: MediaTime) -> String {
        let milliseconds = Int64(saturating: (time.seconds * 1000).rounded())
        let sign = milliseconds < 0 ? "-" : ""
        let (whole, rest) = milliseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        return "\(sign)\(whole)\(fraction(ofMilliseconds: rest))"
    }

    /// Returns the decimal digits of a fraction of a second, after their decimal point: `.006`.
    ///
    /// - Parameter milliseconds: The fraction in milliseconds, from 0 to 999.
    /// - Returns: The text, without zeros at the end of the digits; empty for 0.
    package static func fraction(ofMilliseconds milliseconds: UInt64) -> String {
        guard milliseconds > 0 else { return "" }
        var digits = String(milliseconds +| 1000).dropFirst()
        while digits.last == "0" { digits = digits.dropLast() }
        return "." + digits
    }

    /// Returns a time in minutes and seconds, with hours if there are any: `04:05`, `1:04:05`.
    ///
    /// - Parameters:
    ///   - time: The time; times beyond 99:59:59 are written as that.
    ///   - rounding: The rule by which the time becomes whole seconds.
    ///   - withHours: A Boolean value that indicates whether hours are written even if there are none.
    /// - Returns: The text.
    package static func string(
        _ time: MediaTime,
        rounding: FloatingPointRoundingRule = .down,
        withHours: Bool = false
    ) -> String {
        let seconds = Int(saturating: max(-359_999, min(359_999, time.seconds.rounded(rounding))))
        let sign = seconds < 0 ? "-" : ""
        let (hours, rest) = abs(seconds).quotientAndRemainder(dividingBy: 3600)
        let (minutes, last) = rest.quotientAndRemainder(dividingBy: 60)
        guard hours > 0 || withHours else { return "\(sign)\(twoDigits(minutes)):\(twoDigits(last))" }
        return "\(sign)\(hours):\(twoDigits(minutes)):\(twoDigits(last))"
    }

    /// Returns a playback position and the duration: `00:35 / 20:00`.
    ///
    /// The position is rounded down, as a clock does, and the duration to the nearest second, because the duration of a
    /// file of 20 seconds is often a few milliseconds shorter.
    ///
    /// - Parameters:
    ///   - position: The playback position.
    ///   - duration: The duration; `nil` if it is unknown, which leaves the position alone.
    ///   - separator: The text between the two.
    /// - Returns: The text; both times have hours if the duration has.
    package static func string(
        position: MediaTime,
        duration: MediaTime?,
        separator: String = " / "
    ) -> String {
        guard let duration else { return string(position) }
        let hasHours = duration.seconds.rounded() >= 3600
        return string(position, withHours: hasHours) + separator
            + string(duration, rounding: .toNearestOrAwayFromZero, withHours: hasHours)
    }

    private static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
