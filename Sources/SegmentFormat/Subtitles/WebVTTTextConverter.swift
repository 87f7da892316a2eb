/// A converter from the nodes of a cue's text to lines of styled spans.
struct WebVTTTextConverter {
    private let sheet: WebVTTStyleSheet
    private let id: String
    private var text = SubtitleTextBuilder()

    init(_ sheet: WebVTTStyleSheet, id: String) {
        self.sheet = sheet
        self.id = id
    }

    mutating func lines(_ nodes: [WebVTTNode]) -> [SubtitleLine] {
        var style = SubtitleStyle()
        sheet.apply(to: &style, cueID: id)
        for node in nodes { append(node, style) }
        return text.finish()
    }

    private mutating func append(_ node: WebVTTNode, _ style: SubtitleStyle) {
        switch node {
        case .text(let plain): text.append(plain, style)
        case .timestamp: break
        case .element(let element):
            var style = style
            switch element.tag {
            case .bold: style.isBold = true
            case .italic: style.isItalic = true
            case .underline: style.isUnderlined = true
            default: break
            }
            for name in element.classes { Self.apply(name, &style) }
            sheet.apply(to: &style, element)
            // Ruby annotations follow their text in parentheses, because there is no space for them above the line.
            if element.tag == .rubyText { text.append("(", style) }
            for child in element.children { append(child, style) }
            if element.tag == .rubyText { text.append(")", style) }
        }
    }

    /// Applies the default colors of class names (W3C WebVTT §5.1).
    private static func apply(_ name: String, _ style: inout SubtitleStyle) {
        if let color = colors[name] { style.color = color }
        if name.hasPrefix("bg_"), let color = colors[String(name.dropFirst(3))] { style.background = color }
    }

    private static let colors: [String: SubtitleColor] = [
        "white": .white, "lime": .init(0x00FF00), "cyan": .init(0x00FFFF), "red": .init(0xFF0000),
        "yellow": .init(0xFFFF00), "magenta": .init(0xFF00FF), "blue": .init(0x0000FF), "black": .black,
    ]
}
