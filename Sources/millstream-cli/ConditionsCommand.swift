import ArgumentParser
import Foundation
import MediaTiming
import NetworkConditioning
import ReportFormat

/// The command `millstream conditions`.
struct ConditionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conditions",
        abstract: "List and show network conditions that commands can simulate.",
        discussion: """
            Commands that load resources accept --conditions NAME|FILE; serve applies it to responses to players.

            Example: millstream conditions show "Very Bad Network"
            """,
        subcommands: [ListCommand.self, ShowCommand.self],
        defaultSubcommand: ListCommand.self
    )

    struct ListCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the predefined network conditions.",
            discussion: "Example: millstream conditions list --json"
        )

        @OptionGroup var reportFormat: ReportFormatFlags

        private var json: Bool { reportFormat.isJSON }

        func run() throws {
            if json {
                try StandardOutput.writeLine(ReportValue.array(LinkProfile.presets.map(\.report)))
                return
            }
            var rows = [["name", "download", "upload", "latency down + up", "packet loss", "DNS delay"]]
            rows += LinkProfile.presets.map { profile in
                [
                    profile.name, profile.down.rateText, profile.up.rateText,
                    "\(profile.down.latency.text) + \(profile.up.latency.text)",
                    profile.down.lossText, profile.dnsDelay.text,
                ]
            }
            let widths = (0..<6).map { column in rows.map { $0[column].count }.max() ?? 0 }
            for row in rows {
                let cells = zip(row, widths).enumerated().map { column, cell in
                    let blanks = String(repeating: " ", count: cell.1 - cell.0.count)
                    return column == 0 ? cell.0 + blanks : blanks + cell.0
                }
                try StandardOutput.writeLine("\(cells.joined(separator: "   "))")
            }
        }
    }

    struct ShowCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show network conditions, by name or from a file.",
            discussion: """
                With --json, the output has the format of files for --conditions.

                Example: millstream conditions show 3G --json > mine.json
                """
        )

        @Argument(
            help: ArgumentHelp("The name of conditions, or a file with conditions or a trace.", valueName: "NAME|FILE"),
            completion: .list(LinkProfile.presets.map(\.name))
        )
        var conditions: String

        @OptionGroup var reportFormat: ReportFormatFlags

        private var json: Bool { reportFormat.isJSON }

        func run() throws {
            let profile = try ConditionsFlag.profile(conditions)
            if json {
                try StandardOutput.writeLine(profile.report)
                return
            }
            try StandardOutput.writeLine("\(profile.name)")
            if let trace = profile.trace {
                try StandardOutput.writeLine("down      from the trace")
                for line in trace.summary { try StandardOutput.writeLine("          \(line)") }
            } else {
                try StandardOutput.writeLine("down      \(profile.down.text)")
            }
            try StandardOutput.writeLine("up        \(profile.up.text)")
            try StandardOutput.writeLine(
                "DNS       \(profile.dnsDelay == .zero ? "no delay" : "\(profile.dnsDelay.text) delay")"
            )
            for outage in profile.outages {
                let again = outage.interval.map { ", every \($0.text)" } ?? ""
                try StandardOutput.writeLine("outage    \(outage.duration.text) after \(outage.start.text)\(again)")
            }
        }
    }
}

extension LinkProfile {
    /// The conditions in the format of the files for `--conditions`.
    fileprivate var report: ReportValue {
        .fields([
            "name": .string(name),
            "down": down.report,
            "up": up.report,
            "dnsDelay": .real(dnsDelay / .seconds(1)),
            "outages": outages.isEmpty ? nil : .array(outages.map(\.report)),
            "trace": trace.map { .array($0.periods.map(\.report)) },
        ])
    }
}

extension LinkProfile.DirectionConditions {
    fileprivate var report: ReportValue {
        .fields([
            "bandwidth": bandwidth.map { .integer($0.bitsPerSecond) },
            "latency": .real(latency / .seconds(1)),
            "loss": .real(loss),
        ])
    }

    fileprivate var rateText: String { loss >= 1 ? "nothing" : bandwidth?.description ?? "unlimited" }

    /// The share of lost packets, such as `0.5 %`.
    fileprivate var lossText: String { "\(QuantityText.number(loss * 100, digits: 6)) %" }

    fileprivate var text: String {
        guard loss < 1 else { return "no data is transferred" }
        let lost = loss > 0 ? ", \(lossText) of packets lost" : ""
        return "\(rateText), \(latency.text) latency\(lost)"
    }
}

extension LinkProfile.Outage {
    fileprivate var report: ReportValue {
        .fields([
            "start": .real(start / .seconds(1)),
            "duration": .real(duration / .seconds(1)),
            "interval": interval.map { .real($0 / .seconds(1)) },
        ])
    }
}

extension LinkTrace.Period {
    fileprivate var report: ReportValue {
        .fields([
            "duration_ms": .real(duration / .milliseconds(1)),
            "bandwidth_kbps": .real(Double(bandwidth.bitsPerSecond) / 1_000),
            "latency_ms": .real(latency / .milliseconds(1)),
        ])
    }
}

extension LinkTrace {
    fileprivate var summary: [String] {
        let rates = periods.map(\.bandwidth).sorted()
        let latencies = periods.map(\.latency).sorted()
        let middle = rates[rates.count / 2]
        return [
            "\(QuantityText.count(periods.count, "period")) in \(duration.text), repeated",
            "\(rates.first ?? middle) to \(rates.last ?? middle), \(meanBandwidth) on average",
            "\((latencies.first ?? .zero).text) to \((latencies.last ?? .zero).text) latency",
        ]
    }
}

extension Duration {
    /// The duration for display: in milliseconds below a second, otherwise in seconds.
    fileprivate var text: String {
        self < .seconds(1)
            ? "\(QuantityText.number(self / .milliseconds(1), digits: 1)) ms"
            : "\(QuantityText.number(self / .seconds(1), digits: 1)) s"
    }
}
