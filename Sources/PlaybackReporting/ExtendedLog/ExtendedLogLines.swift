/// An iterator over the nonempty lines of a text.
struct ExtendedLogLines {
    /// The number of the last returned line, starting at 1.
    private(set) var number = 0

    private var index = 0

    /// Returns the next nonempty line without its line feed and leading spaces.
    ///
    /// Every call has to pass the same text. A byte-order mark at the beginning is skipped.
    mutating func next(in bytes: Span<UInt8>) -> Range<Int>? {
        if index == 0, bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
            index = 3
        }
        while index < bytes.count {
            var start = index
            var end = index
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
            index = end + 1
            number += 1
            while start < end, ExtendedLogEntry.isSpace(bytes[start]) { start += 1 }
            if start < end { return start..<end }
        }
        return nil
    }
}

/// A directive: a line of the form `#Name: text`.
struct ExtendedLogDirective {
    /// The name, in lowercase.
    let name: String
    private let text: [String]

    /// Creates a directive from a line that begins with `#`.
    init(_ line: Span<UInt8>) {
        var words: [String] = [""]
        var hasColon = false
        for index in 1..<max(1, line.count) {
            let byte = line[index]
            if !hasColon, byte == UInt8(ascii: ":") {
                hasColon = true
                words.append("")
            } else if ExtendedLogEntry.isSpace(byte) {
                if words.last != "" { words.append("") }
            } else {
                words[words.count - 1].unicodeScalars.append(Unicode.Scalar(byte | (0x41...0x5A ~= byte ? 0x20 : 0)))
            }
        }
        name = words[0]
        text = words.dropFirst().filter { !$0.isEmpty }
    }

    /// A Boolean value that indicates whether the directive contains version 1.0 or a later minor version.
    var isVersion1: Bool { text.first.map { $0 == "1" || $0.hasPrefix("1.") } ?? false }

    /// A Boolean value that indicates whether the directive declares the escapes of ``ExtendedLogText``.
    ///
    /// The software name or a remark declares them.
    var declaresEscapes: Bool {
        switch name {
        case "software": text.first?.hasPrefix("millstream") ?? false
        case "remark": text.joined(separator: " ") == ExtendedLogText.escapeRemark.lowercased()
        default: false
        }
    }

    /// Returns the words after the colon, in lowercase.
    func words(maximumCount limit: Int) -> [String] { Array(text.prefix(limit)) }
}
