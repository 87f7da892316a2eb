import MediaTiming

/// Four bytes that name a box, a handler, a codec or a brand (ISO/IEC 14496-12 §4.2).
public struct FourCharacterCode: Sendable, Hashable {
    /// The four bytes as one number, the first of them the highest.
    public let value: UInt32

    /// Makes a code of its number.
    public init(_ value: UInt32) {
        self.value = value
    }
}

extension FourCharacterCode: ExpressibleByStringLiteral {
    /// Makes a code of four characters; shorter ones are filled with spaces, further ones are dropped.
    public init(stringLiteral text: StaticString) {
        var code: UInt32 = 0
        let length = text.utf8CodeUnitCount
        // The literal's bytes are not memory of strangers: they are part of the program.
        text.withUTF8Buffer { bytes in
            for index in 0..<4 { unsafe code = code << 8 | UInt32(index < length ? bytes[index] : 0x20) }
        }
        value = code
    }
}

extension FourCharacterCode: CustomStringConvertible {
    /// The four characters, or `0x` and hexadecimal digits where one of them cannot be printed.
    public var description: String {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        guard bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            let digits = String(value, radix: 16)
            return "0x" + String(repeating: "0", count: 8 - digits.count) + digits
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
