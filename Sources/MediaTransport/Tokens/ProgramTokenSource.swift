#if os(Linux) || os(macOS)
import Dispatch
import Foundation
import MediaTiming
public import ResourceAddressing
import Synchronization

/// A program that writes tokens: it is started with the URL that the token is for as its last argument.
public struct ProgramTokenSource: AccessTokenSource {
    private let command: [String]
    private let timeLimit: Duration

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - command: The program, a path or a name that is looked up in `PATH`, and its first arguments.
    ///   - timeLimit: The time after which the program is ended.
    public init(_ command: [String], timeLimit: Duration = .seconds(10)) {
        self.command = command
        self.timeLimit = timeLimit
    }

    /// Returns the token that the program writes to its standard output; see ``AccessToken/init(answer:for:)``.
    ///
    /// - Throws: ``TransportError``.
    public func token(for address: ResourceAddress) async throws -> AccessToken {
        let run = ProgramRun()
        let (status, output) = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(
                        with: Result { try run.run(command + [address.text], timeLimit: timeLimit, for: address) }
                    )
                }
            }
        } onCancel: {
            run.end()
        }
        try Task.checkCancellation()
        guard status == 0 else {
            throw TransportError(
                .tokenUnavailable,
                "the program \(command.first ?? "") for tokens ended with the status \(status)",
                address: address
            )
        }
        return try AccessToken(answer: output, for: address)
    }
}

/// A program that runs, and can be ended from another thread.
private final class ProgramRun: Sendable {
    private struct State {
        var process: Process?
        var isEnded = false
    }

    private let state = Mutex(State())

    /// Runs a program to its end.
    ///
    /// - Returns: The exit status and the standard output.
    func run(
        _ command: [String],
        timeLimit: Duration,
        for address: ResourceAddress
    ) throws -> (status: Int32, output: [UInt8]) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        do {
            try state.withLock { state in
                guard !state.isEnded else { throw CancellationError() }
                try process.run()
                state.process = process
            }
        } catch let error where !(error is CancellationError) {
            throw TransportError(
                .tokenUnavailable,
                "the program for tokens cannot be started: \(error)",
                address: address
            )
        }
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + timeLimit / .seconds(1))
        timer.setEventHandler { [self] in end() }
        timer.resume()
        defer { timer.cancel() }
        var bytes: [UInt8] = []
        while let data = try output.fileHandleForReading.read(upToCount: 4 << 10), !data.isEmpty {
            guard bytes.count + data.count <= AccessToken.maximumAnswerSize else {
                end()
                process.waitUntilExit()
                throw TransportError(.tokenUnavailable, "the program for tokens writes too much", address: address)
            }
            bytes += data
        }
        process.waitUntilExit()
        return (process.terminationStatus, bytes)
    }

    /// Ends the program.
    func end() {
        state.withLock { state in
            state.isEnded = true
            guard let process = state.process, process.isRunning else { return }
            kill(process.processIdentifier, SIGKILL)
        }
    }
}
#endif
