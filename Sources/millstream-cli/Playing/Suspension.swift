import Dispatch
import Foundation
import MediaTiming
import Millstream

/// The handling of Ctrl-Z: playback pauses before the process is suspended, so that displays and logs end at the
/// correct time.
enum Suspension {
    /// The number of checks, 10 ms apart, for the playhead to stop; the process is suspended after them in any case.
    private static let maximumChecks = 100

    /// Handles the signal until the task is canceled; playback resumes when the process does.
    static func handleSignal(for player: Player) async {
        let (requests, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        signal(SIGTSTP, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGTSTP)
        source.setEventHandler { continuation.yield() }
        source.resume()
        defer {
            source.cancel()
            signal(SIGTSTP, SIG_DFL)
        }
        for await _ in requests {
            let rate = player.rate
            player.applicationWillSuspend()
            for _ in 0..<maximumChecks where player.timebase.rate != 0 {
                try? await player.environment.time.sleep(for: .milliseconds(10))
            }
            // Returns when the process is resumed.
            kill(getpid(), SIGSTOP)
            player.rate = rate
        }
    }
}
