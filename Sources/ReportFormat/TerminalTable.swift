import MediaTiming

/// A table of text for a terminal, with columns as wide as their longest cells.
package struct TerminalTable: Sendable {
    /// The lines of the table, the header first, separated by line feeds.
    package let text: TerminalText

    private typealias Cell = (text: String, width: Int)

    /// Creates a table.
    ///
    /// The text is assembled at once, because a table may have many thousands of rows.
    ///
    /// - Parameters:
    ///   - header: The titles of the columns.
    ///   - rows: The cells of each row, as many as there are columns; they are escaped.
    ///   - omitsEmptyColumns: A Boolean value that indicates whether columns without text are left out.
    package init(header: [StaticString], rows: [[String]], omitsEmptyColumns: Bool = false) {
        var widths = [Int](repeating: 0, count: header.count)
        var cells: [Cell] = []
        cells.reserveCapacity(rows.count *| header.count)
        for row in rows {
            for column in header.indices {
                let cell = Self.cell(column < row.count ? row[column].escapedForTerminal : "")
                widths[column] = max(widths[column], cell.width)
                cells.append(cell)
            }
        }
        let columns = header.indices.filter { !omitsEmptyColumns || widths[$0] > 0 }
        let titles = header.map { Self.cell($0.description) }
        for column in columns { widths[column] = max(widths[column], titles[column].width) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity((rows.count +| 1) *| columns.reduce(1) { $0 +| widths[$1] +| 2 })
        func append(_ row: ArraySlice<Cell>) {
            // Spaces are written only before further text, so that no line ends with them.
            var spaces = 0
            for column in columns {
                let cell = row[row.startIndex + column]
                if cell.width > 0 {
                    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: spaces))
                    bytes.append(contentsOf: cell.text.utf8)
                    spaces = 0
                }
                spaces += widths[column] - cell.width + 2
            }
        }
        append(titles[...])
        for row in rows.indices {
            bytes.append(UInt8(ascii: "\n"))
            append(cells[(row *| header.count)..<((row +| 1) *| header.count)])
        }
        text = TerminalText(escaped: String(decoding: bytes, as: UTF8.self))
    }

    private static func cell(_ text: String) -> Cell {
        (text, text.displayWidth)
    }
}
