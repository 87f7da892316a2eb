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
        abstract: "Play a ladder over traces of networks, in simulated time.",
        discussion: """
            The engine is the one that plays; hours pass in a moment, and the same input gives the same figures. The \
            quality of experience is that of Yin et al. (SIGCOMM 2015) per segment: the bit rates less their changes \
            less the penalty for rebuffering, in Mb/s, start-up left out.

            Example: millstream simulate --trace traces/3G --ladder ladder.json --selector all
            """
    )

    @Option(name: .long, help: ArgumentHelp("A trace, other conditions, or a folder of them.", valueName: "FILE|DIR"))
    var trace: String

    @Option(name: .long, help: ArgumentHelp("The variants and the sizes of their segments.", valueName: "FILE"))
    var ladder: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Who chooses: \(SelectorName.list), several with commas between, or all.",
            valueName: "NAME,…"
        )
    )
    var selector = SelectorName.default.rawValue

    @Option(name: .long, help: ArgumentHelp("Seconds that are buffered at most.", valueName: "S"))
    var buffer = 25.0

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What a second of rebuffering costs; 4.3 by default, and the highest bit rate of ladders above 10 Mb/s.",
            valueName: "MB"
        )
    )
    var penalty: Double?

    @Option(
        name: .long,
        help: ArgumentHelp("Write each event of one trace and one selector as a line of JSON.", valueName: "FILE|-")
    )
    var events: String?

    @Flag(name: .long, help: "Print JSON.") var json = false

    func validate() throws {
        guard buffer.isFinite, (1...3600).contains(buffer) else {
            throw ValidationError("--buffer wants 1 to 3600 seconds")
        }
        if let penalty, !penalty.isFinite || penalty < 0 { throw ValidationError("--penalty wants a number from 0 on") }
        _ = try selectors()
    }

    mutating func run() async throws {
        let ladder = try SimulatedLadder(file: ladder)
        let top = Double(ladder.bitRates.last?.bitsPerSecond ?? 0) / 1_000_000
        let penalty = penalty ?? (top > 10 ? top : 4.3)
        let selectors = try selectors()
        let profiles = try profiles()
        guard events == nil || profiles.count *| selectors.count == 1 else {
            throw ValidationError("--events wants one trace and one selector")
        }
        let writer = try events.map { try EventFile($0, SimulatedSession.session) }
        if json { try StandardOutput.write("[") }
        var table = SimulationTable(penalty: penalty)
        for (position, profile) in profiles.enumerated() {
            for (turn, selector) in selectors.enumerated() {
                let session = SimulatedSession(
                    ladder: ladder,
                    profile: profile,
                    selector: selector,
                    buffer: .seconds(buffer),
                    observer: { writer?.write($0) }
                )
                let outcome = try await session.run()
                table.add(outcome, selector, profile.name)
                guard json else { continue }
                try StandardOutput.write(position + turn > 0 ? ",\n" : "")
                try StandardOutput.write(report: outcome.report(trace: profile.name, selector, penalty: penalty))
            }
        }
        try writer?.close()
        try StandardOutput.write(json ? "]\n" : table.text)
    }

    private func selectors() throws -> [SelectorName] {
        if selector == "all" { return SelectorName.allCases }
        let names = selector.split(separator: ",")
        guard !names.isEmpty else { throw ValidationError("--selector wants names, or all: \(SelectorName.list)") }
        return try names.map { name in
            guard let selector = SelectorName(rawValue: String(name)) else {
                throw ValidationError("there is no selector named \"\(name)\"")
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
            "startup": .real(startup.inSeconds),
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
