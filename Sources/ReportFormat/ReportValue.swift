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
    /// Values in order, each made when it is written: for lists that would not fit in memory otherwise.
    case sequence(ReportSequence)
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
        write { text += $0 }
        return text
    }

    /// The value as JSON on one line, if it has at most a number of bytes.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Returns: The UTF-8 of the text.
    /// - Throws: ``ReportLimitError`` as soon as the limit is passed; nothing beyond it is written.
    public func json(limit: Int) throws(ReportLimitError) -> [UInt8] {
        var bytes: [UInt8] = []
        try write { (piece) throws(ReportLimitError) in
            bytes += piece.utf8
            guard bytes.count <= limit else { throw ReportLimitError(limit: limit) }
        }
        return bytes
    }

    /// Writes the value as JSON on one line, piece by piece.
    ///
    /// - Parameter body: Receives the pieces in their order; an error that it throws ends the writing.
    /// - Throws: What `body` throws.
    public func write<Failure: Error>(_ body: (String) throws(Failure) -> Void) throws(Failure) {
        var piece = ""
        try write(to: &piece, body)
        if !piece.isEmpty { try body(piece) }
    }

    /// The number of bytes from which on a piece is given out.
    private static let pieceSize = 16 << 10

    private func write<Failure: Error>(
        to text: inout String,
        _ body: (String) throws(Failure) -> Void
    ) throws(Failure) {
        switch self {
        case .string(let value): Self.writeQuoted(value, to: &text)
        case .number(let digits): text += digits
        case .bool(let value): text += value ? "true" : "false"
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                try value.write(to: &text, body)
            }
            text += "]"
        case .sequence(let sequence):
            text += "["
            for index in 0..<sequence.count {
                if index > 0 { text += "," }
                try sequence.value(at: index).write(to: &text, body)
            }
            text += "]"
        case .object(let fields):
            text += "{"
            for (index, field) in fields.enumerated() {
                if index > 0 { text += "," }
                Self.writeQuoted(field.name, to: &text)
                text += ":"
                try field.value.write(to: &text, body)
            }
            text += "}"
        }
        if text.utf8.count >= Self.pieceSize {
            try body(text)
            text = ""
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

/// The values of an array in a report, each made when it is asked for.
public struct ReportSequence: Sendable, Hashable {
    /// The number of values.
    public let count: Int
    private let element: @Sendable (Int) -> ReportValue

    /// Creates a sequence of values that are made by position.
    ///
    /// - Parameters:
    ///   - count: The number of values.
    ///   - element: Returns the value at a position, which is less than `count`.
    public init(count: Int, _ element: @escaping @Sendable (Int) -> ReportValue) {
        self.count = count
        self.element = element
    }

    /// Returns the value at a position.
    public func value(at position: Int) -> ReportValue { element(position) }

    /// All values, in memory.
    public var values: [ReportValue] { (0..<count).map(element) }

    /// Returns a Boolean value that indicates whether both have the same values.
    public static func == (first: ReportSequence, second: ReportSequence) -> Bool { first.values == second.values }

    /// Hashes the values.
    public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

/// A report that would be larger than its reader allows.
public struct ReportLimitError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The maximum number of bytes.
    public let limit: Int

    /// Creates the error for a maximum number of bytes.
    public init(limit: Int) { self.limit = limit }

    /// The error as text.
    public var description: String { "the report is larger than \(limit) bytes" }
}
