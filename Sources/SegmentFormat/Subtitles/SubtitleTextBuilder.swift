/// A builder for the lines of a cue, which limits their size.
struct SubtitleTextBuilder {
    /// The maximum text size of a cue, in bytes of UTF-8; further text is omitted.
    static let maximumSize = 16_384
    /// The maximum number of lines and spans of a cue; further ones are omitted.
    static let maximumPartCount = 512

    private var lines: [SubtitleLine] = []
    private var spans: [SubtitleSpan] = []
    private var bytes = 0
    private var parts = 0

    var isEmpty: Bool { bytes == 0 }

    /// Appends text, which may contain line breaks.
    mutating func append(_ text: String, _ style: SubtitleStyle) {
        var isFirst = true
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if !isFirst { endLine() }
            isFirst = false
            add(line, style)
        }
    }

    mutating func endLine() {
        guard parts < Self.maximumPartCount else { return }
        parts += 1
        lines.append(SubtitleLine(spans))
        spans.removeAll()
    }

    /// Returns the lines without blank ones at the start and end, and resets the builder.
    mutating func finish() -> [SubtitleLine] {
        lines.append(SubtitleLine(spans))
        let isBlank: (SubtitleLine) -> Bool = { $0.plainText.allSatisfy(\.isWhitespace) }
        let kept = lines.drop(while: isBlank)
        let result = kept.dropLast(kept.reversed().prefix(while: isBlank).count)
        self = SubtitleTextBuilder()
        return Array(result)
    }

    private mutating func add(_ text: Substring, _ style: SubtitleStyle) {
        let room = Self.maximumSize - bytes
        guard room > 0, !text.isEmpty else { return }
        var kept = String(text)
        if kept.utf8.count > room {
            kept = String(decoding: kept.utf8.prefix(room), as: UTF8.self)
        }
        bytes += text.utf8.count
        if let last = spans.indices.last, spans[last].style == style {
            spans[last].text += kept
        } else if parts < Self.maximumPartCount {
            parts += 1
            spans.append(SubtitleSpan(kept, style: style))
        }
    }
}
