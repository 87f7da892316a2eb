import MediaTiming

/// The header of an EBML element, of which Matroska and WebM are made (RFC 8794 §5 and §6).
struct MatroskaElement {
    let id: UInt32
    let headerLength: Int
    /// How many bytes follow the header; `nil` where that is left open.
    let length: Int64?

    /// Reads the header at a place; `nil` where it is not whole or is none.
    init?(_ bytes: Span<UInt8>, at start: Int, end: Int) {
        let end = min(end, bytes.count)
        guard start >= 0, start < end else { return nil }
        let idLength = bytes[start].leadingZeroBitCount + 1
        guard idLength <= 4, start + idLength < end else { return nil }
        id = UInt32(truncatingIfNeeded: bytes.unsigned(idLength, at: start))
        let place = start + idLength
        let sizeLength = bytes[place].leadingZeroBitCount + 1
        guard sizeLength <= 8, sizeLength <= end - place else { return nil }
        let mask = UInt64(1) << (7 *| sizeLength) -| 1
        let size = bytes.unsigned(sizeLength, at: place) & mask
        length = size == mask ? nil : Int64(clamping: size)
        headerLength = idLength + sizeLength
    }
}

/// Goes from element to element inside of bytes that are there.
struct MatroskaWalker {
    private var offset: Int
    private let end: Int

    init(_ range: Range<Int>, in bytes: Span<UInt8>) {
        let cursor = ByteCursor(range, in: bytes)
        offset = cursor.offset
        end = cursor.end
    }

    /// The next element, cut where it would pass the end.
    ///
    /// `nil` at the end, and where something stands that is none.
    mutating func next(_ bytes: Span<UInt8>) -> (id: UInt32, content: Range<Int>)? {
        guard let element = MatroskaElement(bytes, at: offset, end: end) else { return nil }
        let start = offset + element.headerLength
        let length = element.length.map { Int(clamping: $0) } ?? end - start
        offset = start + min(length, end - start)
        return (element.id, start..<offset)
    }
}

extension Span<UInt8> {
    /// An unsigned integer of EBML: 0 to 8 bytes.
    func matroskaUnsigned(_ range: Range<Int>) -> UInt64 {
        range.isEmpty || range.count > 8 ? 0 : unsigned(range.count, at: range.lowerBound)
    }

    /// A floating-point number of EBML; zero where its length is wrong.
    func matroskaFloat(_ range: Range<Int>) -> Double {
        switch range.count {
        case 4: Double(Float(bitPattern: uint32(at: range.lowerBound)))
        case 8: Double(bitPattern: unsigned(8, at: range.lowerBound))
        default: 0
        }
    }

    /// A text of EBML, up to its first zero.
    func matroskaText(_ range: Range<Int>) -> String {
        String(decoding: array(range).prefix { $0 != 0 }, as: UTF8.self)
    }
}
