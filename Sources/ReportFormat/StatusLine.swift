/// A line of values; the least important ones are left out if the line would be too long.
package struct StatusLine: Sendable {
    private struct Part: Sendable {
        let text: String
        let importance: Int
    }

    private var parts: [Part] = []
    /// The columns between two parts.
    private static let separator = "  "

    /// Creates an empty line.
    package init() {}

    /// Appends a part.
    ///
    /// - Parameters:
    ///   - text: The text; an empty one is not appended.
    ///   - importance: The importance of the part; parts with the lowest importance are left out first.
    package mutating func append(_ text: String, importance: Int) {
        if !text.isEmpty { parts.append(Part(text: text, importance: importance)) }
    }

    /// Returns the line with as many parts as fit in a number of columns.
    ///
    /// - Parameter columns: The number of columns; `nil` for no limit.
    /// - Returns: The parts in the order in which they were appended; at least the most important one.
    package func text(columns: Int? = nil) -> String {
        var shown = parts
        func line() -> String { shown.map(\.text).joined(separator: Self.separator) }
        while let columns, line().displayWidth > columns, shown.count > 1,
            let lowest = shown.map(\.importance).min(),
            let index = shown.lastIndex(where: { $0.importance == lowest })
        {
            shown.remove(at: index)
        }
        return line()
    }
}
