import ReportFormat
import ResourceAddressing

/// A table with aligned columns for people.
enum TextTable {
    /// Returns the lines of a table, whose columns are as wide as their longest cells; empty columns are omitted.
    ///
    /// A cell with an address is written without its user name and password.
    static func lines(header: [String], rows: [[String]]) -> [TerminalText] {
        let cells = ([header] + rows).map { row in
            row.map { TerminalText(escaping: ResourceAddress($0).withoutUserInformation.text) }
        }
        let used = header.indices.filter { column in cells.dropFirst().contains { !$0[column].isEmpty } }
        let widths = used.map { column in cells.map { $0[column].width }.max() ?? 0 }
        return cells.map { row in
            zip(used, widths).map { column, width in row[column].padded(to: width + 2) }
                .joined(separator: "").trimmingTrailingSpaces()
        }
    }
}
