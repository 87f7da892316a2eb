import Adaptation
import Foundation
import ReportFormat

/// A table of simulation results: a line for each session, if there are at most 40, and the mean values of each
/// selector.
struct SimulationTable {
    private struct Row {
        let trace: String
        let selector: SelectorName
        /// The time until playback began; `nil` if it never began.
        let startup: Double?
        let meanBitRate, rebufferTime, rebufferCount, switches, qoe: Double
        let isComplete: Bool
    }

    private let penalty: Double
    private var rows: [Row] = []

    /// The maximum number of sessions with their own lines; with more, only mean values are shown.
    private static let maximumRowCount = 40

    init(penalty: Double) { self.penalty = penalty }

    mutating func add(_ outcome: SimulatedSession.Outcome, _ selector: SelectorName, _ trace: String) {
        rows.append(
            Row(
                trace: trace,
                selector: selector,
                startup: outcome.startup?.inSeconds,
                meanBitRate: outcome.meanBitRate / 1000,
                rebufferTime: outcome.rebufferTime.inSeconds,
                rebufferCount: Double(outcome.rebufferCount),
                switches: Double(outcome.switches),
                qoe: outcome.qoe(penalty: penalty),
                isComplete: outcome.isComplete
            )
        )
    }

    var text: TerminalText {
        let head: [TerminalText] = [
            "", "selector", "start-up", "kbit/s", "rebuffering", "times", "switches", "QoE", "median QoE",
        ]
        var lines = [head]
        if rows.count <= Self.maximumRowCount {
            lines += rows.map { cells($0.trace, $0.selector, [$0]) }
        }
        let names = SelectorName.allCases.filter { name in rows.contains { $0.selector == name } }
        if rows.count > names.count {
            for name in names {
                let own = rows.filter { $0.selector == name }
                lines.append(cells("mean of \(own.count)", name, own))
            }
        }
        let widths = head.indices.map { column in lines.map { $0[column].width }.max() ?? 0 }
        let table = lines.map { line in
            zip(line, widths).enumerated().map { column, cell in
                let (text, width) = cell
                return column < 2 ? text.padded(to: width) : TerminalText.spaces(width - text.width) + text
            }.joined(separator: "  ") + "\n"
        }
        return table.joined(separator: "") + note
    }

    /// A note about sessions that did not reach the end.
    private var note: TerminalText {
        let count = rows.count { !$0.isComplete }
        guard count > 0 else { return "" }
        return "\(count) of \(rows.count) did not reach the end; the final wait counts as rebuffering.\n"
    }

    private func cells(_ title: String, _ selector: SelectorName, _ rows: [Row]) -> [TerminalText] {
        func mean(_ value: (Row) -> Double) -> Double { rows.reduce(0) { $0 + value($1) } / Double(rows.count) }
        let startups = rows.compactMap(\.startup)
        let sorted = rows.map(\.qoe).sorted()
        let median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
        let cells = [
            title, selector.rawValue,
            startups.isEmpty ? "never" : String(format: "%.2f s", startups.reduce(0, +) / Double(startups.count)),
            String(format: "%.0f", mean(\.meanBitRate)),
            String(format: "%.2f s", mean(\.rebufferTime)),
            String(format: "%.1f", mean(\.rebufferCount)),
            String(format: "%.1f", mean(\.switches)),
            String(format: "%.3f", mean(\.qoe)),
            rows.count > 1 ? String(format: "%.3f", median) : "",
        ]
        return cells.map { "\($0)" }
    }
}
