import MediaTiming

/// A read position in a range of bytes that is read bit by bit, most significant bit first.
///
/// The bytes are passed to each read. As with ``ByteCursor``, a read past the end returns zero and sets ``isPastEnd``.
struct BitCursor {
    private var bit: Int
    private let end: Int
    private(set) var isPastEnd = false

    init(_ range: Range<Int>, in bytes: Span<UInt8>) {
        let cursor = ByteCursor(range, in: bytes)
        bit = cursor.offset.multipliedSaturated(by: 8)
        end = cursor.end.multipliedSaturated(by: 8)
    }

    /// Reads an unsigned integer of 0 to 32 bits.
    mutating func readBits(_ length: Int, _ bytes: Span<UInt8>) -> UInt32 {
        guard length <= end - bit else {
            bit = end
            isPastEnd = true
            return 0
        }
        var value: UInt32 = 0
        for index in bit..<bit + length {
            // Bounded: the shift is 0 to 7.
            value = value << 1 | UInt32(bytes[index >> 3] >> UInt8(7 - index & 7) & 1)
        }
        bit += length
        return value
    }

    mutating func readFlag(_ bytes: Span<UInt8>) -> Bool { readBits(1, bytes) == 1 }
}
