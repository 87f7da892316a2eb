import Foundation

/// The program under test as a process of its own.
///
/// What it prints goes to files: a pipe is read when there is time, and a loaded machine has none.
final class RunningProgram: @unchecked Sendable {
    // Safe: the process is started once, before anybody else sees it.
    private let process = Process()
    private let input = Pipe()
    private let output: URL
    private let errors: URL

    /// The program that this build made.
    static let executable: URL = {
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        return products.appendingPathComponent("millstream")
    }()

    /// Starts the program, or another; `keepsInputOpen` gives it a standard input that never ends, the replacements other
    /// outputs than the files behind ``standardOutput`` and ``standardError``.
    init(
        _ arguments: [String],
        of executable: URL = executable,
        environment: [String: String] = [:],
        keepsInputOpen: Bool = false,
        replacedOutput: FileHandle? = nil,
        replacedErrors: FileHandle? = nil
    ) throws {
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let folder = FileManager.default.temporaryDirectory
        output = folder.appendingPathComponent("output-\(UUID())")
        errors = folder.appendingPathComponent("errors-\(UUID())")
        for file in [output, errors] { try Data().write(to: file) }
        if keepsInputOpen { process.standardInput = input }
        process.standardOutput = try replacedOutput ?? FileHandle(forWritingTo: output)
        process.standardError = try replacedErrors ?? FileHandle(forWritingTo: errors)
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        for file in [output, errors] { try? FileManager.default.removeItem(at: file) }
    }

    var outputData: Data { (try? Data(contentsOf: output)) ?? Data() }
    var errorData: Data { (try? Data(contentsOf: errors)) ?? Data() }
    var standardOutput: String { (try? Data(contentsOf: output)).map { String(decoding: $0, as: UTF8.self) } ?? "" }
    var standardError: String { (try? Data(contentsOf: errors)).map { String(decoding: $0, as: UTF8.self) } ?? "" }
    var isRunning: Bool { process.isRunning }

    /// Waits until it has begun to take a signal: a loaded machine starts it late.
    func waitUntilItTakes(_ signal: Int32) async throws {
        #if os(Linux)
        try await eventually("the program takes signal \(signal)") {
            let status = try? String(contentsOfFile: "/proc/\(self.process.processIdentifier)/status", encoding: .utf8)
            let line = status?.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
            let mask = line.flatMap { UInt64($0.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) } ?? 0
            return mask & 1 << UInt64(signal - 1) != 0
        }
        #else
        try await Task.sleep(for: .seconds(1))
        #endif
    }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Waits for the end and gives the exit status; a signal counts as minus its number.
    func finish(within limit: Duration = .seconds(60)) async throws -> Int32 {
        try await eventually("the program ends", within: limit) { !self.process.isRunning }
        return process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
    }

    /// The first group of a pattern in what was printed, once it was.
    func match(_ pattern: String, within limit: Duration = .seconds(30)) async throws -> String {
        let regex = try Regex(pattern)
        var found: String?
        try await eventually("the program prints \(pattern)", within: limit) {
            found = self.standardOutput.firstMatch(of: regex).flatMap { $0.output[1].substring.map(String.init) }
            return found != nil
        }
        return found ?? ""
    }
}

/// Something that was waited for and did not come.
struct TimedOut: Error, CustomStringConvertible {
    let description: String
}

/// Waits until something holds.
///
/// - Throws: ``TimedOut`` where it does not within the limit.
func eventually(
    _ what: String,
    within limit: Duration = .seconds(30),
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw TimedOut(description: "waited \(limit) in vain: \(what)") }
        try await Task.sleep(for: .milliseconds(50))
    }
}
