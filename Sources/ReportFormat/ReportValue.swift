public import MediaTiming
public import ResourceAddressing

/// A JSON value (RFC 8259) that preserves the order of fields and the digits of numbers.
///
/// Reports are read by people and compared by scripts: `9.97667` must be written with the same digits that were read,
/// and the fields of a segment always in the same order. `JSONEncoder` guarantees neither.
public enum ReportValue: Sendable, Hashable {
    /// A JSON string.
    case string(String)
    /// A JSON number, as its digits.
    case number(String)
    /// A JSON `true` or `false`.
    case bool(Bool)
    /// A JSON array.
    case array([ReportValue])
    /// A JSON array whose values are created one at a time while it is written, for lists that do not fit in memory.
    case sequence(ReportSequence)
    /// A JSON object, as its fields in order.
    case object([Field])

    /// A field of a JSON object.
    public struct Field: Sendable, Hashable {
        /// The name of the field.
        public let name: String
        /// The value of the field.
        public let value: ReportValue

        /// Creates a field.
        public init(name: String, value: ReportValue) {
            self.name = name
            self.value = value
        }
    }

    /// Creates an object from the pairs whose value is not `nil`, in the given order.
    public static func fields(_ pairs: KeyValuePairs<String, ReportValue?>) -> ReportValue {
        .object(pairs.compactMap { name, value in value.map { Field(name: name, value: $0) } })
    }

    /// Creates a number from an integer.
    public static func integer(_ value: some BinaryInteger) -> ReportValue { .number(String(value)) }
    /// Creates a number from a time, in seconds as decimal digits.
    public static func seconds(_ time: MediaTime) -> ReportValue { .number(time.description) }
    /// Creates a number from a floating-point number, with the fewest digits that read back as the same number.
    ///
    /// Infinities and NaN, which JSON cannot represent, become 0.
    public static func real(_ value: Double) -> ReportValue {
        guard value.isFinite else { return .number("0") }
        if let whole = Int64(exactly: value) { return .number(String(whole)) }
        return .number(String(value))
    }
    /// Creates an array of strings.
    public static func strings(_ values: some Sequence<String>) -> ReportValue { .array(values.map { .string($0) }) }

    /// The value as JSON text on one line.
    public var json: String {
        var text = ""
        write { text += $0 }
        return text
    }

    /// Returns the value as JSON text on one line if the text does not exceed a size.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Returns: The text in UTF-8.
    /// - Throws: ``ReportLimitError`` as soon as the text exceeds the limit; the rest is not generated.
    public func json(limit: Int) throws(ReportLimitError) -> [UInt8] {
        var bytes: [UInt8] = []
        try write { (chunk) throws(ReportLimitError) in
            bytes += chunk.utf8
            guard bytes.count <= limit else { throw ReportLimitError(limit: limit) }
        }
        return bytes
    }

    /// Writes the value as JSON text on one line, in chunks.
    ///
    /// - Parameter body: A closure that receives the chunks in order; an error that it throws stops the writing.
    /// - Throws: The error that `body` throws.
    public func write<Failure: Error>(_ body: (String) throws(Failure) -> Void) throws(Failure) {
        var chunk = ""
        try write(to: &chunk, body)
        if !chunk.isEmpty { try body(chunk) }
    }

    /// The number of bytes after which the text is passed on as a chunk.
    private static let chunkSize = 16 << 10

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
        if text.utf8.count >= Self.chunkSize {
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
            // Reports are shown on terminals and pasted into web pages, so characters that would be invisible there are
            // escaped.
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

/// The values of an array in a report, each created when it is requested.
public struct ReportSequence: Sendable, Hashable {
    /// The number of values.
    public let count: Int
    private let element: @Sendable (Int) -> ReportValue

    /// Creates a sequence from a closure that returns the value at a position.
    ///
    /// - Parameters:
    ///   - count: The number of values.
    ///   - element: A closure that returns the value at a position, which is 0 or more and less than `count`.
    public init(count: Int, _ element: @escaping @Sendable (Int) -> ReportValue) {
        self.count = count
        self.element = element
    }

    /// Returns the value at a position, which must be 0 or more and less than ``count``.
    public func value(at position: Int) -> ReportValue { element(position) }

    /// All values as an array in memory.
    public var values: [ReportValue] { (0..<count).map(element) }

    /// Returns a Boolean value that indicates whether both sequences have the same values.
    public static func == (first: ReportSequence, second: ReportSequence) -> Bool { first.values == second.values }

    /// Adds all values to the hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

/// An error that reports that a report would be larger than its limit.
public struct ReportLimitError: MillstreamError, Hashable {
    /// The kind of the error.
    public enum Code: String, ErrorCode {
        /// The report is too large.
        case tooLarge = "report-too-large"
    }

    /// The kind of the error.
    public var code: Code { .tooLarge }
    /// The description of the error.
    public var message: String { description }
    /// The maximum size of the report, in bytes.
    public let limit: Int

    /// Creates the error for a maximum number of bytes.
    public init(limit: Int) { self.limit = limit }

    /// The error as a message for display.
    public var description: String { "the report is larger than \(limit) bytes" }
}
