public import MediaTiming

/// The attributes of a tag in order (RFC 8216bis §4.2).
///
/// A list is a view of the playlist's bytes: each access searches for the attribute. Values that are accessed by name
/// have variables replaced (§4.3); ``attributes`` has the values as written. The parser is lenient: it ignores white
/// space around names, values and commas, ends an unclosed quotation at the end of the line, and uses the first of
/// several attributes with the same name.
public struct AttributeList: Sendable {
    /// An attribute as written.
    public struct Attribute: Sendable, Hashable {
        /// The name of the attribute.
        public let name: String
        /// The value without quotation marks.
        public let value: String
        /// A Boolean value that indicates whether the value was in quotation marks.
        public let isQuoted: Bool
        /// The range of the value in the bytes of the playlist, without quotation marks.
        package let range: Range<Int>
    }

    private let bytes: [UInt8]
    private let range: Range<Int>
    private let variables: PlaylistVariables?

    /// Creates a view of the attributes in a range of a playlist; `nil` stands for a tag without a value.
    package init(_ bytes: [UInt8], in range: Range<Int>?) {
        self.init(bytes, in: range, variables: nil)
    }

    init(_ bytes: [UInt8], in range: Range<Int>?, variables: PlaylistVariables?) {
        self.bytes = range == nil ? [] : bytes
        self.range = range ?? 0..<0
        self.variables = variables.flatMap { $0.values.isEmpty ? nil : $0 }
    }

    /// All attributes in order, including repeated ones.
    public var attributes: [Attribute] {
        var cursor = AttributeCursor(range)
        var result: [Attribute] = []
        while let next = cursor.next(in: bytes.span) { result.append(attribute(next)) }
        return result
    }

    private func attribute(_ written: WrittenAttribute) -> Attribute {
        Attribute(
            name: bytes.text(written.name),
            value: bytes.text(written.value),
            isQuoted: written.isQuoted,
            range: written.value
        )
    }

    /// Returns the location of the first attribute with a name.
    func written(_ name: String) -> WrittenAttribute? {
        let span = bytes.span
        var cursor = AttributeCursor(range)
        while let next = cursor.next(in: span) {
            if span.matches(name, in: next.name) { return next }
        }
        return nil
    }

    /// Returns the first attribute with a name.
    public func attribute(_ name: String) -> Attribute? { written(name).map { attribute($0) } }

    /// Adds changes to a patch that remove all attributes with certain names, with the commas that separate them.
    ///
    /// Attributes of one list have to be removed together, because their neighbors determine which commas remain.
    package func remove(_ names: [String], in patch: inout PlaylistPatch) {
        guard !names.isEmpty else { return }
        let span = bytes.span
        var cursor = AttributeCursor(range)
        var parts: [(start: Int, end: Int, isRemoved: Bool)] = []
        while let next = cursor.next(in: span) {
            let isRemoved = names.contains { span.matches($0, in: next.name) }
            parts.append((next.name.lowerBound, cursor.position, isRemoved))
        }
        let last = parts.lastIndex { !$0.isRemoved }
        for (index, part) in parts.enumerated() where part.isRemoved {
            if let last, index < last {
                patch.remove(part.start..<parts[index + 1].start)
            } else {
                patch.remove((index > 0 ? parts[index - 1].end : range.lowerBound)..<part.end)
            }
        }
    }

    /// Adds changes to a patch that set an attribute; it is appended to the list if it is missing.
    ///
    /// - Parameters:
    ///   - name: The name of the attribute.
    ///   - value: The value as written, a string with its quotation marks.
    ///   - patch: The patch.
    package func set(_ name: String, to value: String, in patch: inout PlaylistPatch) {
        if let written = written(name) {
            patch.replace(written.valueAsWritten(before: range.upperBound), with: value)
        } else {
            patch.replace(range.upperBound..<range.upperBound, with: "\(range.isEmpty ? "" : ",")\(name)=\(value)")
        }
    }

    /// Returns the value of an attribute as a string, or `nil` if the attribute is missing.
    public subscript(name: String) -> String? {
        written(name).map { written in
            let text = bytes.text(written.value)
            return variables?.substitute(text) ?? text
        }
    }

    /// Returns the value of an attribute as an integer from 0 to 2^63−1, or `nil` if it is missing or invalid.
    public func integer(_ name: String) -> Int64? {
        guard let range = written(name)?.value, !range.isEmpty else { return nil }
        var number: Int64 = 0
        for byte in bytes[range] {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            // Bounded: the byte is a digit.
            let (sum, overflowed) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            guard !overflow, !overflowed else { return nil }
            number = sum
        }
        return number
    }

    /// Returns the value of an attribute as a decimal number, exact to the digits written, or `nil` if it is missing or
    /// invalid.
    public func decimal(_ name: String) -> MediaTime? {
        guard let range = written(name)?.value, let digits = DecimalDigits(bytes.span.extracting(range)) else {
            return nil
        }
        return MediaTime(digits)
    }

    /// Returns a Boolean value that indicates whether the value of an attribute is `YES`.
    public func isYes(_ name: String) -> Bool { hasValue("YES", for: name) }

    /// Returns a Boolean value that indicates whether an attribute exists and has exactly the given value.
    public func hasValue(_ value: String, for name: String) -> Bool {
        written(name).map { bytes.span.matches(value, in: $0.value) } ?? false
    }

    /// Returns the items of a list in an attribute, without white space around them.
    public func list(_ name: String, separator: Character = ",") -> [String] {
        guard let range = written(name)?.value, let separator = separator.asciiValue else { return [] }
        if variables != nil, bytes[range].contains(UInt8(ascii: "{")) {
            let text = Array("\(name)=\"\(self[name] ?? "")\"".utf8)
            return AttributeList(text, in: 0..<text.count).list(name, separator: Character(Unicode.Scalar(separator)))
        }
        let span = bytes.span
        var result: [String] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let end = span.firstIndex(of: separator, in: start..<range.upperBound) ?? range.upperBound
            let item = span.trimmingBlanks(start..<end)
            if !item.isEmpty { result.append(bytes.text(item)) }
            start = end + 1
        }
        return result
    }

    /// Returns the value of an attribute as a resolution, or `nil` if it is missing or invalid.
    func resolution(_ name: String) -> Resolution? {
        guard let range = written(name)?.value else { return nil }
        let span = bytes.span
        var index = range.lowerBound
        guard let width = span.digits(&index, before: range.upperBound), index < range.upperBound,
            span[index] | 0x20 == UInt8(ascii: "x")
        else { return nil }
        index += 1
        guard let height = span.digits(&index, before: range.upperBound), index == range.upperBound else { return nil }
        return Resolution(width: width, height: height)
    }
}

/// The location of an attribute.
struct WrittenAttribute {
    let name: Range<Int>
    /// The range of the value, without quotation marks.
    let value: Range<Int>
    let isQuoted: Bool

    /// Returns the range of the value with its quotation marks, of which the second may be missing at the end of the list.
    func valueAsWritten(before end: Int) -> Range<Int> {
        isQuoted ? (value.lowerBound - 1)..<min(value.upperBound + 1, end) : value
    }
}

/// An iterator over the attributes of a tag.
struct AttributeCursor {
    fileprivate var position: Int
    private let end: Int

    init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    mutating func next(in bytes: Span<UInt8>) -> WrittenAttribute? {
        while position < end, bytes[position].isBlank || bytes[position] == UInt8(ascii: ",") { position += 1 }
        guard position < end else { return nil }
        let nameStart = position
        while position < end, bytes[position] != UInt8(ascii: "="), bytes[position] != UInt8(ascii: ",") {
            position += 1
        }
        let name = bytes.trimmingBlanks(nameStart..<position)
        guard position < end, bytes[position] == UInt8(ascii: "=") else {
            // The attribute has a name but no value.
            return WrittenAttribute(name: name, value: position..<position, isQuoted: false)
        }
        position += 1
        while position < end, bytes[position].isBlank { position += 1 }
        guard position < end, bytes[position] == UInt8(ascii: "\"") else {
            let start = position
            position = bytes.firstIndex(of: UInt8(ascii: ","), in: start..<end) ?? end
            return WrittenAttribute(name: name, value: bytes.trimmingBlanks(start..<position), isQuoted: false)
        }
        let start = position + 1
        let close = bytes.firstIndex(of: UInt8(ascii: "\""), in: start..<end) ?? end
        position = bytes.firstIndex(of: UInt8(ascii: ","), in: close..<end) ?? end
        return WrittenAttribute(name: name, value: start..<close, isQuoted: true)
    }
}

extension Substring {
    /// Returns the text without leading and trailing spaces and tabs.
    func trimmingBlanks() -> Substring {
        var rest = self
        while rest.first == " " || rest.first == "\t" { rest.removeFirst() }
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        return rest
    }
}
