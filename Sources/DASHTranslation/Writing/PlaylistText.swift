import ResourceAddressing

/// A writer of the attributes of a tag, which escapes what would end a value or a line (RFC 8216bis §4.2).
struct AttributeWriter {
    private(set) var text = ""

    private mutating func append(_ name: String, _ value: String) {
        text += text.isEmpty ? "\(name)=\(value)" : ",\(name)=\(value)"
    }

    /// Appends an enumerated string, a number or a resolution.
    mutating func append(_ name: String, token: String?) { if let token { append(name, token) } }

    /// Appends a quoted string of at most ``PlaylistText/maximumTextLength`` bytes.
    mutating func append(_ name: String, quoted: String?) {
        if let quoted { append(name, "\"\(PlaylistText.quotable(quoted))\"") }
    }

    /// Appends a URI as a quoted string.
    mutating func append(_ name: String, address: String?) {
        if let address { append(name, "\"\(PlaylistText.uri(address))\"") }
    }
}

/// A namespace for text from a manifest in the form that playlists allow.
enum PlaylistText {
    /// The maximum number of bytes in a quoted string.
    static let maximumTextLength = 4_096

    /// Returns text that may be quoted: without control characters, quotation marks and references to variables.
    ///
    /// Combining marks are removed, because playlists are in Unicode normalization form C (RFC 8216bis §4.1).
    static func quotable(_ text: String) -> String {
        var result = ""
        var length = 0
        var isAfterBrace = false
        for scalar in text.unicodeScalars {
            length += scalar.utf8.count
            guard length <= maximumTextLength else { break }
            let value = scalar.value
            guard value >= 0x20, !(0x7F...0x9F).contains(value), !(0x300...0x36F).contains(value), value != 0xFEFF
            else { continue }
            if scalar == "\"" {
                result.unicodeScalars.append("'")
            } else if scalar == "$", isAfterBrace {
                result += " $"
            } else {
                result.unicodeScalars.append(scalar)
            }
            isAfterBrace = scalar == "{"
        }
        return result
    }

    /// Returns a URI in which everything is percent-encoded that a line or a quoted string cannot contain.
    static func uri(_ address: String) -> String {
        // A line that begins with a number sign would be a comment.
        let prefix = address.utf8.first == UInt8(ascii: "#") ? "./" : ""
        return prefix + encoded(address)
    }

    /// Returns a part of a URI after its beginning, with the same bytes percent-encoded as in ``uri(_:)``.
    static func encoded(_ text: String) -> String {
        let isPlain = { (byte: UInt8) in
            byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "{")
        }
        guard !text.utf8.allSatisfy(isPlain) else { return text }
        return PercentEncoding.encode(text, allowing: plainBytes)
    }

    private static let plainBytes = Set((UInt8(0x21)...0x7E).filter { $0 != 0x22 && $0 != 0x7B })

    /// Returns a file name component made of the letters, digits, hyphens and underscores of the text.
    static func fileName(_ text: String) -> String {
        let allowed = text.utf8.prefix(64).filter { byte in
            PercentEncoding.unreservedBytes.contains(byte) && byte != UInt8(ascii: ".") && byte != UInt8(ascii: "~")
        }
        return String(decoding: allowed, as: UTF8.self)
    }

    /// Returns a Boolean value that indicates whether the text has the form of a language tag (RFC 5646 §2.1).
    static func isLanguage(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard let first = parts.first, (2...8).contains(first.utf8.count), first.utf8.allSatisfy(isLetter) else {
            return false
        }
        return parts.count <= 8
            && parts.dropFirst().allSatisfy { part in
                (1...8).contains(part.utf8.count) && part.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
            }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
