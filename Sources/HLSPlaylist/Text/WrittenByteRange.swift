import MediaTiming

/// The numbers of an `EXT-X-BYTERANGE` tag or a `BYTERANGE` attribute: `length[@start]`.
struct WrittenByteRange {
    let length: Int64
    let start: Int64?

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(bytes, in: 0..<bytes.count)
    }

    init?(_ bytes: [UInt8], in range: Range<Int>) {
        let span = bytes.span
        var index = range.lowerBound
        guard let length = Self.number(span, &index, before: range.upperBound) else { return nil }
        self.length = length
        guard index < range.upperBound else {
            start = nil
            return
        }
        guard span[index] == UInt8(ascii: "@") else { return nil }
        index += 1
        guard let start = Self.number(span, &index, before: range.upperBound), index == range.upperBound else {
            return nil
        }
        self.start = start
    }

    /// The byte range, or `nil` without an explicit offset.
    var range: ByteRange? { start.flatMap { ByteRange(start: $0, length: length) } }

    /// Returns a Boolean value that indicates whether a number of a valid byte range, or its end, exceeds 63 bits, so that
    /// the range is ignored.
    static func exceedsLimit(_ bytes: [UInt8], in range: Range<Int>) -> Bool {
        // A number of 63 bits has 19 digits.
        guard range.count >= 19 else { return false }
        guard let written = WrittenByteRange(bytes, in: range) else { return true }
        return written.start != nil && written.range == nil
    }

    /// Reads a decimal integer of at most 63 bits with white space around it, or returns `nil`.
    private static func number(_ bytes: Span<UInt8>, _ index: inout Int, before end: Int) -> Int64? {
        while index < end, bytes[index].isBlank { index += 1 }
        guard let number = bytes.unsignedInteger(&index, before: end) else { return nil }
        while index < end, bytes[index].isBlank { index += 1 }
        return Int64(exactly: number)
    }
}
