/// A namespace for the base64 encoding (RFC 4648 §4).
package enum Base64 {
    /// Returns the bytes of a text, or `nil` if it is not base64; white space is ignored.
    package static func decode(_ text: String) -> [UInt8]? {
        var result: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in text.utf8 where byte > 0x20 && byte != UInt8(ascii: "=") {
            guard let value = value(byte) else { return nil }
            bits = bits << 6 | value
            count &+= 1
            guard count == 4 else { continue }
            result += [
                UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 8),
                UInt8(truncatingIfNeeded: bits),
            ]
            (bits, count) = (0, 0)
        }
        switch count {
        case 1: return nil
        case 2: result.append(UInt8(truncatingIfNeeded: bits >> 4))
        case 3: result += [UInt8(truncatingIfNeeded: bits >> 10), UInt8(truncatingIfNeeded: bits >> 2)]
        default: break
        }
        return result
    }

    private static func value(_ byte: UInt8) -> UInt32? {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
        // Bounded: the alphabet has 64 characters.
        return alphabet.firstIndex(of: byte).map { UInt32(alphabet.distance(from: alphabet.startIndex, to: $0)) }
    }
}
