/// Percent-encoding and decoding of URI components (RFC 3986 §2.1).
public enum PercentEncoding {
    /// The bytes that need no encoding in any component (RFC 3986 §2.3).
    public static let unreservedBytes = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    /// The bytes that need no encoding in a path.
    public static let pathBytes = unreservedBytes.union("/!$&'()*+,;=:@".utf8)

    /// Returns `text` with every byte percent-encoded that is not in `allowed`.
    public static func encode(_ text: String, allowing allowed: Set<UInt8> = unreservedBytes) -> String {
        var result: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            if allowed.contains(byte) {
                result.append(byte)
            } else {
                // Bounded: four bits are at most 15.
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns `text` with percent-encoded bytes decoded (`%41` to `A`), or `nil` if the result is not UTF-8.
    ///
    /// A percent sign that is not followed by two hexadecimal digits is unchanged.
    public static func decode(_ text: String) -> String? {
        var result: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(Substring(rest.prefix(2))), radix: 16),
                rest.first != UInt8(ascii: "+"), rest.first != UInt8(ascii: "-")
            {
                result.append(value)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return String(validating: result, as: UTF8.self)
    }
}
