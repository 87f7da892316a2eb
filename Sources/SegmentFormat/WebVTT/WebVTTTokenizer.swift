/// A tokenizer for the text of a cue (W3C WebVTT §6.4, "WebVTT cue text tokenizer").
struct WebVTTTokenizer {
    enum Token: Equatable {
        case text(String)
        case start(name: String, classes: [String], annotation: String)
        case end(String)
        case timestamp(String)
    }

    private let units: [UInt8]
    private var offset = 0

    init(_ text: String) {
        units = Array(text.utf8)
    }

    mutating func next() -> Token? {
        guard offset < units.count else { return nil }
        if units[offset] == UInt8(ascii: "<") {
            offset += 1
            return tag()
        }
        let start = offset
        while offset < units.count, units[offset] != UInt8(ascii: "<") { offset += 1 }
        return .text(Self.decoded(units[start..<offset]))
    }

    /// Reads a tag up to its `>` or the end of the text.
    private mutating func tag() -> Token {
        let start = offset
        while offset < units.count, units[offset] != UInt8(ascii: ">") { offset += 1 }
        let content = units[start..<offset]
        offset += 1
        guard let first = content.first else { return .start(name: "", classes: [], annotation: "") }
        if first == UInt8(ascii: "/") { return .end(String(decoding: content.dropFirst(), as: UTF8.self)) }
        if (0x30...0x39).contains(first) { return .timestamp(String(decoding: content, as: UTF8.self)) }
        let split = content.firstIndex(where: Self.isSpace) ?? content.endIndex
        let names = content[..<split].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        let annotation = Self.decoded(content[split...]).split(whereSeparator: { " \t\n\u{C}".contains($0) })
            .joined(separator: " ")
        return .start(
            name: names.first ?? "",
            classes: names.dropFirst().filter { !$0.isEmpty },
            annotation: annotation
        )
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0C].contains(byte) }

    /// The named entities of the standard and two that some writers use; others are not decoded.
    private static let entities: [String: String] = [
        "amp": "&", "lt": "<", "gt": ">", "lrm": "\u{200E}", "rlm": "\u{200F}", "nbsp": "\u{A0}", "quot": "\"",
        "apos": "'",
    ]

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(UInt8(ascii: "&")) else { return String(decoding: bytes, as: UTF8.self) }
        var plain: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            // The longest entity that is decoded here has ten characters.
            if bytes[index] == UInt8(ascii: "&"),
                let stop = bytes[index..<min(bytes.endIndex, index + 12)].firstIndex(of: UInt8(ascii: ";")),
                let character = entity(String(decoding: bytes[index + 1..<stop], as: UTF8.self))
            {
                plain += Array(character.utf8)
                index = stop + 1
            } else {
                plain.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    private static func entity(_ name: String) -> String? {
        guard name.hasPrefix("#") else { return entities[name] }
        let digits = name.dropFirst()
        let isHexadecimal = digits.hasPrefix("x") || digits.hasPrefix("X")
        guard let value = UInt32(isHexadecimal ? digits.dropFirst() : digits, radix: isHexadecimal ? 16 : 10) else {
            return nil
        }
        guard value != 0, let scalar = Unicode.Scalar(value) else { return "\u{FFFD}" }
        return String(scalar)
    }
}
