import MediaTiming

/// A read position in a range of bytes that is read sequentially.
///
/// The bytes are passed to each read. A read past the end returns zero, moves to the end and sets ``isPastEnd``.
/// Therefore a parser can read all fields of a structure and check once afterwards whether they were complete.
package struct ByteCursor {
    package private(set) var offset: Int
    package let end: Int
    package private(set) var isPastEnd = false

    package var remaining: Int { end - offset }

    /// Creates a cursor for the given range, clamped to `0..<count`.
    package init(_ range: Range<Int>, count: Int) {
        offset = max(0, min(range.lowerBound, count))
        end = max(offset, min(range.upperBound, count))
    }

    package init(_ range: Range<Int>, in bytes: Span<UInt8>) {
        self.init(range, count: bytes.count)
    }

    package mutating func skip(_ length: Int) {
        guard length >= 0, length <= remaining else { return fail() }
        offset += length
    }

    package mutating func readUInt8(_ bytes: Span<UInt8>) -> UInt8 {
        guard offset < end else {
            fail()
            return 0
        }
        let byte = bytes[offset]
        offset += 1
        return byte
    }

    /// Reads a big-endian unsigned integer of 1 to 8 bytes.
    package mutating func readUnsigned(_ length: Int, _ bytes: Span<UInt8>) -> UInt64 {
        guard length <= remaining else {
            fail()
            return 0
        }
        var value: UInt64 = 0
        var index = offset
        offset += length
        while index < offset {
            value = value << 8 | UInt64(bytes[index])
            index += 1
        }
        return value
    }

    package mutating func readUInt16(_ bytes: Span<UInt8>) -> UInt16 {
        UInt16(truncatingIfNeeded: readUnsigned(2, bytes))
    }
    package mutating func readUInt24(_ bytes: Span<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: readUnsigned(3, bytes))
    }
    package mutating func readUInt32(_ bytes: Span<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: readUnsigned(4, bytes))
    }
    package mutating func readInt32(_ bytes: Span<UInt8>) -> Int32 { Int32(truncatingIfNeeded: readUnsigned(4, bytes)) }
    package mutating func readUInt64(_ bytes: Span<UInt8>) -> UInt64 { readUnsigned(8, bytes) }
    package mutating func readFourCharacterCode(_ bytes: Span<UInt8>) -> FourCharacterCode {
        FourCharacterCode(readUInt32(bytes))
    }

    /// Reads a string that ends at a zero byte or at the end of the range; invalid UTF-8 is replaced with U+FFFD.
    package mutating func readTerminatedString(_ bytes: Span<UInt8>) -> String {
        var units: [UInt8] = []
        while offset < end {
            let byte = bytes[offset]
            offset += 1
            if byte == 0 { break }
            units.append(byte)
        }
        return String(decoding: units, as: UTF8.self)
    }

    /// Reads a copy of the next `length` bytes; the result is empty if fewer bytes remain.
    package mutating func readBytes(_ length: Int, _ bytes: Span<UInt8>) -> [UInt8] {
        let start = offset
        skip(length)
        return isPastEnd ? [] : bytes.byteArray(in: start..<offset)
    }

    private mutating func fail() {
        offset = end
        isPastEnd = true
    }
}
