/// Puts the lines of a cue together, and keeps them within bounds.
struct SubtitleText {
    /// Further text of a cue is left out, in bytes of UTF-8.
    static let mostBytes = 16_384
    /// Further lines and spans of a cue are left out.
    static let mostParts = 512

    private var lines: [SubtitleLine] = []
    private var spans: [SubtitleSpan] = []
    private var bytes = 0
    private var parts = 0

    var isEmpty: Bool { bytes == 0 }

    /// Adds text that may have line ends.
    mutating func append(_ text: String, _ style: SubtitleStyle) {
        var isFirst = true
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if !isFirst { endLine() }
            isFirst = false
            add(line, style)
        }
    }

    mutating func endLine() {
        guard parts < Self.mostParts else { return }
        parts += 1
        lines.append(SubtitleLine(spans))
        spans.removeAll()
    }

    /// The lines, without empty ones at both ends and without white space alone.
    mutating func finish() -> [SubtitleLine] {
        lines.append(SubtitleLine(spans))
        let isBlank: (SubtitleLine) -> Bool = { $0.plainText.allSatisfy(\.isWhitespace) }
        let kept = lines.drop(while: isBlank)
        let result = kept.dropLast(kept.reversed().prefix(while: isBlank).count)
        self = SubtitleText()
        return Array(result)
    }

    private mutating func add(_ text: Substring, _ style: SubtitleStyle) {
        let room = Self.mostBytes - bytes
        guard room > 0, !text.isEmpty else { return }
        var kept = String(text)
        if kept.utf8.count > room {
            kept = String(decoding: kept.utf8.prefix(room), as: UTF8.self)
        }
        bytes += text.utf8.count
        if let last = spans.indices.last, spans[last].style == style {
            spans[last].text += kept
        } else if parts < Self.mostParts {
            parts += 1
            spans.append(SubtitleSpan(kept, style: style))
        }
    }
}
