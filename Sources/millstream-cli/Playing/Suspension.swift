import Dispatch
import Foundation
import MediaTiming
import PlaybackReporting
import StreamingEngine

/// Ctrl-Z stops the play head before it stops the process, so that what is told and logged ends where it should.
enum Suspension {
    /// How long the play head may take to stop; then the process stops all the same.
    private static let patience = 100

    /// Heeds the signal until the task is cancelled; once the process goes on, so does the play head.
    static func heed(for engine: PlaybackEngine, _ time: any TimeSource) async {
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
            let rate = engine.snapshot.desiredRate
            await engine.setRate(0, reason: .appBackgrounded)
            for _ in 0..<patience where engine.snapshot.timebase.rate != 0 {
                try? await time.sleep(for: .milliseconds(10))
            }
            // Returns when somebody lets the process go on.
            kill(getpid(), SIGSTOP)
            await engine.setRate(rate)
        }
    }
}
