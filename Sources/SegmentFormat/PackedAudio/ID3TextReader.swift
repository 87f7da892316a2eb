import MediaTiming

/// A reader of the strings of an ID3 frame, which have one of four encodings (ID3v2.4.0 structure, §4).
struct ID3TextReader {
    private enum Encoding { case latin1, utf16, utf16BigEndian, utf8 }

    private var offset: Int
    private let end: Int
    private var encoding = Encoding.latin1

    init(_ range: Range<Int>) {
        offset = range.lowerBound
        end = range.upperBound
    }

    mutating func byte(_ bytes: Span<UInt8>) -> UInt8 {
        guard offset < end else { return 0 }
        offset += 1
        return bytes[offset - 1]
    }

    mutating func readEncoding(_ bytes: Span<UInt8>) {
        switch byte(bytes) {
        case 1: encoding = .utf16
        case 2: encoding = .utf16BigEndian
        case 3: encoding = .utf8
        default: encoding = .latin1
        }
    }

    mutating func fixed(_ length: Int, _ bytes: Span<UInt8>) -> String {
        let stop = min(end, offset + length)
        defer { offset = stop }
        return Self.latin1(bytes.byteArray(in: offset..<stop))
    }

    mutating func rest(_ bytes: Span<UInt8>) -> [UInt8] {
        defer { offset = end }
        return bytes.byteArray(in: offset..<end)
    }

    /// Reads a Latin-1 string up to a zero byte or the end.
    mutating func latin1(_ bytes: Span<UInt8>) -> String {
        var stop = offset
        while stop < end, bytes[stop] != 0 { stop += 1 }
        defer { offset = min(end, stop + 1) }
        return Self.latin1(bytes.byteArray(in: offset..<stop))
    }

    /// Reads a string in the encoding of the frame, up to its terminator or the end.
    mutating func text(_ bytes: Span<UInt8>) -> String {
        switch encoding {
        case .latin1:
            return latin1(bytes)
        case .utf8:
            var stop = offset
            while stop < end, bytes[stop] != 0 { stop += 1 }
            defer { offset = min(end, stop + 1) }
            return String(decoding: bytes.byteArray(in: offset..<stop), as: UTF8.self)
        case .utf16, .utf16BigEndian:
            return wideText(bytes)
        }
    }

    /// Reads all terminated strings up to the end; at most 1,000.
    mutating func texts(_ bytes: Span<UInt8>) -> [String] {
        var list: [String] = []
        repeat { list.append(text(bytes)) } while offset < end && list.count < 1_000
        return list
    }

    private mutating func wideText(_ bytes: Span<UInt8>) -> String {
        var units: [UInt16] = []
        // Without a byte order mark, little-endian order is assumed, as written by most software.
        var isBigEndian = encoding == .utf16BigEndian
        var isFirst = true
        while offset + 1 < end {
            let (first, second) = (UInt16(bytes[offset]), UInt16(bytes[offset + 1]))
            offset += 2
            if first == 0, second == 0 { return String(decoding: units, as: UTF16.self) }
            let mark = first << 8 | second
            if isFirst, mark == 0xFEFF || mark == 0xFFFE {
                isBigEndian = mark == 0xFEFF
            } else {
                units.append(isBigEndian ? mark : second << 8 | first)
            }
            isFirst = false
        }
        offset = end
        return String(decoding: units, as: UTF16.self)
    }

    private static func latin1(_ bytes: [UInt8]) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
