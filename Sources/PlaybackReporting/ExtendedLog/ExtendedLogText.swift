import ReportFormat

/// The encoding of text in the fields of a log.
///
/// A word of printable ASCII characters is written unchanged. Any other text is enclosed in quotation marks, and
/// quotation marks in it are doubled. Because an entry is a single line, line terminators are written as `\n` and `\r`,
/// other control characters and invisible characters as `\u{…}` with a hexadecimal number, and a backslash as `\\`. The
/// draft itself defines no escape for line terminators.
enum ExtendedLogText {
    /// The remark that declares the escapes in a log whose software name does not.
    static let escapeRemark = "Text in quotation marks has escapes that begin with a backslash"
    /// The text of an unknown value.
    static let unknown = "-"

    /// Returns the encoded text, always in quotation marks if the field has the type string.
    static func encode(_ text: String?, isString: Bool = false) -> String {
        guard let text else { return unknown }
        guard isString || !isWord(text) else { return text }
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\"\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case _ where scalar.isHiddenOnTerminal: result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Returns the text of a directive as a single line, with invisible characters replaced by spaces.
    static func singleLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isHiddenOnTerminal ? " " : $0 }))
    }

    /// Decodes the escapes in a quoted text; invalid escapes remain unchanged.
    static func unescape(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "\\")) else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            // The longest escape has a brace, six digits and another brace after its letter.
            let following = bytes[index...].dropFirst().prefix(9)
            if bytes[index] == UInt8(ascii: "\\"), let (escaped, length) = escape(following) {
                result += escaped
                index += 1 + length
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    /// Returns the bytes that an escape after a backslash represents, and the length of the escape.
    private static func escape(_ bytes: ArraySlice<UInt8>) -> ([UInt8], Int)? {
        switch bytes.first {
        case UInt8(ascii: "\\"): return ([UInt8(ascii: "\\")], 1)
        case UInt8(ascii: "n"): return ([UInt8(ascii: "\n")], 1)
        case UInt8(ascii: "r"): return ([UInt8(ascii: "\r")], 1)
        case UInt8(ascii: "u"):
            let behind = bytes.dropFirst()
            guard behind.first == UInt8(ascii: "{"), let end = behind.firstIndex(of: UInt8(ascii: "}")) else {
                return nil
            }
            let digits = behind[..<end].dropFirst()
            guard digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-"),
                let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
                let scalar = Unicode.Scalar(number)
            else { return nil }
            return (Array(String(scalar).utf8), digits.count + 3)
        default: return nil
        }
    }

    private static func isWord(_ text: String) -> Bool {
        guard !text.isEmpty, text != unknown, !text.hasPrefix("#") else { return false }
        return text.utf8.allSatisfy {
            (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
    }
}
