/// An iterator over the lines of a WebVTT document, which end in LF, CR or CRLF.
struct WebVTTLineIterator {
    private var offset = 0
    private let end: Int

    var isAtEnd: Bool { offset >= end }

    init(_ bytes: Span<UInt8>) {
        end = bytes.count
    }

    /// Skips the first line, and returns `false` if it is not the signature of a WebVTT document (W3C WebVTT §4.1).
    mutating func skipSignature(_ bytes: Span<UInt8>) -> Bool {
        if bytes.hasBytes("\u{FEFF}", at: 0) { offset = 3 }
        guard bytes.hasBytes("WEBVTT", at: offset) else { return false }
        offset += 6
        guard offset < end else { return true }
        guard [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset]) else { return false }
        _ = next(bytes)
        return true
    }

    /// Returns the next line without its line terminator, or `nil` after the last line.
    mutating func next(_ bytes: Span<UInt8>) -> WebVTTLine? {
        guard offset < end else { return nil }
        let start = offset
        var stop = start
        while stop < end, bytes[stop] != 0x0A, bytes[stop] != 0x0D { stop += 1 }
        offset = min(end, stop + 1)
        if stop + 1 < end, bytes[stop] == 0x0D, bytes[stop + 1] == 0x0A { offset += 1 }
        return WebVTTLine(range: start..<stop, bytes)
    }

    /// Moves back to the given line, so that it is the next one.
    mutating func rewind(to line: WebVTTLine) { offset = line.range.lowerBound }
}

/// A line of a WebVTT document.
struct WebVTTLine {
    let range: Range<Int>
    let hasArrow: Bool

    init(range: Range<Int>, _ bytes: Span<UInt8>) {
        self.range = range
        hasArrow = range.contains { bytes.hasBytes("-->", at: $0) && $0 + 3 <= range.upperBound }
    }

    /// Returns the text of the line; zero bytes are replaced with U+FFFD.
    func text(_ bytes: Span<UInt8>) -> String {
        let text = String(decoding: bytes.byteArray(in: range), as: UTF8.self)
        guard text.utf8.contains(0) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    }
}
