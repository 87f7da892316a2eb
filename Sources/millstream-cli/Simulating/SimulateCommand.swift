import Adaptation
import ArgumentParser
import Foundation
import MediaTiming
import NetworkConditioning
import ReportFormat

/// The command `millstream simulate`.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Simulate playback of a ladder of variants over network traces.",
        discussion: """
            The playback engine runs in simulated time, so the same input always gives the same results. The quality of \
            experience (QoE) is the linear QoE of Yin et al. (SIGCOMM 2015) as a mean over the segments, in Mbit/s: the bit \
            rate, minus its change since the previous segment, minus the penalty for rebuffering. It does not include startup. If \
            playback does not reach the end, the final wait counts as rebuffering; if it never begins, that is the whole time, \
            and there is no startup.

            A ladder is a file {"segment_duration_ms": 4000, "bitrates_kbps": [300, 800], "segment_sizes_bits": [[1180000, \
            3150000], …]}, with a list of sizes for each segment. A trace is a file [{"duration_ms": 1000, "bandwidth_kbps": \
            2500, "latency_ms": 40}, …], which is repeated, or conditions as millstream conditions show NAME --json prints them.

            Example: millstream simulate --trace traces/3G --ladder ladder.json --selector all
            """
    )

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A file with a trace or other network conditions, or a folder of such files.",
            valueName: "FILE|DIR"
        )
    )
    var trace: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A file with the ladder: the bit rates of the variants and the sizes of their segments.",
            valueName: "FILE"
        )
    )
    var ladder: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The selectors of variants, comma-separated, or all: \(SelectorName.list).",
            valueName: "NAME,…"
        ),
        completion: .list(["all"] + SelectorName.allCases.map(\.rawValue))
    )
    var selector = SelectorName.default.rawValue

    @Option(name: .long, help: ArgumentHelp("The maximum duration of the buffer, in seconds.", valueName: "S"))
    var buffer = 25.0

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The penalty for each second of rebuffering, in Mbit/s (default: 4.3, or the highest bit rate of a ladder above 10 Mbit/s).",
            valueName: "Mbit/s"
        )
    )
    var penalty: Double?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Write each event as a line of JSON; requires a single trace and a single selector.",
            valueName: "FILE|-"
        )
    )
    var events: String?

    @OptionGroup var reportFormat: ReportFormatFlags

    @Flag(name: .long, help: "Hide progress.")
    var quiet = false

    private var json: Bool { reportFormat.isJSON }

    func validate() throws {
        guard buffer.isFinite, (1...3600).contains(buffer) else {
            throw ValidationError("--buffer must be between 1 and 3600 seconds")
        }
        if let penalty, !penalty.isFinite || penalty < 0 { throw ValidationError("--penalty must be 0 or greater") }
        _ = try selectors()
    }

    mutating func run() async throws {
        let ladder = try SimulatedLadder(file: ladder)
        let top = Double(ladder.bitRates.last?.bitsPerSecond ?? 0) / 1_000_000
        let penalty = penalty ?? (top > 10 ? top : 4.3)
        let selectors = try selectors()
        let profiles = try profiles()
        guard events == nil || profiles.count *| selectors.count == 1 else {
            throw ValidationError("--events requires a single trace and a single selector")
        }
        let writer = try events.map { try EventFile($0, SimulatedSession.session) }
        let sessions = profiles.flatMap { profile in
            selectors.map { selector in
                SimulatedSession(
                    ladder: ladder,
                    profile: profile,
                    selector: selector,
                    buffer: .seconds(buffer),
                    observer: { writer?.write($0) }
                )
            }
        }
        var table = SimulationTable(penalty: penalty)
        if json { try StandardOutput.write("[") }
        // Results as JSON are written after each session, and show the progress themselves.
        let progress = SimulationProgress(
            traceCount: profiles.count,
            selectorCount: selectors.count,
            isQuiet: quiet || json
        )
        do {
            defer { progress.end() }
            for (position, session) in sessions.enumerated() {
                let outcome = try await Interruption.cancelling { try await session.run() }
                table.add(outcome, session.selector, session.profile.name)
                progress.show(completedSessionCount: position +| 1)
                guard json else { continue }
                if position > 0 { try StandardOutput.write(",\n") }
                try StandardOutput.write(
                    report: outcome.report(trace: session.profile.name, session.selector, penalty: penalty)
                )
            }
        } catch {
            // The results of the sessions that are complete remain a valid array.
            if json { try? StandardOutput.write("]\n") }
            throw error is CancellationError ? Failure(.interrupted, "interrupted", "interrupted") : error
        }
        try writer?.close()
        try StandardOutput.write(json ? "]\n" : table.text)
    }

    private func selectors() throws -> [SelectorName] {
        if selector == "all" { return SelectorName.allCases }
        let names = selector.split(separator: ",")
        guard !names.isEmpty else { throw ValidationError("--selector must be all or names of \(SelectorName.list)") }
        return try names.map { name in
            guard let selector = SelectorName(rawValue: String(name)) else {
                throw ValidationError("there is no selector named \"\(name)\"; the selectors are \(SelectorName.list)")
            }
            return selector
        }
    }

    /// Returns the conditions to simulate; those in a folder are in the order of the file names.
    private func profiles() throws -> [LinkProfile] {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: trace, isDirectory: &isDirectory), isDirectory.boolValue else {
            return [try ConditionsFlag.profile(trace)]
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: trace).filter { $0.hasSuffix(".json") }.sorted()
        guard !names.isEmpty else { throw Failure(.badInput, "no-traces", "there are no .json files in \(trace)") }
        return try names.map { try ConditionsFlag.profile("\(trace)/\($0)") }
    }
}

extension SelectorName {
    /// The names of all selectors, for help texts.
    static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension SimulatedSession.Outcome {
    fileprivate func report(trace: String, _ selector: SelectorName, penalty: Double) -> ReportValue {
        .fields([
            "trace": .string(trace),
            "selector": .string(selector.rawValue),
            "startup": startup.map { .real($0.inSeconds) },
            "meanBitrate": .real(meanBitRate.rounded()),
            "rebufferTime": .real(rebufferTime.inSeconds),
            "rebufferCount": .integer(rebufferCount),
            "switches": .integer(switches),
            "qoeLin": .real(qoe(penalty: penalty)),
            "segments": .integer(bitRates.count),
            "complete": .bool(isComplete),
        ])
    }
}
