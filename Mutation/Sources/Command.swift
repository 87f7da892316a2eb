import Foundation

/// A program that runs to its end or to a limit of time.
struct Command {
    /// The ways in which a program ends.
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

    /// Runs the program.
    ///
    /// - Parameters:
    ///   - output: The file that receives what it prints; `nil` discards it.
    ///   - timeLimit: The time after which it is ended, in seconds.
    /// - Returns: How it ended.
    /// - Throws: The error of Foundation where the program cannot be started.
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
