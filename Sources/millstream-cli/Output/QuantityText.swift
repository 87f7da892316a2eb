import Foundation
import MediaTiming

/// The form of times and counts in text for people; reports as JSON have the exact values.
enum QuantityText {
    /// Returns a position or a total duration in whole seconds: `01:00`, `1:02:03`.
    static func clock(_ time: MediaTime) -> String {
        clock(milliseconds: Int64(saturating: time.seconds.rounded()) *| 1000)
    }

    /// Returns a position or a total duration with up to three decimal digits: `01:00`, `01:00.011`.
    static func preciseClock(_ time: MediaTime) -> String {
        clock(milliseconds: Int64(saturating: (time.seconds * 1000).rounded()))
    }

    /// Returns a short duration, such as that of a segment, with up to three decimal digits: `6.006 s`.
    static func seconds(_ time: MediaTime) -> String { ClockText.seconds(time) }

    /// Returns a count with its noun: `1 segment`, `2 segments`.
    static func count(_ count: some BinaryInteger, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    /// Returns a number in the same form in every locale.
    ///
    /// - Parameters:
    ///   - value: The number.
    ///   - digits: The maximum number of decimal digits.
    /// - Returns: The text, without zeros at its end: `2.5`, `40`.
    static func number(_ value: Double, digits: Int) -> String {
        var text = String(format: "%.\(digits)f", value)
        guard digits > 0 else { return text }
        while text.last == "0" { text.removeLast() }
        if text.last == "." { text.removeLast() }
        return text
    }

    private static func clock(milliseconds: Int64) -> String {
        let sign = milliseconds < 0 ? "-" : ""
        let (seconds, rest) = milliseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        func padded(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let hours = seconds / 3600
        return sign + (hours > 0 ? "\(hours):" : "") + "\(padded(seconds / 60 % 60)):\(padded(seconds % 60))"
            + ClockText.fraction(ofMilliseconds: rest)
    }
}
