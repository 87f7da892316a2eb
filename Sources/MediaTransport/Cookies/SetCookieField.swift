/// A parsed `Set-Cookie` header field (RFC 6265 §5.2, RFC 6265bis §5.6).
///
/// If an attribute appears more than once, the last one is used. Unknown attributes are ignored, and so is `SameSite`,
/// because requests of a player do not come from a site.
struct SetCookieField {
    /// The maximum length of a header field in bytes; longer fields are rejected, because no valid cookie needs them.
    static let maximumLength = 65_536
    /// The maximum total length of name and value in bytes (RFC 6265bis §5.6).
    static let maximumPairLength = 4096
    /// The maximum length of an attribute value in bytes; attributes with longer values are ignored (RFC 6265bis §5.6).
    private static let maximumAttributeLength = 1024

    /// The name; empty if the cookie has none.
    let name: String
    /// The value.
    let value: String
    /// The `Domain` attribute in lower case without its leading dot; `nil` if it is absent or empty.
    private(set) var domain: String?
    /// The `Path` attribute; `nil` if it is absent, does not begin with a slash, or contains a control character.
    private(set) var path: String?
    /// The `Max-Age` attribute in seconds; zero if it is negative.
    private(set) var maxAge: Int64?
    /// The `Expires` attribute; `nil` if it is absent or not a date.
    private(set) var expires: UnixSeconds?
    /// A Boolean value that indicates whether the `Secure` attribute is present.
    private(set) var isSecure = false
    /// A Boolean value that indicates whether the `HttpOnly` attribute is present.
    private(set) var isHTTPOnly = false

    /// Creates a field from its value; `nil` if it contains no acceptable cookie.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let bytes = Array(text.utf8)
        guard !bytes.contains(where: { $0.isASCIIControl && $0 != 0x09 }) else { return nil }
        let pieces = bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let pair = pieces.first, let (name, value) = Self.pair(pair) else { return nil }
        (self.name, self.value) = (name, value)
        for chunk in pieces.dropFirst() { parseAttribute(chunk) }
    }

    /// Returns the name and the value; a text without an equals sign is a value without a name (RFC 6265bis §5.6).
    private static func pair(_ bytes: ArraySlice<UInt8>) -> (name: String, value: String)? {
        let equals = bytes.firstIndex(of: UInt8(ascii: "="))
        let name = trimmed(bytes[..<(equals ?? bytes.startIndex)])
        let value = trimmed(bytes[(equals.map { $0 + 1 } ?? bytes.startIndex)...])
        // A tab would break a line of the cookie file.
        guard !name.isEmpty || !value.isEmpty, name.count + value.count <= maximumPairLength,
            !name.contains(0x09), !value.contains(0x09)
        else { return nil }
        return (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    private mutating func parseAttribute(_ attribute: ArraySlice<UInt8>) {
        let equals = attribute.firstIndex(of: UInt8(ascii: "="))
        let name = Self.trimmed(attribute[..<(equals ?? attribute.endIndex)])
        let value = Self.trimmed(attribute[(equals.map { $0 + 1 } ?? attribute.endIndex)...])
        // The longest known name has eight bytes, so longer names are not copied.
        guard name.count <= 8, value.count <= Self.maximumAttributeLength else { return }
        switch String(decoding: name.map(\.asciiLowercased), as: UTF8.self) {
        case "expires": expires = CookieDate.parse(value) ?? expires
        case "max-age": maxAge = Self.seconds(value) ?? maxAge
        case "domain": domain = Self.domain(value)
        case "path":
            let path = String(decoding: value, as: UTF8.self)
            self.path = CookiePath.isValid(path) ? path : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        default: break
        }
    }

    private static func domain(_ value: ArraySlice<UInt8>) -> String? {
        let withoutDot = value.first == UInt8(ascii: ".") ? value.dropFirst() : value
        return withoutDot.isEmpty ? nil : String(decoding: withoutDot.map(\.asciiLowercased), as: UTF8.self)
    }

    /// Parses an integer; negative numbers are zero, and too large ones are the maximum (RFC 6265 §5.2.2).
    private static func seconds(_ value: ArraySlice<UInt8>) -> Int64? {
        let isNegative = value.first == UInt8(ascii: "-")
        let digits = isNegative ? value.dropFirst() : value
        guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return nil }
        return isNegative ? 0 : Int64(String(decoding: digits, as: UTF8.self)) ?? .max
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes.drop { $0 == 0x20 || $0 == 0x09 }
        while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
        return rest
    }
}
