import Foundation

/// The program under test as a separate process.
///
/// Its output is written to files, because a busy machine may not read a pipe in time.
final class RunningProgram: @unchecked Sendable {
    // Safe: the process is started once, before the object is shared.
    private let process = Process()
    private let input = Pipe()
    private let output: URL
    private let errors: URL

    /// The program that was built with these tests.
    static let executable: URL = {
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        return products.appendingPathComponent("millstream")
    }()

    /// The folder of the data, the configuration, the caches and the state of all programs, in place of the folders of the user.
    ///
    /// All programs of a test run share it, so that the cache of fonts is written only once. It is removed at the end of the run.
    static let userFolder: URL = {
        atexit { RunningProgram.removeUserFolder() }
        return FileManager.default.temporaryDirectory.appendingPathComponent("user-\(UUID())")
    }()

    private static func removeUserFolder() { try? FileManager.default.removeItem(at: userFolder) }

    /// The variables that name the folders of the user, which are created.
    private static let userVariables: [String: String] = {
        var variables: [String: String] = [:]
        for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"] {
            let folder = userFolder.appendingPathComponent(name.lowercased())
            try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            variables[name] = folder.path
        }
        return variables
    }()

    /// Starts the program, or another executable.
    ///
    /// The program uses neither the library nor the configuration of the user.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the program.
    ///   - executable: The executable.
    ///   - environment: Variables that are added to the environment of this process, and replace the folders of all programs.
    ///   - directory: The working directory; `nil` for that of the tests.
    ///   - keepsInputOpen: A Boolean value that indicates whether the program has a standard input that never ends.
    ///   - replacedOutput: A handle for standard output, instead of the file that ``standardOutput`` reads.
    ///   - replacedErrors: A handle for standard error, instead of the file that ``standardError`` reads.
    /// - Throws: The error of a program that cannot be started.
    init(
        _ arguments: [String],
        of executable: URL = executable,
        environment: [String: String] = [:],
        directory: URL? = nil,
        keepsInputOpen: Bool = false,
        replacedOutput: FileHandle? = nil,
        replacedErrors: FileHandle? = nil
    ) throws {
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            // The library and the configuration of the user must not change the results of tests, nor tests the library.
            .filter { $0.key != "MILLSTREAM_LIBRARY" }
            .merging(Self.userVariables) { _, new in new }
            .merging(environment) { _, new in new }
        process.currentDirectoryURL = directory
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

    #if os(Linux)
    /// The names of the libraries that the running program has loaded, such as `libc.so.6`.
    var loadedLibraries: Set<String> {
        // A read of such a file returns only a part of it.
        let file = FileHandle(forReadingAtPath: "/proc/\(process.processIdentifier)/maps")
        let maps = String(decoding: file?.readDataToEndOfFile() ?? Data(), as: UTF8.self)
        let paths = maps.split(separator: "\n").compactMap { $0.split(separator: " ").last }
        return Set(paths.filter { $0.contains(".so") }.compactMap { $0.split(separator: "/").last.map(String.init) })
    }
    #endif

    /// Waits until the program handles a signal, since it may start late on a busy machine.
    func waitUntilItHandles(_ signal: Int32) async throws {
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

    /// Waits for the end of the program and returns its exit status, or the negated number of the signal that ended it.
    func finish(within limit: Duration = .seconds(60)) async throws -> Int32 {
        try await eventually("the program ends", within: limit) { !self.process.isRunning }
        return process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
    }

    /// Waits for the end of the program, and returns its exit status and what it has written.
    func result() async throws -> (status: Int32, output: String, errors: String) {
        let status = try await finish()
        return (status, standardOutput, standardError)
    }

    /// Returns the first capture group of a pattern in the output, after it has been printed.
    func match(_ pattern: String, within limit: Duration = .seconds(120)) async throws -> String {
        let regex = try Regex(pattern)
        var found: String?
        try await eventually("the program prints \(pattern)", within: limit) {
            found = self.standardOutput.firstMatch(of: regex).flatMap { $0.output[1].substring.map(String.init) }
            return found != nil
        }
        return found ?? ""
    }
}

/// An error that is thrown if a condition does not become true in time.
struct TimedOut: Error, CustomStringConvertible {
    let description: String
}

/// Waits until a condition becomes true.
///
/// - Throws: ``TimedOut`` if the condition does not become true within the limit.
func eventually(
    _ what: String,
    within limit: Duration = .seconds(120),
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw TimedOut(description: "waited \(limit) in vain: \(what)") }
        try await Task.sleep(for: .milliseconds(50))
    }
}
