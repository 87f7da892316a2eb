/// Goes through the lines of a WebVTT document, whatever ends them.
struct WebVTTLines {
    private var offset = 0
    private let end: Int

    var isAtEnd: Bool { offset >= end }

    init(_ bytes: Span<UInt8>) {
        end = bytes.count
    }

    /// Moves behind the first line; `false` where it is not that of a WebVTT document (W3C WebVTT §4.1).
    mutating func takeSignature(_ bytes: Span<UInt8>) -> Bool {
        if bytes.hasBytes("\u{FEFF}", at: 0) { offset = 3 }
        guard bytes.hasBytes("WEBVTT", at: offset) else { return false }
        offset += 6
        guard offset < end else { return true }
        guard [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset]) else { return false }
        _ = next(bytes)
        return true
    }

    /// The next line without its end; `nil` behind the last.
    mutating func next(_ bytes: Span<UInt8>) -> WebVTTLine? {
        guard offset < end else { return nil }
        let start = offset
        var stop = start
        while stop < end, bytes[stop] != 0x0A, bytes[stop] != 0x0D { stop += 1 }
        offset = min(end, stop + 1)
        if stop + 1 < end, bytes[stop] == 0x0D, bytes[stop + 1] == 0x0A { offset += 1 }
        return WebVTTLine(range: start..<stop, bytes)
    }

    /// Goes back to a line, so that it is the next one.
    mutating func back(to line: WebVTTLine) { offset = line.range.lowerBound }
}

/// A line of a WebVTT document.
struct WebVTTLine {
    let range: Range<Int>
    let hasArrow: Bool

    init(range: Range<Int>, _ bytes: Span<UInt8>) {
        self.range = range
        hasArrow = range.contains { bytes.hasBytes("-->", at: $0) && $0 + 3 <= range.upperBound }
    }

    /// Its text; zero bytes become the sign for a character that is missing.
    func text(_ bytes: Span<UInt8>) -> String {
        let text = String(decoding: bytes.array(range), as: UTF8.self)
        guard text.utf8.contains(0) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    }
}
