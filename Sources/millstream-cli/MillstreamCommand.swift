import ArgumentParser
import Foundation

/// The program: one command for each job.
@main struct MillstreamCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "millstream",
        abstract: "Play, keep and reshape HTTP live streams.",
        version: "0.1.0",
        subcommands: [
            InspectCommand.self, ValidateCommand.self, EditCommand.self, DownloadCommand.self, LibraryCommand.self,
            ServeCommand.self, OriginCommand.self, ConditionsCommand.self, SimulateCommand.self,
            PlayCommand.self,
        ]
    )

    /// Begins on the main thread and leaves it to windows: the command runs beside it.
    @MainActor static func main() {
        // A pipe that its reader closed (millstream inspect … | head) ends the program, as with any other.
        signal(SIGPIPE, SIG_DFL)
        // Whoever starts this may have blocked signals for itself; they are wanted here.
        var wanted = sigset_t()
        sigemptyset(&wanted)
        for signal in [SIGINT, SIGTERM] { sigaddset(&wanted, signal) }
        pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
        // Commands that have something to keep or to end take the signal themselves.
        signal(SIGINT) { _ in
            let line = "millstream: error: interrupted (interrupted)\n" as StaticString
            write(STDERR_FILENO, line.utf8Start, line.utf8CodeUnitCount)
            _exit(Failure.Status.interrupted.rawValue)
        }
        Task.detached { await runCommand() }
        MainThread.serve()
    }

    private static func runCommand() async -> Never {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            Foundation.exit(Failure.Status.done.rawValue)
        } catch let code as ExitCode {
            // The command has printed what it had to say.
            Foundation.exit(code.rawValue)
        } catch {
            Failure(error, arguments: CommandLine.arguments).exit()
        }
    }
}
