import ReportFormat

/// How a text stands in a field of a log.
///
/// A word of printable ASCII stands as it is. Anything else is put in quotation marks, and a quotation mark inside is
/// doubled. An entry is a line, so line ends inside are written `\n` and `\r`, other control characters and those
/// that are not visible `\u{…}` with the number in hexadecimal digits, and a backslash `\\`. The draft has no way of its own to write a
/// line end.
enum ExtendedLogText {
    /// What a log says of its spelling where the software does not tell.
    static let spellingRemark = "Text in quotation marks has escapes that begin with a backslash"
    /// What stands for a field that is not known.
    static let unknown = "-"

    /// Spells a text, in quotation marks in any case where the field is of type string.
    static func spell(_ text: String?, isString: Bool = false) -> String {
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

    /// What a directive says: one line, whatever the text.
    static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isHiddenOnTerminal ? " " : $0 }))
    }

    /// Undoes the escapes of a text from between quotation marks; what is no escape stays as it is.
    static func unescape(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "\\")) else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            // The longest escape has a brace, six digits and another brace behind its letter.
            let behind = bytes[index...].dropFirst().prefix(9)
            if bytes[index] == UInt8(ascii: "\\"), let (escaped, length) = escape(behind) {
                result += escaped
                index += 1 + length
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    /// What the bytes behind a backslash stand for, and how many of them do.
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
