import Foundation
import Testing

/// Tests what `millstream simulate` shows while it simulates several traces.
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
}
