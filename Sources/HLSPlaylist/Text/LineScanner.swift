import MediaTiming

/// An iterator over the lines of a playlist that does not copy them.
///
/// A line ends with LF or CRLF (RFC 8216bis §4.1). A lone CR also ends a line, as in most players; the diagnostics
/// report it. The last line may have no line ending.
struct LineScanner {
    /// The offset of the next line.
    private(set) var position: Int
    private let end: Int
    private let mayContainCarriageReturns: Bool

    /// Creates a scanner for a range.
    ///
    /// - Parameters:
    ///   - range: The range to scan.
    ///   - mayContainCarriageReturns: Pass `false` if the range contains no CR, which makes scanning faster.
    init(_ range: Range<Int>, mayContainCarriageReturns: Bool = true) {
        position = range.lowerBound
        end = range.upperBound
        self.mayContainCarriageReturns = mayContainCarriageReturns
    }

    /// Returns the next line, or `nil` after the last.
    @inline(__always)
    mutating func next(in bytes: Span<UInt8>) -> Line? {
        guard position < end else { return nil }
        let start = position
        guard mayContainCarriageReturns else {
            let feed = bytes.firstIndex(of: UInt8(ascii: "\n"), in: start..<end)
            position = feed.map { $0 + 1 } ?? end
            return Line(start: start, contentEnd: feed ?? end, end: position)
        }
        // The search proceeds in growing ranges: if lines end with CR, the next LF may be at the end of the file.
        var (low, length) = (start, 256)
        while low < end {
            let high = low + min(length, end - low)
            let feed = bytes.firstIndex(of: UInt8(ascii: "\n"), in: low..<high)
            if let carriage = bytes.firstIndex(of: UInt8(ascii: "\r"), in: low..<(feed ?? high)) {
                position = carriage + 1
                if position < end, bytes[position] == UInt8(ascii: "\n") { position += 1 }
                return Line(start: start, contentEnd: carriage, end: position)
            }
            if let feed {
                position = feed + 1
                return Line(start: start, contentEnd: feed, end: position)
            }
            low = high
            length *|= 2
        }
        position = end
        return Line(start: start, contentEnd: end, end: end)
    }
}

/// A line: the offsets of its start, of the end of its text, and of the next line.
struct Line: Hashable {
    let start: Int
    let contentEnd: Int
    let end: Int

    var range: Range<Int> { start..<end }

    /// Returns the range of the text without leading and trailing white space.
    @inline(__always)
    func trimmed(in bytes: Span<UInt8>) -> Range<Int> { bytes.trimmingBlanks(start..<contentEnd) }
}

extension UInt8 {
    /// A Boolean value that indicates whether the byte is a space, a tab or a carriage return.
    @inline(__always)
    var isBlank: Bool {
        // One comparison suffices for almost every byte.
        self <= UInt8(ascii: " ")
            && (self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\r"))
    }

    /// A Boolean value that indicates whether the byte is a decimal digit.
    @inline(__always)
    var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
}

extension [UInt8] {
    /// Returns the text of a range; invalid UTF-8 becomes U+FFFD.
    func text(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }

    /// Returns a decimal integer of at most 63 bits (§4.2) that may be surrounded by white space, or `nil` for anything
    /// else.
    func trimmedInteger(_ range: Range<Int>) -> Int64? {
        let span = span
        return integer(span.trimmingBlanks(range))
    }

    /// Returns a decimal integer of at most 63 bits without a sign (§4.2), or `nil` for anything else.
    func integer(_ range: Range<Int>) -> Int64? {
        guard self[range].allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else { return nil }
        return Int64(text(range))
    }

    /// Returns the line that starts at an offset, or `nil` at the end.
    func line(at offset: Int) -> Line? {
        var scanner = LineScanner(offset..<count)
        return scanner.next(in: span)
    }

    /// Returns the tag in the line that starts at an offset, or `nil` if there is none.
    func tagLine(at offset: Int) -> TagLine? { line(at: offset).flatMap { TagLine($0, in: self) } }
}

extension Span<UInt8> {
    /// Returns a range without leading and trailing white space.
    @inline(__always)
    func trimmingBlanks(_ range: Range<Int>) -> Range<Int> {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high, self[low].isBlank { low += 1 }
        while high > low, self[high - 1].isBlank { high -= 1 }
        return low..<high
    }

    /// Returns a range without leading and trailing spaces and tabs.
    func trimmingSpaces(_ range: Range<Int>) -> Range<Int> {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high, self[low] == UInt8(ascii: " ") || self[low] == UInt8(ascii: "\t") { low += 1 }
        while high > low, self[high - 1] == UInt8(ascii: " ") || self[high - 1] == UInt8(ascii: "\t") { high -= 1 }
        return low..<high
    }

    /// Reads consecutive decimal digits and moves `index` after them.
    ///
    /// - Returns: The number, or `nil` if there is no digit or the number exceeds 64 bits.
    @inline(__always)
    func unsignedInteger(_ index: inout Int, before end: Int) -> UInt64? {
        let first = index
        var position = index
        var number: UInt64 = 0
        // A number of 19 digits fits in 64 bits, so that its digits are added without checks.
        let unchecked = Swift.min(end, first + 19)
        while position < unchecked {
            let digit = self[position] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            number = number &* 10 &+ UInt64(digit)
            position += 1
        }
        while position - first >= 19, position < end, self[position].isDigit {
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            // Bounded: the byte is a digit.
            let (sum, overflowed) = product.addingReportingOverflow(UInt64(self[position] - UInt8(ascii: "0")))
            guard !overflow, !overflowed else { return nil }
            number = sum
            position += 1
        }
        index = position
        return position > first ? number : nil
    }

    /// Reads one to nine decimal digits and moves `index` after them, or returns `nil` for none or more.
    func digits(_ index: inout Int, before end: Int) -> Int? {
        let start = index
        var number = 0
        while index < end, self[index] >= UInt8(ascii: "0"), self[index] <= UInt8(ascii: "9") {
            guard index - start < 9 else { return nil }
            // Bounded: at most nine digits, each compared with both ends.
            number = number * 10 + Int(self[index] - UInt8(ascii: "0"))
            index += 1
        }
        return index > start ? number : nil
    }

    /// Returns a Boolean value that indicates whether a range contains exactly the bytes of `text`.
    @inline(__always)
    func matches(_ text: String, in range: Range<Int>) -> Bool {
        let wanted = text.utf8
        guard wanted.count == range.count else { return false }
        var index = range.lowerBound
        for byte in wanted {
            guard self[index] == byte else { return false }
            index += 1
        }
        return true
    }

    /// Returns a Boolean value that indicates whether the bytes at `offset` are those of `text`.
    @inline(__always)
    func hasPrefix(_ text: String, at offset: Int, before end: Int) -> Bool {
        let length = text.utf8.count
        return end - offset >= length && matches(text, in: offset..<(offset + length))
    }
}
