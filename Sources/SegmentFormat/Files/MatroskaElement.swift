import MediaTiming

/// The header of an EBML element, the building block of Matroska and WebM (RFC 8794 §5 and §6).
struct MatroskaElement {
    let id: UInt32
    let headerLength: Int
    /// The number of bytes after the header; `nil` if the size is unknown.
    let length: Int64?

    /// Creates a header from the bytes at `start`, or `nil` if it is incomplete or invalid.
    init?(_ bytes: Span<UInt8>, at start: Int, end: Int) {
        let end = min(end, bytes.count)
        guard start >= 0, start < end else { return nil }
        let idLength = bytes[start].leadingZeroBitCount + 1
        guard idLength <= 4, start + idLength < end else { return nil }
        id = UInt32(truncatingIfNeeded: bytes.unsigned(idLength, at: start))
        let position = start + idLength
        let sizeLength = bytes[position].leadingZeroBitCount + 1
        guard sizeLength <= 8, sizeLength <= end - position else { return nil }
        let mask = UInt64(1) << (7 *| sizeLength) -| 1
        let size = bytes.unsigned(sizeLength, at: position) & mask
        length = size == mask ? nil : Int64(clamping: size)
        headerLength = idLength + sizeLength
    }

    /// A Boolean value that indicates whether the element can be in a segment, can be a segment, or can be anywhere (RFC
    /// 9559 §5.1, RFC 8794 §11.3).
    var isTopLevel: Bool {
        switch id {
        case 0x1A45_DFA3, 0x1853_8067, 0x114D_9B74, 0x1549_A966, 0x1654_AE6B, 0x1C53_BB6B, 0x1254_C367, 0x1941_A469,
            0x1043_A770, 0x1F43_B675, 0xEC, 0xBF:
            true
        default: false
        }
    }

    /// A Boolean value that indicates whether the size of the element can be unknown, which is so for segments and clusters.
    var mayHaveUnknownSize: Bool { id == 0x1853_8067 || id == 0x1F43_B675 }
}

/// An iterator over consecutive elements at one level of the element hierarchy.
struct MatroskaElementIterator {
    private var offset: Int
    private let end: Int

    init(_ range: Range<Int>, in bytes: Span<UInt8>) {
        let cursor = ByteCursor(range, in: bytes)
        offset = cursor.offset
        end = cursor.end
    }

    /// Returns the next element, truncated at the end of the range.
    ///
    /// Returns `nil` at the end and at bytes that are not a valid element header.
    mutating func next(_ bytes: Span<UInt8>) -> (id: UInt32, content: Range<Int>)? {
        guard let element = MatroskaElement(bytes, at: offset, end: end) else { return nil }
        let start = offset + element.headerLength
        let length = element.length.map { Int(clamping: $0) } ?? end - start
        offset = start + min(length, end - start)
        return (element.id, start..<offset)
    }
}

extension Span<UInt8> {
    /// Returns an EBML unsigned integer of 0 to 8 bytes.
    func matroskaUnsigned(_ range: Range<Int>) -> UInt64 {
        range.isEmpty || range.count > 8 ? 0 : unsigned(range.count, at: range.lowerBound)
    }

    /// Returns an EBML floating-point number, or zero if its length is invalid.
    func matroskaFloat(_ range: Range<Int>) -> Double {
        switch range.count {
        case 4: Double(Float(bitPattern: uint32(at: range.lowerBound)))
        case 8: Double(bitPattern: unsigned(8, at: range.lowerBound))
        default: 0
        }
    }

    /// Returns an EBML string up to its first zero byte.
    func matroskaText(_ range: Range<Int>) -> String {
        String(decoding: byteArray(in: range).prefix { $0 != 0 }, as: UTF8.self)
    }
}
