import Testing

@testable import ReportFormat

@Suite struct StatusLineTests {
    private var line: StatusLine {
        var line = StatusLine()
        line.append("00:12 of 01:00", importance: 9)
        line.append("playing", importance: 8)
        line.append("", importance: 7)
        line.append("1280x720", importance: 4)
        line.append("2 Mbit/s", importance: 2)
        line.append("buffer 12.0 s", importance: 6)
        line.append("network 8 Mbit/s", importance: 1)
        return line
    }

    @Test(
        arguments: [
            (nil, "00:12 of 01:00  playing  1280x720  2 Mbit/s  buffer 12.0 s  network 8 Mbit/s"),
            (75, "00:12 of 01:00  playing  1280x720  2 Mbit/s  buffer 12.0 s"),
            (58, "00:12 of 01:00  playing  1280x720  2 Mbit/s  buffer 12.0 s"),
            (57, "00:12 of 01:00  playing  1280x720  buffer 12.0 s"), (47, "00:12 of 01:00  playing  buffer 12.0 s"),
            (30, "00:12 of 01:00  playing"), (5, "00:12 of 01:00"), (0, "00:12 of 01:00"),
        ] as [(Int?, String)]
    )
    func leastImportantPartsAreLeftOut(columns: Int?, text: String) { #expect(line.text(columns: columns) == text) }

    @Test func emptyLineIsEmpty() { #expect(StatusLine().text(columns: 10).isEmpty) }
}
