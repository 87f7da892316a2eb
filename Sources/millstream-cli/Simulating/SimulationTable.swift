import Adaptation
import Foundation
import ReportFormat

/// A table of simulation results: a line for each session, if there are at most 40, and the mean values of each selector;
/// after them, the sessions that did not reach the end.
struct SimulationTable {
    private let results: [SimulationResult]
    private let isSummary: Bool
    private let summaries: [SimulationSummary]

    /// The maximum number of sessions with their own lines; with more, only mean values are shown.
    private static let maximumRowCount = 40
    /// The headings of the columns.
    private static let head: [TerminalText] = [
        "", "selector", "start-up", "kbit/s", "rebuffering", "times", "switches", "QoE", "QoE p5", "median QoE",
        "QoE p95",
    ]

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - results: The results of the sessions.
    ///   - isSummary: A Boolean value that indicates whether sessions that reached the end have no lines of their own.
    init(_ results: [SimulationResult], isSummary: Bool) {
        self.results = results
        self.isSummary = isSummary
        summaries = SimulationSummary.all(results)
    }

    /// The lines of the table and its notes; empty if there are no results.
    var text: TerminalText {
        guard !results.isEmpty else { return "" }
        var lines = [Self.head]
        if !isSummary, results.count <= Self.maximumRowCount {
            lines += results.filter(\.isComplete).map { Self.cells($0.trace, $0.selector, $0.figures) }
        }
        if hasMeans { lines += summaries.compactMap { Self.cells($0) } }
        let unfinished = results.filter { !$0.isComplete }
        if !unfinished.isEmpty {
            lines.append(Self.filled(["did not reach the end:"]))
            lines += unfinished.prefix(Self.maximumRowCount).map { Self.cells($0.trace, $0.selector, $0.figures) }
        }
        return Self.aligned(lines) + note
    }

    /// A Boolean value that indicates whether the table has lines with mean values.
    private var hasMeans: Bool { isSummary || results.count > summaries.count }

    /// The notes about sessions that did not reach the end, and about the percentiles.
    private var note: TerminalText {
        var note: TerminalText = ""
        let count = results.count { !$0.isComplete }
        if count > 0 {
            note += "\(count) of \(QuantityText.count(results.count, "session")) did not reach the end; "
            if hasMeans { note += "mean values and percentiles do not include them, and " }
            note += "the final wait counts as rebuffering.\n"
        }
        if count > Self.maximumRowCount {
            note += "Only the first \(Self.maximumRowCount) of them are listed; --json lists all.\n"
        }
        if hasMeans, count < results.count {
            note +=
                "Percentiles (p5, median, p95) are interpolated linearly between the sessions that reached the end.\n"
        }
        return note
    }

    /// Returns lines with aligned columns; empty columns are omitted.
    private static func aligned(_ lines: [[TerminalText]]) -> TerminalText {
        let used = head.indices.filter { column in
            column == 0 || lines.dropFirst().contains { !$0[column].isEmpty }
        }
        let widths = used.map { column in lines.map { $0[column].width }.max() ?? 0 }
        let texts = lines.map { line -> TerminalText in
            let cells = zip(used, widths).map { column, width -> TerminalText in
                let text = line[column]
                return column < 2 ? text.padded(to: width) : TerminalText.spaces(width - text.width) + text
            }
            return cells.joined(separator: "  ").trimmingTrailingSpaces() + "\n"
        }
        return texts.joined(separator: "")
    }

    /// Returns the cells of the mean values of a selector; `nil` if no session reached the end.
    private static func cells(_ summary: SimulationSummary) -> [TerminalText]? {
        guard let mean = summary.mean else { return nil }
        let percentiles = [5, 50, 95].map { summary.qoe(percentile: $0) ?? 0 }
        return cells("mean of \(summary.finished.count)", summary.selector, mean, percentiles)
    }

    private static func cells(
        _ title: String,
        _ selector: SelectorName,
        _ figures: SimulationFigures,
        _ percentiles: [Double] = []
    ) -> [TerminalText] {
        var cells = [
            title, selector.rawValue,
            figures.startup.map { String(format: "%.2f s", $0) } ?? "never",
            String(format: "%.0f", figures.meanBitRate / 1_000),
            String(format: "%.2f s", figures.rebufferTime),
            String(format: "%.1f", figures.rebufferCount),
            String(format: "%.1f", figures.switches),
            String(format: "%.3f", figures.qoe),
        ]
        cells += percentiles.map { String(format: "%.3f", $0) }
        return filled(cells.map { "\($0)" })
    }

    /// Returns the cells of a line, with empty ones in the remaining columns.
    private static func filled(_ cells: [TerminalText]) -> [TerminalText] {
        cells + [TerminalText](repeating: "", count: max(0, head.count - cells.count))
    }
}
