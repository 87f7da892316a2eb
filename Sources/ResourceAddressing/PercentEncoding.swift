/// Percent-encoding for addresses that we build ourselves (RFC 3986 §2.1).
public enum PercentEncoding {
    /// The bytes that need no encoding anywhere (RFC 3986 §2.3).
    public static let unreservedBytes = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    /// The bytes that need no encoding in a path.
    public static let pathBytes = unreservedBytes.union("/!$&'()*+,;=:@".utf8)

    /// Encodes every byte of `text` that is not in `kept`.
    public static func encode(_ text: String, keeping kept: Set<UInt8> = unreservedBytes) -> String {
        var result: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            if kept.contains(byte) {
                result.append(byte)
            } else {
                // Bounded: four bits are at most 15.
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Decodes `%41` to `A`.
    ///
    /// A per cent sign without two hexadecimal digits stays. `nil` where the result is not UTF-8.
    public static func decode(_ text: String) -> String? {
        var result: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(Substring(rest.prefix(2))), radix: 16),
                rest.first != UInt8(ascii: "+")
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
