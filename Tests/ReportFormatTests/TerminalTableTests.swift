import ReportFormat
import Testing

@Suite struct TerminalTableTests {
    private func lines(_ rows: [[String]], omitsEmptyColumns: Bool = false) -> [String] {
        let table = TerminalTable(
            header: ["a", "long title", "c"],
            rows: rows,
            omitsEmptyColumns: omitsEmptyColumns
        )
        return table.text.description.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test func columnsAreAsWideAsTheirLongestCells() {
        #expect(
            lines([["1", "x", "2"], ["wide", "y", "3"]]) == [
                "a     long title  c", "1     x           2", "wide  y           3",
            ]
        )
        #expect(lines([]) == ["a  long title  c"])
    }

    @Test func widthsCountCharacters() {
        #expect(
            lines([["äöü", "x", "1"], ["aou", "x", "1"]]) == [
                "a    long title  c", "äöü  x           1", "aou  x           1",
            ]
        )
    }

    @Test func linesDoNotEndWithSpaces() {
        #expect(lines([["1", "x", ""], ["1", "", ""]]) == ["a  long title  c", "1  x", "1"])
    }

    @Test func emptyColumnsCanBeOmitted() {
        #expect(lines([["1", "", "2"]], omitsEmptyColumns: true) == ["a  c", "1  2"])
        #expect(lines([["1", "", "2"]]) == ["a  long title  c", "1              2"])
    }

    @Test func cellsAreEscaped() {
        #expect(lines([["\u{1B}", "\n", "x"]])[1] == #"\u{1B}  \n          x"#)
    }
}
