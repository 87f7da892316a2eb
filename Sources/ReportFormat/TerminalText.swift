/// Text for people in which every value from outside is escaped.
///
/// A string literal is written as it is. An interpolated value is escaped (see ``Swift/String/escapedForTerminal``), unless it
/// is terminal text itself. No initializer takes a string without escaping it, so text of a playlist, a server or a file can
/// only reach a terminal in a form that cannot move the cursor, change colors, reorder characters or begin a new line.
package struct TerminalText: ExpressibleByStringInterpolation, Hashable, Sendable, CustomStringConvertible {
    /// The text with its escapes.
    package private(set) var description: String

    /// Creates text from a literal of the program.
    package init(stringLiteral value: StaticString) { description = value.description }

    package init(stringInterpolation: StringInterpolation) { description = stringInterpolation.text }

    /// Creates the escaped form of text from outside, on one line.
    package init(escaping text: some StringProtocol) { description = String(text).escapedForTerminal }

    /// Creates text of several lines from outside; the line ends (LF or CR LF) become line feeds, all else is escaped.
    package init(escapingLines text: String) {
        description = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0.last == "\r" ? $0.dropLast() : $0).escapedForTerminal }.joined(separator: "\n")
    }

    private init(escaped description: String) { self.description = description }

    /// The number of Unicode scalars, which is the number of columns for most scripts.
    package var width: Int { description.unicodeScalars.count }

    /// A Boolean value that indicates whether the text has no characters.
    package var isEmpty: Bool { description.isEmpty }

    /// Returns the text followed by as many spaces as its width lacks.
    package func padded(to width: Int) -> TerminalText { self + Self.spaces(width - self.width) }

    /// Returns the given number of spaces; none for a negative number.
    package static func spaces(_ count: Int) -> TerminalText {
        TerminalText(escaped: String(repeating: " ", count: max(0, count)))
    }

    /// Returns the text without the spaces at its end.
    package func trimmingTrailingSpaces() -> TerminalText {
        var text = self
        while text.description.hasSuffix(" ") { text.description.removeLast() }
        return text
    }

    package static func + (left: TerminalText, right: TerminalText) -> TerminalText {
        TerminalText(escaped: left.description + right.description)
    }

    package static func += (left: inout TerminalText, right: TerminalText) { left.description += right.description }

    /// The interpolation that escapes what is not terminal text.
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
    /// Returns the texts with a separator between them.
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
    /// The text with every character spelled out that would control a terminal or is not visible on it.
    ///
    /// Line feeds, carriage returns and tabs become `\n`, `\r` and `\t`, others `\u{1B}` with their number in hexadecimal
    /// digits. Which ones is said by ``Swift/Unicode/Scalar/isHiddenOnTerminal``.
    package var escapedForTerminal: String {
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
    /// A Boolean value that indicates whether the character controls how text is shown, or does not show at all.
    ///
    /// These are the C0 and C1 controls (ECMA-48), the line and paragraph separators, all format characters (bidirectional
    /// embeddings, overrides, isolates and marks, zero-width characters, the byte-order mark, tags), everything else that
    /// Unicode has renderers ignore, and what is not assigned.
    package var isHiddenOnTerminal: Bool {
        if value < 0x7F { return value < 0x20 }
        if value < 0xA0 { return true }
        // Latin letters with diacritics, whose properties need no lookup, but for the soft hyphen.
        if value < 0x300 { return value == 0xAD }
        if properties.isDefaultIgnorableCodePoint { return true }
        return switch properties.generalCategory {
        case .control, .format, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
