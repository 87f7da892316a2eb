import ArgumentParser
import Foundation
import Logging
import MediaTransport

/// The program, with one subcommand for each task.
@main struct MillstreamCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "millstream",
        abstract: "Play, download, edit, serve and test HLS streams.",
        discussion: """
            Exit status: 0 for success, 1 for a failure, 2 for invalid input, 64 for wrong usage, and 130 after an \
            interruption. It is 141 if the reader of standard output has closed it, as in millstream inspect URL | \
            head.
            """,
        version: "0.1.0",
        subcommands: [
            InspectCommand.self, ValidateCommand.self, EditCommand.self, EditsCommand.self, TranslateCommand.self,
            DownloadCommand.self, DownloadsCommand.self, RecordCommand.self,
            LibraryCommand.self, ServeCommand.self, SignCommand.self, OriginCommand.self, ConditionsCommand.self,
            SimulateCommand.self,
            PlayCommand.self, ConfigCommand.self,
        ]
    )

    /// Starts the program; the command runs beside the main thread, which is reserved for windows.
    @MainActor static func main() {
        HeapSettings.apply()
        OutputDescriptor.reserveStandardDescriptors()
        // Writing to a pipe that its reader has closed (millstream inspect … | head) must fail, to end the command
        // gracefully.
        signal(SIGPIPE, SIG_IGN)
        LoggingSystem.bootstrap { TerminalLogHandler(label: $0) }
        // The parent process may have blocked these signals.
        var wanted = sigset_t()
        sigemptyset(&wanted)
        for signal in [SIGINT, SIGTERM] { sigaddset(&wanted, signal) }
        pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
        // Default handling; commands with work to preserve or to end handle the signals themselves.
        signal(SIGINT) { _ in
            OutputDescriptor.writeInterruption()
            _exit(Failure.Status.interrupted.rawValue)
        }
        Task.detached { await runCommand() }
        MainThread.runLoop()
    }

    private static func runCommand() async -> Never {
        do {
            try await OutputSupervisor.shared.run {
                let arguments = Array(CommandLine.arguments.dropFirst())
                let isHelp = arguments.contains { ["--help", "-h", "--version", "help"].contains($0) }
                if arguments.first == "help", let unknown = UnknownCommand.first(in: arguments) {
                    throw unknown.failure
                }
                // Help is available even if the configuration is not valid.
                let completed = isHelp ? arguments : try Configuration.load().completed(arguments)
                var command = try parseAsRoot(completed)
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
            }
            Foundation.exit(Failure.Status.done.rawValue)
        } catch let code as ExitCode {
            // The command has already printed its result.
            Foundation.exit(code.rawValue)
        } catch {
            var failure = Failure(error, arguments: CommandLine.arguments)
            let arguments = Array(CommandLine.arguments.dropFirst())
            if failure.status == .wrongUsage, let unknown = UnknownCommand.first(in: arguments) {
                failure = unknown.failure
            }
            if failure.hint == nil, failure.code == TransportError.Code.fileNotFound.rawValue,
                namesStandardInput(arguments),
                !CommandLine.arguments.contains(where: { $0.hasPrefix("--base-url") })
            {
                failure.hint = "relative URLs in a playlist from standard input require --base-url URL"
            }
            failure.exit()
        }
    }

    /// The options with the value `-` for standard output.
    private static let outputOptions: Set = ["--access-log", "--error-log", "--events", "--metrics", "--output", "-o"]

    /// Returns a Boolean value that indicates whether arguments name standard input.
    private static func namesStandardInput(_ arguments: [String]) -> Bool {
        zip([""] + arguments, arguments).contains { option, value in value == "-" && !outputOptions.contains(option) }
    }
}
