/// Walks over the lines of a playlist without copying them.
struct LineScanner {
    /// Where the next line starts.
    private(set) var position: Int
    private let end: Int

    init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    /// The next line, `nil` behind the last.
    ///
    /// A line ends with LF or CRLF (RFC 8216bis §4.1); the last one may end with neither.
    mutating func next(in bytes: Span<UInt8>) -> Line? {
        guard position < end else { return nil }
        let start = position
        var index = start
        while index < end, bytes[index] != UInt8(ascii: "\n") { index += 1 }
        position = index < end ? index + 1 : end
        if index > start, bytes[index - 1] == UInt8(ascii: "\r") { index -= 1 }
        return Line(start: start, contentEnd: index, end: position)
    }
}

/// One line: where it starts, where its text ends, and where the next line starts.
struct Line: Hashable {
    let start: Int
    let contentEnd: Int
    let end: Int

    var range: Range<Int> { start..<end }

    /// The range of its text without white space at either side.
    func trimmed(in bytes: Span<UInt8>) -> Range<Int> {
        var (low, high) = (start, contentEnd)
        while low < high, bytes[low].isBlank { low += 1 }
        while high > low, bytes[high - 1].isBlank { high -= 1 }
        return low..<high
    }
}

extension UInt8 {
    /// A space, a tab or a carriage return.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\r") }
}

extension [UInt8] {
    /// The text of a range; what is not UTF-8 becomes U+FFFD.
    func text(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }

    /// Whether the bytes at `offset` are those of `text`.
    func hasPrefix(_ text: StaticString, at offset: Int, before end: Int) -> Bool {
        span.hasPrefix(text, at: offset, before: end)
    }
}

extension Span<UInt8> {
    /// Whether the bytes at `offset` are those of `text`.
    func hasPrefix(_ text: StaticString, at offset: Int, before end: Int) -> Bool {
        let length = text.utf8CodeUnitCount
        guard end - offset >= length else { return false }
        return text.withUTF8Buffer { wanted in
            for index in 0..<length where unsafe wanted[index] != self[offset + index] { return false }
            return true
        }
    }
}
