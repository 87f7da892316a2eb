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

    /// Returns the token that the program writes to its standard output; see ``AccessToken/init(response:for:)``.
    ///
    /// - Throws: ``TransportError``.
    public func token(for address: ResourceAddress) async throws -> AccessToken {
        let run = ProgramRun(timeLimit)
        let result = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(with: Result { try run.run(command + [address.text]) })
                }
            }
        } onCancel: {
            run.cancel()
        }
        try Task.checkCancellation()
        let name = command.first ?? ""
        let problem: String
        switch result {
        case .output(let bytes): return try AccessToken(response: bytes, for: address)
        case .notStarted(let code): problem = "cannot be started (\(String(cString: strerror(code))))"
        case .failed(let status): problem = "ended with the status \(status)"
        case .tooSlow: problem = "did not end within \(timeLimit / .seconds(1)) seconds"
        case .tooLong: problem = "writes more than 64 KiB"
        }
        throw TransportError(.tokenUnavailable, "the program \(name) for tokens \(problem)", address: address)
    }
}

/// A program that runs, with a group of its own for the programs that it starts.
///
/// `Process` of Foundation waits for all programs that were started, also for those that the program leaves behind.
private final class ProgramRun: Sendable {
    enum Outcome {
        case output([UInt8])
        case notStarted(Int32)
        case failed(Int32)
        case tooSlow
        case tooLong
    }

    private let timeLimit: Duration
    private let isCanceled = Mutex(false)

    init(_ timeLimit: Duration) { self.timeLimit = timeLimit }

    /// Ends the program within 50 milliseconds.
    func cancel() { isCanceled.withLock { $0 = true } }

    /// Runs a program to its end.
    func run(_ command: [String]) throws -> Outcome {
        var pipe: [Int32] = [-1, -1]
        guard Foundation.pipe(&pipe) == 0 else { return .notStarted(errno) }
        defer { close(pipe[0]) }
        let (code, id) = Self.start(command, output: pipe[1])
        close(pipe[1])
        guard code == 0 else { return .notStarted(code) }
        let start = ContinuousClock.now
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4 << 10)
        var isAtEnd = false
        while true {
            var status: Int32 = 0
            var information = siginfo_t()
            waitid(P_PID, id_t(clamping: id), &information, WEXITED | WNOHANG | WNOWAIT)
            let hasEnded = information.si_signo == SIGCHLD
            // What the program has written before its end is in the pipe.
            var ready = pollfd(fd: pipe[0], events: Int16(clamping: POLLIN), revents: 0)
            while !isAtEnd, bytes.count <= AccessToken.maximumResponseSize, poll(&ready, 1, hasEnded ? 0 : 50) > 0 {
                let count = read(pipe[0], &buffer, buffer.count)
                isAtEnd = count <= 0
                if count > 0 { bytes += buffer[..<count] }
                if !hasEnded { break }
            }
            if hasEnded {
                // The programs that it has started end with it; its identifier is in use until it is waited for.
                killpg(id, SIGKILL)
                waitpid(id, &status, 0)
                let signal = status & 0x7F
                if status != 0 { return .failed(signal == 0 ? status >> 8 & 0xFF : signal.negatedSaturated()) }
                return bytes.count > AccessToken.maximumResponseSize ? .tooLong : .output(bytes)
            }
            let isTooLong = bytes.count > AccessToken.maximumResponseSize
            let isTooSlow = ContinuousClock.now - start >= timeLimit
            if isTooLong || isTooSlow || isCanceled.withLock({ $0 }) {
                killpg(id, SIGKILL)
                waitpid(id, &status, 0)
                return isTooLong ? .tooLong : .tooSlow
            }
            if isAtEnd { usleep(2_000) }
        }
    }

    /// Starts a program in a group of its own, without standard input.
    ///
    /// - Returns: The error number, 0 for none, and the identifier of the process.
    private static func start(_ command: [String], output: Int32) -> (code: Int32, id: pid_t) {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        let flags = Int16(clamping: POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_CLOEXEC_DEFAULT)
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        let flags = Int16(clamping: POSIX_SPAWN_SETPGROUP)
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, 2, 2)
        posix_spawnattr_setflags(&attributes, flags)
        posix_spawnattr_setpgroup(&attributes, 0)
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var id: pid_t = 0
        let code = posix_spawnp(&id, command.first ?? "", &actions, &attributes, arguments, environ)
        return (code, id)
    }
}
#endif
