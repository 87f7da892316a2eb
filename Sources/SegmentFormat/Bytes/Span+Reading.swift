import MediaTiming

extension Span<UInt8> {
    /// The bytes of a range, cut to what is there.
    package func array(_ range: Range<Int>) -> [UInt8] {
        let cursor = ByteCursor(range, in: self)
        var copy: [UInt8] = []
        copy.reserveCapacity(cursor.remaining)
        for index in cursor.offset..<cursor.end { copy.append(self[index]) }
        return copy
    }

    /// Whether these bytes stand at a place.
    package func hasBytes(_ expected: StaticString, at offset: Int) -> Bool {
        let length = expected.utf8CodeUnitCount
        guard offset >= 0, length <= count - offset else { return false }
        // The literal's bytes are not memory of strangers: they are part of the program.
        return expected.withUTF8Buffer { literal in
            for index in 0..<length where unsafe literal[index] != self[offset + index] { return false }
            return true
        }
    }
}

extension Span<UInt8> {
    /// An unsigned integer of 1 to 8 bytes at a place, the highest first; zero where it is not whole.
    ///
    /// For tables whose size was checked once: bytes that are not those the table was found in give nonsense, no trap.
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
    /// The range without its first places; empty where it has no more.
    func dropFirst(_ count: Int) -> Range<Int> { Swift.min(upperBound, lowerBound + count)..<upperBound }
}
