import MediaTiming

/// A type of the values in an access log, with their text form.
protocol AccessLogValue {
    /// The unit of the text form; empty if there is none.
    static var logUnit: String { get }

    /// The text of the value; `nil` for a negative value, which is written as unknown.
    var logText: String? { get }

    /// Parses the text of a value.
    static func parseLogText(_ text: String) -> ParsedLogValue<Self>
}

/// The result of parsing the text of a value.
enum ParsedLogValue<Value> {
    case value(Value)
    /// The text is valid, but means that the value is unknown.
    case unknown
    case invalid
}

/// A value that is written as a number.
protocol AccessLogNumber: AccessLogValue {
    /// Creates a value from a number that is not negative; `nil` if it is invalid for the type.
    init?(logged number: DecimalNumber)
}

extension AccessLogNumber {
    /// Parses a number; a negative number means that the value is unknown, as in AVFoundation.
    static func parseLogText(_ text: String) -> ParsedLogValue<Self> {
        guard let number = DecimalNumber(text) else { return .invalid }
        guard number.scaledValue >= 0 else { return .unknown }
        guard let value = Self(logged: number) else { return .invalid }
        return .value(value)
    }
}

/// A value that can be summed up.
protocol SummableLogValue: Comparable {
    static var zero: Self { get }

    /// Returns the sum, limited to the maximum of the type.
    func addingClamped(_ other: Self) -> Self
}

extension String: AccessLogValue {
    static var logUnit: String { "" }
    var logText: String? { ExtendedLogText.encode(self) }
    static func parseLogText(_ text: String) -> ParsedLogValue<String> { .value(text) }
}

extension PlaybackType: AccessLogValue {
    static var logUnit: String { "" }
    var logText: String? { rawValue }

    /// Parses a playback type; one that is not supported is unknown.
    static func parseLogText(_ text: String) -> ParsedLogValue<PlaybackType> {
        guard let type = PlaybackType(rawValue: text) else { return .unknown }
        return .value(type)
    }
}

extension Int: AccessLogNumber, SummableLogValue {
    static var logUnit: String { "" }
    var logText: String? { self < 0 ? nil : String(self) }

    init?(logged number: DecimalNumber) {
        guard let count = number.whole.flatMap(Int.init(exactly:)) else { return nil }
        self = count
    }
}

extension Duration: AccessLogNumber, SummableLogValue {
    static var logUnit: String { "s" }
    var logText: String? { self < .zero ? nil : decimalSeconds }

    init?(logged number: DecimalNumber) { self.init(attoseconds: number.scaledValue) }
}

extension BitRate: AccessLogNumber {
    static var logUnit: String { "bit/s" }
    var logText: String? { String(bitsPerSecond) }

    init?(logged number: DecimalNumber) {
        guard let rate = number.rounded else { return nil }
        self.init(bitsPerSecond: rate)
    }
}

extension ByteCount: AccessLogNumber, SummableLogValue {
    static var logUnit: String { "bytes" }
    var logText: String? { String(bytes) }

    init?(logged number: DecimalNumber) {
        guard let bytes = number.whole else { return nil }
        self.init(bytes)
    }

    /// Returns the sum, limited to the maximum of 64 bits.
    func addingClamped(_ other: ByteCount) -> ByteCount { self + other }
}
