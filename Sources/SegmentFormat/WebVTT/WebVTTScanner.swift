import MediaTiming

/// A scanner for WebVTT timestamps and numbers in a string.
struct WebVTTScanner {
    private let units: [UInt8]
    private(set) var offset = 0

    init(_ text: String) {
        units = Array(text.utf8)
    }

    var isAtEnd: Bool { offset >= units.count }
    var rest: String { String(decoding: units[min(offset, units.count)...], as: UTF8.self) }

    mutating func skipSpaces() {
        while offset < units.count, [0x20, 0x09, 0x0C].contains(units[offset]) { offset += 1 }
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard offset < units.count, units[offset] == UInt8(truncatingIfNeeded: character.value) else { return false }
        offset += 1
        return true
    }

    /// Reads digits and returns their number and value, or `nil` if there are none or more than nine.
    private mutating func digits() -> (count: Int, value: Int64)? {
        let start = offset
        var value: Int64 = 0
        while offset < units.count, (0x30...0x39).contains(units[offset]) {
            guard offset - start < 9 else { return nil }
            value = value.multipliedSaturated(by: 10).addingSaturated(Int64(units[offset] & 15))
            offset += 1
        }
        return offset > start ? (offset - start, value) : nil
    }

    /// Reads a timestamp, `hh:mm:ss.ttt` or `mm:ss.ttt` (W3C WebVTT §6.3, "collect a WebVTT timestamp").
    mutating func timestamp() -> MediaTime? {
        guard let first = digits(), skip(":"), let second = digits(), second.count == 2 else { return nil }
        var (hours, minutes, seconds) = (Int64(0), first.value, second.value)
        if skip(":") {
            guard let third = digits(), third.count == 2 else { return nil }
            (hours, minutes, seconds) = (first.value, second.value, third.value)
        } else if first.count != 2 || first.value > 59 {
            return nil
        }
        guard skip("."), let fraction = digits(), fraction.count == 3, minutes <= 59, seconds <= 59 else { return nil }
        return MediaTime(
            value: ((hours *| 60 +| minutes) *| 60 +| seconds) *| 1_000 +| fraction.value,
            timescale: 1_000
        )
    }

    /// Returns the time range and the settings of a cue timing line, or `nil` if it is invalid.
    static func timing(_ line: String) -> (range: MediaTimeRange, settings: WebVTTCueSettings)? {
        var scanner = WebVTTScanner(line)
        scanner.skipSpaces()
        guard let start = scanner.timestamp() else { return nil }
        scanner.skipSpaces()
        guard scanner.skip("-"), scanner.skip("-"), scanner.skip(">") else { return nil }
        scanner.skipSpaces()
        guard let end = scanner.timestamp() else { return nil }
        return (MediaTimeRange(start: start, end: end), WebVTTCueSettings(scanner.rest))
    }

    /// Returns a percentage from 0 to 100, which must end in `%`, or `nil` if the text is anything else.
    static func percentage(_ text: some StringProtocol) -> Double? {
        guard text.hasSuffix("%"), let value = number(text.dropLast(1)), (0...100).contains(value),
            text.utf8.first != 0x2D
        else { return nil }
        return value
    }

    /// Returns a decimal number without exponent; a decimal point must have digits on both sides.
    static func number(_ text: some StringProtocol) -> Double? {
        guard text.utf8.count <= 40 else { return nil }
        let plain = text.hasPrefix("-") ? String(text.dropFirst()) : String(text)
        let parts = plain.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else { return nil }
        return Double(String(text))
    }
}
