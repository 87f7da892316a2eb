import Foundation
import Testing

/// Tests the progress and the results of `millstream simulate` with several traces.
@Suite(.serialized, .tags(.endToEnd))
struct SimulateCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("simulate-\(UUID())")

    /// Writes two traces and a ladder, and returns the arguments of the command.
    private func writeInput() throws -> [String] {
        let traces = folder.appendingPathComponent("traces")
        try FileManager.default.createDirectory(at: traces, withIntermediateDirectories: true)
        for (name, rate) in [("slow", 700), ("fast", 3_000)] {
            let trace = #"[{"duration_ms":1000,"bandwidth_kbps":\#(rate),"latency_ms":40}]"#
            try Data(trace.utf8).write(to: traces.appendingPathComponent("\(name).json"))
        }
        let sizes = Array(repeating: "[900000,1800000]", count: 4).joined(separator: ",")
        let ladder = #"{"segment_duration_ms":3000,"bitrates_kbps":[300,600],"segment_sizes_bits":["# + sizes + "]}"
        let file = folder.appendingPathComponent("ladder.json")
        try Data(ladder.utf8).write(to: file)
        return ["simulate", "--trace", traces.path, "--ladder", file.path]
    }

    /// Runs the command in a terminal, and returns what it writes to standard error.
    private func errorsInTerminal(_ arguments: [String]) async throws -> String {
        let words = ([RunningProgram.executable.path] + arguments).map { "'\($0)'" }
        let program = try RunningProgram(
            ["script", "-qec", words.joined(separator: " ") + " >/dev/null", "/dev/null"],
            of: URL(fileURLWithPath: "/usr/bin/env")
        )
        #expect(try await program.finish() == 0, "\(program.standardOutput)")
        return program.standardOutput
    }

    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/script"), "there is no script")
    )
    func terminalHasALineWithTheNumberOfTraces() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let arguments = try writeInput()
        let shown = try await errorsInTerminal(arguments)
        for line in ["0 of 2 traces simulated", "1 of 2 traces simulated", "2 of 2 traces simulated"] {
            #expect(shown.contains("\r\u{1B}[K\(line)"), "\(shown)")
        }
        // One line is rewritten.
        #expect(shown.count { $0 == "\n" || $0 == "\r\n" } == 1, "\(shown)")
        let several = try await errorsInTerminal(arguments + ["--selector", "throughput,buffer"])
        #expect(several.contains("0 of 2 traces simulated, 1 of 4 sessions"), "\(several)")
        for option in ["--quiet", "--json"] {
            let hidden = try await errorsInTerminal(arguments + [option])
            #expect(!hidden.contains("simulated"), "\(hidden)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func fileHasNoProgress() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = try RunningProgram(try writeInput())
        #expect(try await program.finish() == 0)
        #expect(program.standardError.isEmpty, "\(program.standardError)")
        #expect(program.standardOutput.contains("mean of 2"), "\(program.standardOutput)")
    }

    // MARK: Traces

    /// Writes the file of a trace with one period that is repeated, and returns its path.
    private func writeTrace(_ name: String, kilobits: Int) throws -> String {
        let file = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let trace = #"[{"duration_ms":1000,"bandwidth_kbps":\#(kilobits),"latency_ms":40}]"#
        try Data(trace.utf8).write(to: file)
        return file.path
    }

    /// Returns the objects of the array that the command has written.
    private func objects(_ output: String) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [[String: Any]], "\(output)")
    }

    private func names(_ objects: [[String: Any]], _ field: String = "trace") -> [String] {
        objects.compactMap { $0[field] as? String }
    }

    @Test(.timeLimit(.minutes(10))) func severalTracesAndSelectorsAreSimulatedInOrder() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = try writeInput()
        let first = try writeTrace("one.json", kilobits: 2_000)
        let arguments: [String] = ["simulate", "--trace", first] + input.dropFirst() + ["--trace", "DSL", "--json"]
        let simulated = try await RunningProgram(arguments).result()
        #expect(simulated.status == 0, "\(simulated.errors)")
        #expect(try names(objects(simulated.output)) == ["one", "fast", "slow", "DSL"])
        let selectors = ["--selector", "buffer", "--selector", "throughput,buffer"]
        let comparison: [String] = ["simulate", "--trace", first, "--json"] + input.suffix(2) + selectors
        let compared = try await RunningProgram(comparison).result()
        #expect(compared.status == 0, "\(compared.errors)")
        #expect(try names(objects(compared.output), "selector") == ["buffer", "throughput"])
    }

    @Test(.timeLimit(.minutes(10))) func tracesOfTheSameNameHaveTheirPaths() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = try writeInput()
        let other = try writeTrace("other/slow.json", kilobits: 900)
        let simulated = try await RunningProgram(input + ["--trace", other, "--json"]).result()
        #expect(simulated.status == 0, "\(simulated.errors)")
        let slow = folder.appendingPathComponent("traces/slow.json").path
        #expect(try names(objects(simulated.output)) == ["fast", slow, other])
    }

    /// A single session without an end would determine the mean quality of all sessions.
    @Test(.timeLimit(.minutes(10))) func sessionsWithoutAnEndAreNotInTheMeanValues() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = try writeInput()
        _ = try writeTrace("traces/none.json", kilobits: 0)
        let sessions = try objects(try await RunningProgram(input + ["--json"]).result().output)
        try #require(names(sessions) == ["fast", "none", "slow"])
        #expect(sessions.map { $0["complete"] as? Bool } == [true, false, true])
        let finished = [sessions[0], sessions[2]].compactMap { ($0["qoeLin"] as? NSNumber)?.doubleValue }.sorted()
        try #require(finished.count == 2)

        let shown = try await RunningProgram(input + ["--json", "--summary"]).result()
        #expect(shown.status == 0, "\(shown.errors)")
        let summary = try #require(try objects(shown.output).first)
        #expect(summary["selector"] as? String == "default" && summary["unfinished"] as? [String] == ["none"])
        #expect((summary["sessions"] as? NSNumber)?.intValue == 3 && (summary["finished"] as? NSNumber)?.intValue == 2)
        let mean = try #require((summary["qoeLin"] as? NSNumber)?.doubleValue)
        #expect(abs(mean - (finished[0] + finished[1]) / 2) < 1e-9)
        let percentiles = try #require(summary["qoeLinPercentiles"] as? [String: NSNumber])
        #expect(percentiles.keys.sorted() == ["p25", "p5", "p50", "p75", "p95"])
        for (name, value) in percentiles {
            let share = try #require(Double(name.dropFirst())) / 100
            let expected = finished[0] + (finished[1] - finished[0]) * share
            #expect(abs(value.doubleValue - expected) < 1e-9, "\(name)")
        }

        let options: [[String]] = [[], ["--summary"]]
        for option in options {
            let table = try await RunningProgram(input + option).result()
            #expect(table.status == 0 && table.output.contains("mean of 2 "), "\(table.output)")
            let parts = table.output.components(separatedBy: "did not reach the end:\n")
            try #require(parts.count == 2, "\(table.output)")
            #expect(!parts[0].contains("none") && parts[1].contains("none  "), "\(table.output)")
            #expect(parts[0].contains("\nfast ") == option.isEmpty)
            #expect(
                parts[1].contains("1 of 3 sessions did not reach the end; mean values and percentiles do not include")
            )
            #expect(parts[1].contains("Percentiles (p5, median, p95) are interpolated linearly"))
        }
    }

    @Test(.timeLimit(.minutes(10))) func otherContentsOfAFolderAreCounted() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = try writeInput()
        let traces = folder.appendingPathComponent("traces")
        for name in ["older", "copies.json"] {
            let subfolder = traces.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: subfolder, withIntermediateDirectories: true)
        }
        for name in ["readme.txt", ".hidden"] { try Data("x".utf8).write(to: traces.appendingPathComponent(name)) }
        let simulated = try await RunningProgram(input + ["--json"]).result()
        #expect(simulated.status == 0, "\(simulated.errors)")
        #expect(try names(objects(simulated.output)) == ["fast", "slow"])
        #expect(simulated.errors.hasPrefix("note: skipped 2 subfolders and 1 other file in "), "\(simulated.errors)")
        #expect(simulated.errors.hasSuffix("/traces: a trace is a .json file in the folder itself\n"))
        let inner = folder.appendingPathComponent("outer/inner")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        let outer = inner.deletingLastPathComponent().path
        let none = try await RunningProgram(["simulate", "--trace", outer] + input.suffix(2)).result()
        #expect(none.status == 2 && none.errors.contains("no .json files"), "\(none.errors)")
        #expect(none.errors.contains("hint: subfolders are not searched"), "\(none.errors)")
    }

    @Test(.timeLimit(.minutes(10))) func unreadableTraceIsNamedAndTheOthersAreSimulated() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = try writeInput()
        for (name, text) in [("broken", "[{"), ("empty", "")] {
            try Data(text.utf8).write(to: folder.appendingPathComponent("traces/\(name).json"))
        }
        let simulated = try await RunningProgram(input + ["--json"]).result()
        #expect(simulated.status == 2)
        #expect(try names(objects(simulated.output)) == ["fast", "slow"])
        let lines = simulated.errors.split(separator: "\n")
        #expect(lines.count == 2, "\(simulated.errors)")
        #expect(lines.first?.hasSuffix("traces/broken.json: not JSON (bad-conditions)") == true, "\(simulated.errors)")
        #expect(lines.last?.hasSuffix("traces/empty.json: the file is empty (bad-conditions)") == true)
        let empty = folder.appendingPathComponent("traces/empty.json").path
        let arguments: [String] = ["simulate", "--trace", empty, "--json"] + input.suffix(2)
        let alone = try await RunningProgram(arguments).result()
        #expect(alone.status == 2 && alone.output.isEmpty, "\(alone.output)")
    }

    /// Editors of Windows write a byte order mark and their own line ends.
    @Test(.timeLimit(.minutes(10))) func filesOfWindowsEditorsAreRead() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = try writeInput()
        let mark = Data([0xEF, 0xBB, 0xBF])
        let trace = folder.appendingPathComponent("windows.json")
        try (mark + Data("[\r\n{\"duration_ms\":1000,\r\n\"bandwidth_kbps\":900}\r\n]\r\n".utf8)).write(to: trace)
        let ladder = folder.appendingPathComponent("ladder.json")
        let text = try String(contentsOf: ladder, encoding: .utf8).replacing(",\"", with: ",\r\n\r\n\"")
        try (mark + Data(text.utf8)).write(to: ladder)
        let arguments: [String] = ["simulate", "--trace", trace.path, "--json"] + input.suffix(2)
        let simulated = try await RunningProgram(arguments).result()
        #expect(simulated.status == 0, "\(simulated.errors)")
        #expect(try names(objects(simulated.output)) == ["windows"])
    }
}
