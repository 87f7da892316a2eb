/// Text for a terminal in which every value from outside the program is escaped.
///
/// String literals are written as they are. Interpolated values are escaped (see ``Swift/String/escapedForTerminal``)
/// unless they are terminal text themselves. Every initializer that takes a string escapes it, so text from a playlist,
/// a server or a file cannot move the cursor, change colors, reorder characters or begin a new line.
package struct TerminalText: ExpressibleByStringInterpolation, Hashable, Sendable, CustomStringConvertible {
    /// The text, with escape sequences in place of control characters.
    package private(set) var description: String

    /// Creates text from a string literal in the source code, without escaping.
    package init(stringLiteral value: StaticString) { description = value.description }

    package init(stringInterpolation: StringInterpolation) { description = stringInterpolation.text }

    /// Creates text on one line from a string from outside the program, which is escaped.
    package init(escaping text: some StringProtocol) { description = String(text).escapedForTerminal }

    /// Creates text of several lines from a string from outside the program, which is escaped.
    ///
    /// Line endings (LF or CR LF) become line feeds; all other control characters are escaped.
    package init(escapingLines text: String) {
        description = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0.last == "\r" ? $0.dropLast() : $0).escapedForTerminal }.joined(separator: "\n")
    }

    init(escaped description: String) { self.description = description }

    /// The number of columns that the text takes.
    package var width: Int { description.displayWidth }

    /// Returns the beginning of the text that fits in a number of columns, with an ellipsis if anything is left out.
    package func fitting(columns: Int) -> TerminalText { TerminalText(escaped: description.fitting(columns: columns)) }

    /// A Boolean value that indicates whether the text has no characters.
    package var isEmpty: Bool { description.isEmpty }

    /// Returns the text, followed by spaces up to the given width in columns.
    package func padded(to width: Int) -> TerminalText { self + Self.spaces(width - self.width) }

    /// Returns the given number of spaces, or no text for a negative number.
    package static func spaces(_ count: Int) -> TerminalText {
        TerminalText(escaped: String(repeating: " ", count: max(0, count)))
    }

    /// Returns the text without its trailing spaces.
    package func trimmingTrailingSpaces() -> TerminalText {
        var text = self
        while text.description.hasSuffix(" ") { text.description.removeLast() }
        return text
    }

    package static func + (left: TerminalText, right: TerminalText) -> TerminalText {
        TerminalText(escaped: left.description + right.description)
    }

    package static func += (left: inout TerminalText, right: TerminalText) { left.description += right.description }

    /// The interpolation that escapes every value except terminal text.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: StaticString) { text += literal.description }

        package mutating func appendInterpolation(_ value: TerminalText) { text += value.description }

        package mutating func appendInterpolation(_ value: some Any) {
            text += String(describing: value).escapedForTerminal
        }
    }
}

extension Sequence<TerminalText> {
    /// Returns the texts, with a separator between each two.
    package func joined(separator: TerminalText) -> TerminalText {
        var result: TerminalText = ""
        for (position, text) in enumerated() {
            if position > 0 { result += separator }
            result += text
        }
        return result
    }
}

extension String {
    /// The text, with escape sequences in place of characters that control a terminal or are invisible on it.
    ///
    /// Line feeds, carriage returns and tabs become `\n`, `\r` and `\t`; the other characters become their code point
    /// in hexadecimal digits, such as `\u{1B}`. ``Swift/Unicode/Scalar/isHiddenOnTerminal`` selects the characters.
    package var escapedForTerminal: String {
        // The bytes of printable ASCII, which most text consists of, need no decoding.
        if utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return self }
        guard unicodeScalars.contains(where: \.isHiddenOnTerminal) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\n": result += #"\n"#
            case "\r": result += #"\r"#
            case "\t": result += #"\t"#
            case _ where scalar.isHiddenOnTerminal:
                result += #"\u{"# + String(scalar.value, radix: 16, uppercase: true) + "}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension Unicode.Scalar {
    /// A Boolean value that indicates whether the character is invisible or controls how text is displayed.
    ///
    /// These characters are the C0 and C1 controls (ECMA-48), the line and paragraph separators, all format characters
    /// (bidirectional embeddings, overrides, isolates and marks, zero-width characters, the byte-order mark, tags), all
    /// other default-ignorable code points of Unicode, and unassigned code points.
    package var isHiddenOnTerminal: Bool {
        if value < 0x7F { return value < 0x20 }
        if value < 0xA0 { return true }
        // Latin letters with diacritics are visible and need no lookup of properties; the soft hyphen is the exception.
        if value < 0x300 { return value == 0xAD }
        if properties.isDefaultIgnorableCodePoint { return true }
        return switch properties.generalCategory {
        case .control, .format, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
