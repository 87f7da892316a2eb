public import MediaTiming

/// A value of JSON (RFC 8259) whose fields keep their order and whose numbers keep their digits.
///
/// Reports are read by people and compared by scripts: `9.97667` has to come out as it went in, and the fields of a
/// segment always in one order. `JSONEncoder` promises neither.
public enum ReportValue: Sendable, Hashable {
    /// Text.
    case string(String)
    /// A number, as digits that JSON allows.
    case number(String)
    /// True or false.
    case bool(Bool)
    /// Values in order.
    case array([ReportValue])
    /// Fields in order.
    case object([Field])

    /// A name and its value.
    public struct Field: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The value.
        public let value: ReportValue

        /// Makes a field.
        public init(name: String, value: ReportValue) {
            self.name = name
            self.value = value
        }
    }

    /// Makes an object of the fields that have a value.
    public static func fields(_ pairs: KeyValuePairs<String, ReportValue?>) -> ReportValue {
        .object(pairs.compactMap { name, value in value.map { Field(name: name, value: $0) } })
    }

    /// A whole number.
    public static func integer(_ value: some BinaryInteger) -> ReportValue { .number(String(value)) }
    /// Seconds, in decimal digits.
    public static func seconds(_ time: MediaTime) -> ReportValue { .number(time.description) }
    /// A floating-point number, in the fewest digits that give it back; infinities and not-a-number become 0.
    public static func real(_ value: Double) -> ReportValue {
        guard value.isFinite else { return .number("0") }
        if let whole = Int64(exactly: value) { return .number(String(whole)) }
        return .number(String(value))
    }
    /// A list of texts.
    public static func strings(_ values: some Sequence<String>) -> ReportValue { .array(values.map { .string($0) }) }

    /// The value as JSON on one line.
    public var json: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .string(let value): Self.writeQuoted(value, to: &text)
        case .number(let digits): text += digits
        case .bool(let value): text += value ? "true" : "false"
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let fields):
            text += "{"
            for (index, field) in fields.enumerated() {
                if index > 0 { text += "," }
                Self.writeQuoted(field.name, to: &text)
                text += ":"
                field.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func writeQuoted(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // Reports are shown on terminals and pasted into pages: what would not be seen there is spelled out.
            case _ where scalar.isHiddenOnTerminal:
                for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
