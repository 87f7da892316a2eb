import MediaTiming

/// Reads numbers one after the other; beyond the end it gives zero and says so.
struct FieldReader {
    let bytes: UnsafeRawBufferPointer
    private(set) var offset: Int
    let end: Int
    private(set) var isPastEnd = false

    init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        self.bytes = bytes
        offset = max(0, min(range.lowerBound, bytes.count))
        end = max(offset, min(range.upperBound, bytes.count))
    }

    var remaining: Int { end - offset }

    mutating func unsigned(_ length: Int) -> UInt64 {
        guard length <= remaining else {
            offset = end
            isPastEnd = true
            return 0
        }
        var value: UInt64 = 0
        for _ in 0..<length {
            value = value << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return value
    }

    mutating func uint8() -> Int { Int(clamping: unsigned(1)) }
    mutating func uint16() -> Int { Int(clamping: unsigned(2)) }
    mutating func uint32() -> UInt32 { UInt32(truncatingIfNeeded: unsigned(4)) }
    mutating func int32() -> Int32 { Int32(truncatingIfNeeded: unsigned(4)) }

    mutating func skip(_ length: Int) {
        guard length >= 0, length <= remaining else {
            offset = end
            isPastEnd = true
            return
        }
        offset += length
    }

    mutating func array(_ length: Int) -> [UInt8] {
        guard length >= 0, length <= remaining else {
            offset = end
            isPastEnd = true
            return []
        }
        defer { offset += length }
        return Array(bytes[offset..<offset + length])
    }
}

/// A box among others (ISO/IEC 14496-12 §4.2).
struct BoxPlace {
    let type: UInt32
    /// Where it begins.
    let start: Int
    /// The bytes behind its header, cut to what is there.
    let payload: Range<Int>
    /// Whether it says that it goes on behind the bytes that are there.
    let isCut: Bool

    /// The boxes in a range, in order; what cannot be one ends the list.
    static func all(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) -> [BoxPlace] {
        var places: [BoxPlace] = []
        var offset = range.lowerBound
        while offset < range.upperBound, places.count < 100_000 {
            var reader = FieldReader(bytes, offset..<range.upperBound)
            var length = reader.unsigned(4)
            let type = reader.uint32()
            if length == 1 { length = reader.unsigned(8) }
            let header = reader.offset - offset
            let available = range.upperBound - offset
            if length == 0 { length = UInt64(clamping: available) }
            guard !reader.isPastEnd, length >= UInt64(clamping: header) else { break }
            let end = offset + min(available, Int(clamping: length))
            places.append(
                BoxPlace(
                    type: type,
                    start: offset,
                    payload: reader.offset..<end,
                    isCut: length > UInt64(clamping: available)
                )
            )
            offset = end
        }
        return places
    }
}

extension UInt32 {
    /// The type of a box by its four letters.
    static func box(_ letters: StaticString) -> UInt32 {
        letters.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }
}
