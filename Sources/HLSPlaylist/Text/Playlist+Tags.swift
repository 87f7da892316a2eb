import MediaTiming

extension Playlist {
    /// A line with a tag, whether or not the standard defines the tag.
    package struct TagEntry: Sendable {
        /// The name without the number sign.
        package let name: String
        /// The tag, or `nil` if the standard does not define it.
        package let tag: TagName?
        /// The range of the line, including its line ending.
        package let line: Range<Int>
        /// The range of the text, without white space at both ends.
        package let text: Range<Int>
    }

    /// The lines with tags, in order.
    ///
    /// - Complexity: O(*n*) in bytes.
    package var tagEntries: [TagEntry] {
        let bytes = bytes
        var scanner = LineScanner(0..<bytes.count)
        var result: [TagEntry] = []
        var isFirst = true
        while let line = scanner.next(in: bytes.span) {
            defer { isFirst = false }
            let hasMark = isFirst && bytes.span.hasPrefix("\u{FEFF}", at: 0, before: bytes.count)
            let start = line.start + (hasMark ? 3 : 0)
            guard let tag = TagLine(Line(start: start, contentEnd: line.contentEnd, end: line.end), in: bytes) else {
                continue
            }
            let text = tag.line.trimmed(in: bytes.span)
            result.append(
                TagEntry(
                    name: bytes.text(tag.name),
                    tag: tag.tag(in: bytes),
                    line: start..<line.end,
                    text: text
                )
            )
        }
        return result
    }

    /// The line ending of the playlist, which is that of its first line.
    package var lineEnd: String {
        let bytes = bytes
        guard let feed = bytes.firstIndex(of: UInt8(ascii: "\n")), feed > 0, bytes[feed - 1] == UInt8(ascii: "\r")
        else { return "\n" }
        return "\r\n"
    }
}

extension TagName {
    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })

    /// Creates a tag from its name without the number sign; names are case-sensitive (§4.1).
    package init?(_ name: String) {
        guard let tag = Self.byName[name] else { return nil }
        self = tag
    }
}
