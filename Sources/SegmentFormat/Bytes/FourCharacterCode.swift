import MediaTiming

/// A code of four bytes that identifies a box type, handler, codec or brand (ISO/IEC 14496-12 §4.2).
package struct FourCharacterCode: Sendable, Hashable {
    /// The four bytes as a big-endian number.
    package let value: UInt32

    /// Creates a code from its big-endian number.
    package init(_ value: UInt32) {
        self.value = value
    }
}

extension FourCharacterCode: ExpressibleByStringLiteral {
    /// Creates a code from four characters; shorter strings are padded with spaces, longer ones are truncated.
    package init(stringLiteral text: StaticString) {
        var code: UInt32 = 0
        let length = text.utf8CodeUnitCount
        // Reading the literal's memory is safe: it is part of the program.
        text.withUTF8Buffer { bytes in
            for index in 0..<4 { unsafe code = code << 8 | UInt32(index < length ? bytes[index] : 0x20) }
        }
        value = code
    }
}

extension FourCharacterCode: CustomStringConvertible {
    /// The four characters, or `0x` and eight hexadecimal digits if one of the characters is not printable ASCII.
    package var description: String {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        guard bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            let digits = String(value, radix: 16)
            return "0x" + String(repeating: "0", count: 8 - digits.count) + digits
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
