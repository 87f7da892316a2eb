import Foundation
import Synchronization

/// The program under test as a process of its own.
final class RunningProgram: @unchecked Sendable {
    // Safe: the process is started once, before anybody else sees it; the text is behind a mutex.
    private let process = Process()
    private let output = Mutex("")
    private let errors = Mutex("")
    private let openPipes = Mutex(2)
    private let input = Pipe()

    /// The program that this build made.
    static let executable: URL = {
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        return products.appendingPathComponent("millstream")
    }()

    /// Starts the program; `keepsInputOpen` gives it a standard input that never ends.
    init(_ arguments: [String], environment: [String: String] = [:], keepsInputOpen: Bool = false) throws {
        process.executableURL = Self.executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let (out, err) = (Pipe(), Pipe())
        if keepsInputOpen { process.standardInput = input }
        process.standardOutput = out
        process.standardError = err
        out.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            self?.output.withLock { $0 += String(decoding: data, as: UTF8.self) }
            if data.isEmpty { self?.close(handle) }
        }
        err.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            self?.errors.withLock { $0 += String(decoding: data, as: UTF8.self) }
            if data.isEmpty { self?.close(handle) }
        }
        try process.run()
    }

    private func close(_ handle: FileHandle) {
        handle.readabilityHandler = nil
        openPipes.withLock { $0 -= 1 }
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    var standardOutput: String { output.withLock { $0 } }
    var standardError: String { errors.withLock { $0 } }
    var isRunning: Bool { process.isRunning }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Waits for the end and gives the exit status; a signal counts as minus its number.
    func finish(within limit: Duration = .seconds(60)) async throws -> Int32 {
        try await eventually("the program ends", within: limit) { !self.process.isRunning }
        // The last bytes may still be on their way. A program that was started meanwhile may hold our pipes open, so
        // silence ends them too.
        var (size, silence) = (-1, 0)
        while openPipes.withLock({ $0 }) > 0, silence < 10 {
            let now = standardOutput.utf8.count + standardError.utf8.count
            silence = now == size ? silence + 1 : 0
            size = now
            try await Task.sleep(for: .milliseconds(50))
        }
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
