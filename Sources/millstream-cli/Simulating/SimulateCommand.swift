import Adaptation
import ArgumentParser
import MediaTiming
import NetworkConditioning

/// The command `millstream simulate`.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Simulate playback of a ladder of variants over network traces.",
        discussion: """
            The playback engine runs in simulated time, so the same input always gives the same results. The quality \
            of experience (QoE) is the linear QoE of Yin et al. (SIGCOMM 2015) as a mean over the segments, in Mbit/s: \
            the bit rate, minus its change since the previous segment, minus the penalty for rebuffering. It does not \
            include startup. If playback does not reach the end, the final wait counts as rebuffering. If playback \
            never begins, the whole time counts as rebuffering, and there is no startup time. The mean values and \
            percentiles of a selector include only the sessions that reached the end. The other sessions are listed \
            after them. A percentile between two sessions is interpolated linearly.

            A trace that cannot be read is reported, and the others are simulated. If several traces have the same \
            name, their paths are shown.

            A ladder is a file {"segment_duration_ms": 4000, "bitrates_kbps": [300, 800], "segment_sizes_bits": [[1180000, \
            3150000], …]}, with a list of sizes for each segment. A trace is a file [{"duration_ms": 1000, "bandwidth_kbps": \
            2500, "latency_ms": 40}, …], which is repeated, or conditions as millstream conditions show NAME --json prints them.

            Example: millstream simulate --trace traces/3G --ladder ladder.json --selector all
            """
    )

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A file with a trace or other network conditions, or a folder of such files; may be repeated.",
            valueName: "FILE|DIR"
        )
    )
    var trace: [String]

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
            "The selectors of variants, comma-separated, or all: \(SelectorName.list); may be repeated.",
            valueName: "NAME,…"
        ),
        completion: .list(["all"] + SelectorName.allCases.map(\.rawValue))
    )
    var selector: [String] = [SelectorName.default.rawValue]

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

    @Flag(
        name: .long,
        help: "Show only the mean values and percentiles of each selector, and the sessions that did not reach the end."
    )
    var summary = false

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
        let penalty = penalty ?? Self.standardPenalty(of: ladder)
        let selectors = try selectors()
        var failures = Failures()
        let traces = try SimulatedTraces(trace, failures: &failures)
        guard events == nil || traces.paths.count *| selectors.count <= 1 else {
            throw ValidationError("--events requires a single trace and a single selector")
        }
        let profiles = try traces.profiles(failures: &failures)
        if profiles.isEmpty { try failures.finish() }
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
        var output = SimulationOutput(isJSON: json, isSummary: summary)
        try output.begin()
        // Results as JSON are written after each session, and show the progress themselves.
        let progress = SimulationProgress(
            traceCount: profiles.count,
            selectorCount: selectors.count,
            isQuiet: quiet || (json && !summary)
        )
        do {
            defer { progress.end() }
            for (position, session) in sessions.enumerated() {
                try await failures.collect {
                    let outcome = try await Self.outcome(of: session)
                    try output.add(SimulationResult(outcome, of: session, penalty: penalty))
                }
                progress.show(completedSessionCount: position +| 1)
            }
        } catch {
            output.abort()
            throw error is CancellationError ? Failure(.interrupted, "interrupted", "interrupted") : error
        }
        try writer?.close()
        try output.end()
        try failures.finish()
    }

    /// Returns the penalty for each second of rebuffering that is usual for a ladder, in Mbit/s.
    private static func standardPenalty(of ladder: SimulatedLadder) -> Double {
        let top = Double(ladder.bitRates.last?.bitsPerSecond ?? 0) / 1_000_000
        return top > 10 ? top : 4.3
    }

    /// Runs a session.
    ///
    /// - Throws: The error of the session, with a message that names the trace and the selector.
    private static func outcome(of session: SimulatedSession) async throws -> SimulatedSession.Outcome {
        do {
            return try await Interruption.cancelling { try await session.run() }
        } catch {
            let failure = Failure(error)
            guard failure.status != .interrupted, !(error is OutputError) else { throw error }
            throw Failure(
                failure.status,
                failure.code,
                "\(session.profile.name), \(session.selector.rawValue): \(failure.message)",
                hint: failure.hint
            )
        }
    }

    /// Returns the selectors in the order given, each once.
    private func selectors() throws -> [SelectorName] {
        let lists = selector.map { $0.split(separator: ",") }
        guard lists.allSatisfy({ !$0.isEmpty }) else {
            throw ValidationError("--selector must be all or names of \(SelectorName.list)")
        }
        var selectors: [SelectorName] = []
        for name in lists.joined() {
            let named = SelectorName(rawValue: String(name)).map { [$0] }
            guard let new = name == "all" ? SelectorName.allCases : named else {
                throw ValidationError("there is no selector named \"\(name)\"; the selectors are \(SelectorName.list)")
            }
            for selector in new where !selectors.contains(selector) { selectors.append(selector) }
        }
        return selectors
    }
}

extension SelectorName {
    /// The names of all selectors, for help texts.
    static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
