public import MediaTiming

/// The attributes of a tag, in their order (RFC 8216bis §4.2).
///
/// Reading is lenient: spaces around names, values and commas are passed over, a quotation mark that is never closed
/// ends with the line, and of two attributes with one name the first counts.
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

    /// All attributes, in their order, with repeated ones.
    public let attributes: [Attribute]

    /// Reads the attributes that stand in a range of a playlist.
    package init(_ bytes: [UInt8], in range: Range<Int>?) {
        var found: [Attribute] = []
        var index = range?.lowerBound ?? 0
        let end = range?.upperBound ?? 0
        while index < end {
            while index < end, bytes[index].isBlank || bytes[index] == UInt8(ascii: ",") { index += 1 }
            let nameStart = index
            while index < end, bytes[index] != UInt8(ascii: "="), bytes[index] != UInt8(ascii: ",") { index += 1 }
            let name = Self.trim(bytes, nameStart..<index)
            guard index < end, bytes[index] == UInt8(ascii: "=") else {
                if !name.isEmpty {
                    found.append(Attribute(name: bytes.text(name), value: "", isQuoted: false, range: index..<index))
                }
                continue
            }
            index += 1
            while index < end, bytes[index].isBlank { index += 1 }
            if index < end, bytes[index] == UInt8(ascii: "\"") {
                let start = index + 1
                index = start
                while index < end, bytes[index] != UInt8(ascii: "\"") { index += 1 }
                let value = start..<index
                found.append(
                    Attribute(name: bytes.text(name), value: bytes.text(value), isQuoted: true, range: value)
                )
                while index < end, bytes[index] != UInt8(ascii: ",") { index += 1 }
            } else {
                let start = index
                while index < end, bytes[index] != UInt8(ascii: ",") { index += 1 }
                let value = Self.trim(bytes, start..<index)
                found.append(
                    Attribute(name: bytes.text(name), value: bytes.text(value), isQuoted: false, range: value)
                )
            }
        }
        attributes = found
    }

    private static func trim(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high, bytes[low].isBlank { low += 1 }
        while high > low, bytes[high - 1].isBlank { high -= 1 }
        return low..<high
    }

    /// The first attribute of a name.
    public func attribute(_ name: String) -> Attribute? { attributes.first { $0.name == name } }

    /// The value of an attribute as text, `nil` where it is missing.
    public subscript(name: String) -> String? { attribute(name)?.value }

    /// A decimal integer of 0 to 2^63-1; `nil` where it is missing or anything else.
    public func integer(_ name: String) -> Int64? {
        guard let value = self[name], let number = UInt64(value) else { return nil }
        return Int64(exactly: number)
    }

    /// A decimal number as seconds or a rate, exact to the digits written.
    public func decimal(_ name: String) -> MediaTime? { self[name].flatMap { MediaTime(decimal: $0) } }

    /// Whether the value is `YES`.
    public func isYes(_ name: String) -> Bool { self[name] == "YES" }

    /// The values of a quoted list with commas, spaces around them removed.
    public func list(_ name: String, separator: Character = ",") -> [String] {
        guard let value = self[name] else { return [] }
        return value.split(separator: separator).compactMap { item in
            let trimmed = item.trimmingBlanks()
            return trimmed.isEmpty ? nil : String(trimmed)
        }
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

/// A tag that this version of the standard does not know, kept in its place.
public struct UnknownTag: Sendable {
    /// The name without the number sign, such as `EXT-X-CUE-OUT`.
    public let name: String
    /// What stands behind the colon; `nil` where there is none.
    public let value: String?
    /// The value read as an attribute list; meaningless where the tag has none.
    public let attributes: AttributeList
    /// The line it stands in, from 1.
    public let line: Int
}
