/// The text of cues with the tags of WebVTT, as `VTTCue` of browsers takes it (W3C WebVTT §3.1).
package enum WebVTTCueText {
    /// Returns the text of a cue; empty lines, which end a cue, are left out.
    package static func text(of cue: SubtitleCue) -> String {
        cue.lines.map(text(of:)).filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private static func text(of line: SubtitleLine) -> String {
        guard !line.plainText.allSatisfy(\.isWhitespace) else { return "" }
        return line.spans.map { span in
            var text = escaped(span.text)
            if span.style.isUnderlined { text = "<u>\(text)</u>" }
            if span.style.isItalic { text = "<i>\(text)</i>" }
            if span.style.isBold { text = "<b>\(text)</b>" }
            if let name = span.style.color.flatMap(className) { text = "<c.\(name)>\(text)</c>" }
            return text
        }.joined()
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case _ where character.isNewline: result += " "
            default: result.append(character)
            }
        }
        return result
    }

    /// The classes of text colors that browsers know without a style sheet (W3C WebVTT §5.1).
    private static let colors: [(name: String, red: UInt8, green: UInt8, blue: UInt8)] = [
        ("white", 255, 255, 255), ("lime", 0, 255, 0), ("cyan", 0, 255, 255), ("red", 255, 0, 0),
        ("yellow", 255, 255, 0), ("magenta", 255, 0, 255), ("blue", 0, 0, 255), ("black", 0, 0, 0),
    ]

    /// Returns the class of a text color; `nil` for a color without a class.
    private static func className(_ color: SubtitleColor) -> String? {
        colors.first { $0.red == color.red && $0.green == color.green && $0.blue == color.blue }?.name
    }
}
