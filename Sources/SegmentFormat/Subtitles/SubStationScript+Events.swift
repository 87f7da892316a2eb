import MediaTiming

extension SubStationScript {
    /// Returns the events of a cue at its current position; resolve overlaps with ``SubtitlePositioner`` first.
    ///
    /// - Returns: One event, or two if only a part of the text has a background, or for vertical writing one for each
    ///   column; empty for a cue without text.
    package func events(for cue: SubtitleCue) -> [SubStationEvent] {
        guard cue.lines.contains(where: { !$0.plainText.isEmpty }) else { return [] }
        let spans = cue.lines.flatMap(\.spans)
        let hasBox = spans.contains(where: \.hasBackground)
        if cue.placement.writingDirection != .horizontal { return columns(of: cue, hasBox: hasBox) }
        let isMixed = hasBox && spans.contains { !$0.hasBackground && !$0.text.allSatisfy(\.isWhitespace) }
        // A style has either outlines or boxes. Therefore text that has a background only in part is drawn twice:
        // boxes with transparent text, and the visible text in a layer above.
        guard isMixed else { return [horizontal(cue, hasBox ? .boxes : .outlines)] }
        return [horizontal(cue, .boxesOnly), horizontal(cue, .outlines, layer: 1)]
    }

    private enum BoxStyle {
        case outlines
        case boxes
        case boxesOnly
    }

    private func horizontal(_ cue: SubtitleCue, _ look: BoxStyle, layer: Int = 0) -> SubStationEvent {
        let placement = cue.placement
        let x: Double
        switch placement.alignment {
        case .left: x = placement.left
        case .center: x = placement.left + placement.boxSize / 2
        case .right: x = placement.left + placement.boxSize
        }
        let (row, column) = (Self.row(placement.verticalAnchor), Self.column(placement.alignment))
        var text = "{\\an\(row + column)\\pos(\(horizontalUnits(x)),\(verticalUnits(placement.verticalPosition)))"
        if !placement.wrapsLines { text += "\\q2" }
        text += "}"
        var style: SubtitleStyle?
        for (index, line) in cue.lines.enumerated() {
            if index > 0 { text += "\\N" }
            var isStart = true
            for span in line.spans {
                if style != span.style { text += Self.override(span.style, look) }
                style = span.style
                text += Self.escaped(span.text, isStart: isStart)
                isStart = false
            }
        }
        // Margins determine the width at which lines wrap; the position does not depend on them.
        let width = horizontalUnits(min(max(placement.boxSize, 5), 100))
        let margin = placement.wrapsLines ? max(0, self.width - width) : 0
        return event(cue, text, margin: margin, look, layer: layer)
    }

    /// Returns one event per column with one character per line, because fonts for vertical writing are not always
    /// available.
    private func columns(of cue: SubtitleCue, hasBox: Bool) -> [SubStationEvent] {
        let placement = cue.placement
        let advance = SubtitleLayout.lineHeight * Double(Self.height) / Double(width)
        let extent = Double(cue.lines.count) * advance
        var left: Double
        switch placement.horizontalAnchor {
        case .left: left = placement.horizontalPosition
        case .center: left = placement.horizontalPosition - extent / 2
        case .right: left = placement.horizontalPosition - extent
        }
        let row = Self.row(placement.verticalAnchor)
        let lines = placement.writingDirection == .verticalGrowingLeft ? cue.lines.reversed() : cue.lines
        return lines.map { line in
            var text =
                "{\\an\(row + 2)\\pos(\(horizontalUnits(left + advance / 2)),\(verticalUnits(placement.verticalPosition)))\\q2}"
            var isStart = true
            for span in line.spans {
                text += Self.override(span.style, hasBox ? .boxes : .outlines)
                for character in span.text {
                    if !isStart { text += "\\N" }
                    isStart = false
                    text += Self.escaped(String(character), isStart: true)
                }
            }
            left += advance
            return event(cue, text, margin: 0, hasBox ? .boxes : .outlines)
        }
    }

    private func event(
        _ cue: SubtitleCue,
        _ text: String,
        margin: Int,
        _ look: BoxStyle,
        layer: Int = 0
    ) -> SubStationEvent {
        SubStationEvent(
            timeRange: cue.timeRange,
            layer: min(max(cue.layer, 0), 1_000) *| 2 + layer,
            style: look == .outlines ? Self.outlined : Self.boxed,
            marginLeft: margin / 2,
            marginRight: margin - margin / 2,
            text: text
        )
    }

    private func horizontalUnits(_ percent: Double) -> Int { Self.units(percent, of: width) }
    private func verticalUnits(_ percent: Double) -> Int { Self.units(percent, of: Self.height) }

    private static func units(_ percent: Double, of length: Int) -> Int {
        let value = percent.isFinite ? min(max(percent, -100), 200) : 0
        return Int(saturating: (value * Double(length) / 100).rounded())
    }

    // Positions are numbered as on a numeric keypad: 1 to 3 at the bottom, 4 to 6 in the middle, 7 to 9 at the top.
    private static func row(_ anchor: SubtitlePlacement.VerticalAnchor) -> Int {
        switch anchor {
        case .bottom: 0
        case .middle: 3
        case .top: 6
        }
    }

    private static func column(_ anchor: SubtitlePlacement.HorizontalAnchor) -> Int {
        switch anchor {
        case .left: 1
        case .center: 2
        case .right: 3
        }
    }

    private static func override(_ style: SubtitleStyle, _ look: BoxStyle) -> String {
        let color = style.color ?? .white
        var text = "{\\b\(style.isBold ? 1 : 0)\\i\(style.isItalic ? 1 : 0)\\u\(style.isUnderlined ? 1 : 0)"
        let tenths = (fontSize * style.relativeSize * 10).rounded()
        text += "\\fs\(Int(saturating: tenths) / 10).\(Int(saturating: tenths) % 10)"
        text += "\\1c\(colorCode(color))\\1a\(alphaCode(look == .boxesOnly ? .transparent : color))"
        if look != .outlines {
            let box = style.background ?? .transparent
            text += "\\3c\(colorCode(box))\\3a\(alphaCode(box))"
        } else {
            // The outline of transparent text has to be transparent, too.
            text += "\\3a\(alphaCode(color))"
        }
        return text + "}"
    }

    /// Returns the color code of a script, in the order blue, green, red.
    private static func colorCode(_ color: SubtitleColor) -> String {
        "&H\(hexadecimal(color.blue))\(hexadecimal(color.green))\(hexadecimal(color.red))&"
    }

    /// Returns the alpha code of a script, in which 0 is opaque and 255 is transparent.
    private static func alphaCode(_ color: SubtitleColor) -> String { "&H\(hexadecimal(255 -| color.alpha))&" }

    private static func hexadecimal(_ value: UInt8) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return digits.utf8.count == 1 ? "0" + digits : digits
    }

    /// Returns the text with all characters escaped that could be parsed as override tags or line breaks.
    ///
    /// A backslash cannot be escaped in a script. It is followed by an invisible word joiner, which prevents it from
    /// forming a command with the next character.
    static func escaped(_ text: String, isStart: Bool) -> String {
        var result = String.UnicodeScalarView()
        var isLeading = isStart
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\":
                result.append("\\")
                result.append("\u{2060}")
            case "{", "}":
                result.append("\\")
                result.append(scalar)
            case " " where isLeading:
                // Renderers remove leading spaces, but not non-breaking ones.
                result.append("\u{A0}")
                continue
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", "\u{FEFF}":
                result.append(" ")
            default:
                result.append(scalar)
            }
            isLeading = false
        }
        return String(result)
    }
}

extension SubtitleSpan {
    fileprivate var hasBackground: Bool { (style.background?.alpha ?? 0) > 0 }
}
