/// Finds the lines of a text that have something in them.
struct ExtendedLogLines {
    /// The number of the line handed out last, counted from 1.
    private(set) var number = 0

    private var index = 0

    /// The next line of the text, which is the same each time, without the line's end and the space before it.
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

/// A line that says something about the others: `#Name: text`.
struct ExtendedLogDirective {
    /// The name, in small letters.
    let name: String
    private let text: [String]

    /// Reads a line that begins with `#`.
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

    /// Whether it names version 1.0, or a later one that adds to it.
    var namesVersion1: Bool { text.first.map { $0 == "1" || $0.hasPrefix("1.") } ?? false }

    /// Whether it says that texts are spelled as ``ExtendedLogText`` does: by the name of the software, or in so many words.
    var namesOurSpelling: Bool {
        switch name {
        case "software": text.first?.hasPrefix("millstream") ?? false
        case "remark": text.joined(separator: " ") == ExtendedLogText.spellingRemark.lowercased()
        default: false
        }
    }

    /// The words behind the colon, in small letters.
    func words(atMost limit: Int) -> [String] { Array(text.prefix(limit)) }
}
