import MediaTiming

/// The computed style of an element of a TTML document, including inherited values.
struct TimedTextStyle {
    enum Alignment: String {
        case left
        case center
        case right
        case start
        case end
        case justify
    }

    var text = SubtitleStyle()
    /// The font size, in percent of the video height.
    var fontSize: Double
    var alignment = Alignment.start
    var isVisible = true
    var isDisplayed = true
    var isForced = false
    var isRightToLeft = false
    var opacity = 1.0
    var ruby = ""

    private let lengths: TimedTextLengthConverter

    /// Creates the initial values (TTML2 §10.2), including those that the document specifies.
    init(_ lengths: TimedTextLengthConverter, initials: [TimedTextProperty: String]) {
        self.lengths = lengths
        fontSize = 100 / Double(lengths.cells.rows)
        apply(initials)
    }

    /// Returns the style that a child element inherits; properties that are not inherited are reset.
    func inherited() -> TimedTextStyle {
        var style = self
        style.ruby = ""
        return style
    }

    mutating func apply(_ values: [TimedTextProperty: String]) {
        if let mode = values[.writingMode] { isRightToLeft = mode == "rltb" || mode == "rl" }
        // The background of an enclosing element remains behind the text, unless the element has its own background.
        for (property, value) in values {
            switch property {
            case .color: text.color = SubtitleColor(value) ?? text.color
            case .backgroundColor:
                guard let color = SubtitleColor(value) else { continue }
                if color.alpha > 0 { text.background = color }
            case .fontStyle: text.isItalic = value == "italic" || value == "oblique"
            case .fontWeight: text.isBold = value == "bold"
            case .textDecoration: decorate(value)
            case .fontSize: size(value)
            case .textAlign: alignment = Alignment(rawValue: value) ?? alignment
            case .visibility: isVisible = value != "hidden"
            case .display: if value == "none" { isDisplayed = false }
            case .forcedDisplay: isForced = value == "true" || value == "1"
            case .direction: isRightToLeft = value == "rtl"
            case .opacity:
                if let value = Double(value), value.isFinite { opacity *= min(max(value, 0), 1) }
            case .ruby: ruby = value
            case .displayAlign, .extent, .origin, .padding, .position, .showBackground, .writingMode: break
            }
        }
    }

    private mutating func decorate(_ value: String) {
        for word in value.split(whereSeparator: \.isWhitespace) {
            switch word {
            case "underline": text.isUnderlined = true
            case "none", "noUnderline": text.isUnderlined = false
            default: break
            }
        }
    }

    /// Sets the font size from one length, or from two of which the second is the height; relative to the inherited
    /// size.
    private mutating func size(_ value: String) {
        guard let last = value.split(whereSeparator: \.isWhitespace).prefix(2).last,
            let size = lengths.percent(last, .vertical, base: fontSize, fontSize: fontSize), size > 0
        else { return }
        fontSize = size
    }

    /// The style of a text span.
    var span: SubtitleStyle {
        var style = text
        style.relativeSize = fontSize / SubtitleLayout.lineHeight
        if opacity < 1 {
            var color = style.color ?? .white
            color.alpha = UInt8(saturating: (Double(color.alpha) * opacity).rounded())
            style.color = color
            if var background = style.background {
                background.alpha = UInt8(saturating: (Double(background.alpha) * opacity).rounded())
                style.background = background
            }
        }
        return style
    }
}
