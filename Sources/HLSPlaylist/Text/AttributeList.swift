public import MediaTiming

/// The attributes of a tag, in their order (RFC 8216bis §4.2).
///
/// It is a view of the playlist's bytes: an attribute is looked for when it is asked for. Values that are asked for by name
/// have the playlist's variables replaced (§4.3); ``attributes`` are as they are written. Reading is lenient: spaces around
/// names, values and commas are passed over, a quotation mark that is never closed ends with the line, and of two
/// attributes with one name the first counts.
public struct AttributeList: Sendable {
    /// One attribute as it is written.
    public struct Attribute: Sendable, Hashable {
        /// The name, as written.
        public let name: String
        /// The value without quotation marks.
        public let value: String
        /// Whether the value stood in quotation marks.
        public let isQuoted: Bool
        /// Where the value stands in the playlist, without quotation marks.
        package let range: Range<Int>
    }

    private let bytes: [UInt8]
    private let range: Range<Int>
    private let variables: PlaylistVariables?

    /// The attributes that stand in a range of a playlist; `nil` for a tag without a value.
    package init(_ bytes: [UInt8], in range: Range<Int>?) {
        self.init(bytes, in: range, variables: nil)
    }

    init(_ bytes: [UInt8], in range: Range<Int>?, variables: PlaylistVariables?) {
        self.bytes = range == nil ? [] : bytes
        self.range = range ?? 0..<0
        self.variables = variables.flatMap { $0.values.isEmpty ? nil : $0 }
    }

    /// All attributes, in their order, with repeated ones.
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

    /// Where the first attribute of a name stands.
    func written(_ name: String) -> WrittenAttribute? {
        let span = bytes.span
        var cursor = AttributeCursor(range)
        while let next = cursor.next(in: span) {
            if span.holds(name, in: next.name) { return next }
        }
        return nil
    }

    /// The first attribute of a name.
    public func attribute(_ name: String) -> Attribute? { written(name).map { attribute($0) } }

    /// The value of an attribute as text, `nil` where it is missing.
    public subscript(name: String) -> String? {
        written(name).map { written in
            let text = bytes.text(written.value)
            return variables?.substitute(text) ?? text
        }
    }

    /// A decimal integer of 0 to 2^63-1; `nil` where it is missing or anything else.
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

    /// A decimal number as seconds or a rate, exact to the digits written.
    public func decimal(_ name: String) -> MediaTime? {
        guard let range = written(name)?.value, let digits = DecimalDigits(bytes.span.extracting(range)) else {
            return nil
        }
        return MediaTime(digits)
    }

    /// Whether the value is `YES`.
    public func isYes(_ name: String) -> Bool { holds("YES", in: name) }

    /// Whether an attribute is there with exactly this value.
    public func holds(_ value: String, in name: String) -> Bool {
        written(name).map { bytes.span.holds(value, in: $0.value) } ?? false
    }

    /// The values of a quoted list with commas, spaces around them removed.
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

    /// A decimal resolution; `nil` where it is missing or anything else.
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

/// Where an attribute stands.
struct WrittenAttribute {
    let name: Range<Int>
    /// Without quotation marks.
    let value: Range<Int>
    let isQuoted: Bool
}

/// Walks over the attributes of a tag.
struct AttributeCursor {
    private var position: Int
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
            // A name without a value.
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
    /// The text without spaces and tabs at either side.
    func trimmingBlanks() -> Substring {
        var rest = self
        while rest.first == " " || rest.first == "\t" { rest.removeFirst() }
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        return rest
    }
}
