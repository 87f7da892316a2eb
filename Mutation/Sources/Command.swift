import Foundation

/// A command that runs until it exits or reaches a time limit.
struct Command {
    /// The result of a command.
    enum Result { case succeeded, failed, timedOut }

    private let arguments: [String]
    private let environment: [String: String]

    init(_ arguments: String..., environment: [String: String] = [:]) {
        self.init(arguments: arguments, environment: environment)
    }

    init(arguments: [String], environment: [String: String]) {
        self.arguments = arguments
        self.environment = environment
    }

    /// Runs the command.
    ///
    /// - Parameters:
    ///   - output: The file to which its output is written; `nil` discards the output.
    ///   - timeLimit: The time after which the process is killed, in seconds.
    /// - Returns: The result.
    /// - Throws: The error of Foundation if the process cannot be started.
    func run(output: URL? = nil, timeLimit: Double) throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var handle = FileHandle.nullDevice
        if let output {
            _ = FileManager.default.createFile(atPath: output.path, contents: nil)
            handle = try FileHandle(forWritingTo: output)
        }
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        guard ended.wait(timeout: .now() + timeLimit) == .success else {
            kill(process.processIdentifier, SIGKILL)
            ended.wait()
            return .timedOut
        }
        return process.terminationReason == .exit && process.terminationStatus == 0 ? .succeeded : .failed
    }
}
