import MediaTiming

/// A namespace for text from outside in the form that a line of a playlist allows (RFC 8216bis §4.1, §4.2).
///
/// The value of a variable can have any characters, because it can come from the query of a URL (§4.4.2.3). Characters that would end
/// a line, a quoted string or an attribute are replaced rather than removed, so that the result is not another word of the standard.
package enum WrittenText {
    /// Returns a URI in which everything is percent-encoded that ends it: control characters, quotation marks, and spaces at both
    /// ends.
    package static func uri(_ text: String) -> String {
        let bytes = text.utf8
        let isPlain = { (byte: UInt8) in byte >= 0x20 && byte != 0x7F && byte != UInt8(ascii: "\"") }
        guard !bytes.allSatisfy(isPlain) || bytes.first == UInt8(ascii: " ") || bytes.last == UInt8(ascii: " ") else {
            return text
        }
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for (position, byte) in bytes.enumerated() {
            let isEdge = position == 0 || position == bytes.count - 1
            if !isPlain(byte) || isEdge && byte == UInt8(ascii: " ") {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns text for the rest of a line, with spaces in place of control characters and line separators.
    package static func line(_ text: String) -> String { replacing(text, with: " ", where: isControl) }

    /// Returns the content of a quoted string, with apostrophes in place of quotation marks, and spaces in place of control characters.
    package static func quoted(_ text: String) -> String {
        replacing(line(text), with: "'") { $0 == "\"" }
    }

    /// Returns a value without quotation marks, with underscores in place of what ends it: commas, quotation marks, spaces and control
    /// characters.
    package static func token(_ text: String) -> String {
        replacing(text, with: "_") { $0 == "," || $0 == "\"" || $0 == " " || isControl($0) }
    }

    /// Returns an attribute, or `nil` if the name has other characters than visible ones of ASCII, or ends itself.
    package static func attribute(_ name: String, _ value: String, isQuoted: Bool) -> String? {
        guard !name.isEmpty, name.utf8.allSatisfy(isNameByte) else { return nil }
        return isQuoted ? "\(name)=\"\(quoted(value))\"" : "\(name)=\(token(value))"
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"\",=".utf8.contains(byte)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || (0x2028...0x2029).contains(scalar.value)
    }

    private static func replacing(
        _ text: String,
        with replacement: Unicode.Scalar,
        where isReplaced: (Unicode.Scalar) -> Bool
    ) -> String {
        guard text.unicodeScalars.contains(where: isReplaced) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(isReplaced(scalar) ? replacement : scalar) }
        return String(result)
    }
}
