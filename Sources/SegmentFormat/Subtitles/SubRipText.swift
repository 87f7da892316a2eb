import MediaTiming

/// A parser for the timing lines and the tags of SubRip.
struct SubRipText {
    private var text = SubtitleTextBuilder()
    private var styles: [(tag: String, style: SubtitleStyle)] = []
    private var style = SubtitleStyle()
    private var placement = SubtitlePlacement()

    /// The maximum nesting depth of tags; deeper tags are ignored.
    private static let maximumDepth = 32
    /// The maximum length of a tag, in characters; longer ones are treated as text.
    private static let maximumTagLength = 256

    mutating func cue(_ lines: [Substring], id: String, range: MediaTimeRange) -> SubtitleCue? {
        for (index, line) in lines.enumerated() {
            if index > 0 { text.endLine() }
            take(line)
        }
        let lines = text.finish()
        guard !lines.isEmpty else { return nil }
        return SubtitleCue(id: id, timeRange: range, lines: lines, placement: placement)
    }

    private mutating func take(_ line: Substring) {
        var rest = line
        var plain = ""
        while let first = rest.first {
            let close: Character = first == "<" ? ">" : "}"
            if first == "<" || first == "{" && rest.dropFirst().first == "\\",
                let end = rest.prefix(Self.maximumTagLength).firstIndex(of: close)
            {
                let tag = rest[rest.index(after: rest.startIndex)..<end]
                if first == "{" || isTag(tag) {
                    text.append(plain, style)
                    plain = ""
                    if first == "{" { override(tag) } else { apply(tag) }
                    rest = rest[rest.index(after: end)...]
                    continue
                }
            }
            plain.append(first)
            rest.removeFirst()
        }
        text.append(plain, style)
    }

    private static let tags: Set<String> = ["i", "b", "u", "s", "font"]

    private func name(_ tag: Substring) -> String {
        tag.drop { $0 == "/" }.prefix { $0.isLetter }.lowercased()
    }

    private func isTag(_ tag: Substring) -> Bool { Self.tags.contains(name(tag)) }

    private mutating func apply(_ tag: Substring) {
        let name = name(tag)
        if tag.first == "/" {
            guard let index = styles.lastIndex(where: { $0.tag == name }) else { return }
            style = styles[index].style
            styles.removeSubrange(index...)
            return
        }
        guard styles.count < Self.maximumDepth else { return }
        styles.append((name, style))
        switch name {
        case "i": style.isItalic = true
        case "b": style.isBold = true
        case "u": style.isUnderlined = true
        case "font":
            guard let range = tag.firstRange(of: "color") ?? tag.firstRange(of: "COLOR") else { return }
            let value = tag[range.upperBound...].drop { " =\"'".contains($0) }.prefix { !"\"' >".contains($0) }
            style.color = SubtitleColor(value) ?? SubtitleColor("#" + value) ?? style.color
        default: break
        }
    }

    /// Applies override tags of SubStation Alpha that converters leave in the text: the position and simple styles.
    private mutating func override(_ tag: Substring) {
        for command in tag.split(separator: "\\") {
            switch command {
            case "i1": style.isItalic = true
            case "i0": style.isItalic = false
            case "b1": style.isBold = true
            case "b0": style.isBold = false
            case "u1": style.isUnderlined = true
            case "u0": style.isUnderlined = false
            default:
                guard command.hasPrefix("an"), let position = Int(command.dropFirst(2)), (1...9).contains(position)
                else {
                    continue
                }
                self.setPosition(position)
            }
        }
    }

    /// Sets the position from its number, which follows the layout of a numeric keypad.
    private mutating func setPosition(_ number: Int) {
        let safe = SubtitleLayout.safeArea
        switch (number - 1) / 3 {
        case 0: (placement.verticalAnchor, placement.verticalPosition) = (.bottom, safe.upperBound)
        case 1: (placement.verticalAnchor, placement.verticalPosition) = (.middle, 50)
        default: (placement.verticalAnchor, placement.verticalPosition) = (.top, safe.lowerBound)
        }
        switch (number - 1) % 3 {
        case 0: (placement.horizontalAnchor, placement.horizontalPosition) = (.left, safe.lowerBound)
        case 1: (placement.horizontalAnchor, placement.horizontalPosition) = (.center, 50)
        default: (placement.horizontalAnchor, placement.horizontalPosition) = (.right, safe.upperBound)
        }
        placement.alignment = placement.horizontalAnchor
    }
}

extension SubRipText {
    /// Returns the time range of a line such as `00:01:02,345 --> 00:01:04,000 X1:40`, or `nil` for other lines.
    static func times(_ line: Substring) -> MediaTimeRange? {
        guard line.utf8.count <= 200, let arrow = line.firstRange(of: "-->"),
            let start = time(line[..<arrow.lowerBound])
        else { return nil }
        let rest = line[arrow.upperBound...].drop(while: \.isWhitespace).prefix { !$0.isWhitespace || $0 == "\u{A0}" }
        guard let end = time(rest) else { return nil }
        return MediaTimeRange(start: start, end: end)
    }

    /// Returns the time of hours, minutes and seconds; hours and minutes are optional, and fractions have up to nine
    /// digits.
    private static func time(_ text: Substring) -> MediaTime? {
        let parts = String(text.filter { !$0.isWhitespace }.map { $0 == "," ? "." : $0 }).split(separator: ":")
        guard (1...3).contains(parts.count), let last = parts.last, last.utf8.count <= 12 else { return nil }
        guard last.utf8.first.map({ (0x30...0x39).contains($0) }) == true, let seconds = MediaTime(decimal: last) else {
            return nil
        }
        var minutes: Int64 = 0
        for part in parts.dropLast() {
            guard part.utf8.count <= 6, part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int64(part)
            else { return nil }
            minutes = minutes.multipliedSaturated(by: 60).addingSaturated(value)
        }
        return MediaTime(seconds: minutes *| 60) + seconds
    }

    /// The characters of the bytes from 0x80 to 0x9F in Windows-1252, the default encoding of the Encoding Standard.
    ///
    /// Five bytes stand for control characters, as in ISO/IEC 8859-1.
    private static let windowsCharacters: [Unicode.Scalar] =
        Array(
            "\u{20AC}\u{81}\u{201A}\u{192}\u{201E}\u{2026}\u{2020}\u{2021}\u{2C6}\u{2030}\u{160}\u{2039}\u{152}\u{8D}\u{17D}\u{8F}"
                .unicodeScalars
        )
        + Array(
            "\u{90}\u{2018}\u{2019}\u{201C}\u{201D}\u{2022}\u{2013}\u{2014}\u{2DC}\u{2122}\u{161}\u{203A}\u{153}\u{9D}\u{17E}\u{178}"
                .unicodeScalars
        )

    /// Returns the text of a file in UTF-8, in UTF-16 with a byte order mark, or else in Windows-1252.
    static func decoded(_ bytes: Span<UInt8>) -> String {
        let all = bytes.byteArray(in: 0..<bytes.count)
        if all.starts(with: [0xFE, 0xFF]) || all.starts(with: [0xFF, 0xFE]) {
            let high = all[0] == 0xFE ? 0 : 1
            let units = stride(from: 2, to: all.count - 1, by: 2).map { position in
                UInt16(all[position + high]) << 8 | UInt16(all[position + 1 - high])
            }
            return String(decoding: units, as: UTF16.self)
        }
        if let text = String(validating: all.starts(with: [0xEF, 0xBB, 0xBF]) ? all[3...] : all[...], as: UTF8.self) {
            return text
        }
        return windowsText(all)
    }

    /// Returns the text of bytes in Windows-1252.
    static func windowsText(_ bytes: some Sequence<UInt8>) -> String {
        var scalars = String.UnicodeScalarView()
        for byte in bytes {
            scalars.append(0x80...0x9F ~= byte ? windowsCharacters[Int(byte & 0x1F)] : Unicode.Scalar(byte))
        }
        return String(scalars)
    }
}
