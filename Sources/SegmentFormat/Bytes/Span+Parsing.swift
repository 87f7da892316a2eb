import MediaTiming

extension Span<UInt8> {
    /// Returns a copy of the bytes in the given range, clamped to the span.
    package func byteArray(in range: Range<Int>) -> [UInt8] {
        let cursor = ByteCursor(range, in: self)
        var copy: [UInt8] = []
        copy.reserveCapacity(cursor.remaining)
        for index in cursor.offset..<cursor.end { copy.append(self[index]) }
        return copy
    }

    /// Returns whether the bytes at the given offset equal `expected`.
    package func hasBytes(_ expected: StaticString, at offset: Int) -> Bool {
        let length = expected.utf8CodeUnitCount
        guard offset >= 0, length <= count - offset else { return false }
        // Reading the literal's memory is safe: it is part of the program.
        return expected.withUTF8Buffer { literal in
            for index in 0..<length where unsafe literal[index] != self[offset + index] { return false }
            return true
        }
    }
}

extension Span<UInt8> {
    /// Returns the big-endian unsigned integer of 1 to 8 bytes at the given offset, or zero if it exceeds the span.
    ///
    /// Intended for tables whose size was validated before. If the span is not the one in which the table was found,
    /// the result is meaningless, but the function does not trap.
    func unsigned(_ length: Int, at offset: Int) -> UInt64 {
        guard offset >= 0, length <= count - offset else { return 0 }
        var value: UInt64 = 0
        var index = offset
        while index < offset + length {
            value = value << 8 | UInt64(self[index])
            index += 1
        }
        return value
    }

    func uint32(at offset: Int) -> UInt32 { UInt32(truncatingIfNeeded: unsigned(4, at: offset)) }
}

extension Range<Int> {
    /// Returns the range without its first `count` elements; empty if it has no more than `count`.
    func dropFirst(_ count: Int) -> Range<Int> { Swift.min(upperBound, lowerBound + count)..<upperBound }
}
