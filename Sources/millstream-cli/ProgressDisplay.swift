import Foundation
import MediaTiming
import MillstreamDownloads
import Synchronization

/// How far a download is, for a person: a bar on a terminal, plain lines elsewhere.
final class ProgressDisplay: Sendable {
    private struct State {
        var begun: Duration
        var bytesAtBegin: Int64 = 0
        var lastPercent = -10.0
        var hasBar = false
    }

    private let isQuiet: Bool
    private let time = SystemTimeSource()
    private let state: Mutex<State>

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
        state = Mutex(State(begun: SystemTimeSource().now))
    }

    func begin(_ progress: DownloadProgress) {
        state.withLock {
            $0.begun = time.now
            $0.bytesAtBegin = progress.bytes.bytes
        }
        show(progress)
    }

    func show(_ progress: DownloadProgress) {
        guard !isQuiet else { return }
        state.withLock { state in
            let seconds = max((time.now - state.begun) / .seconds(1), 0.001)
            let rate = Double(progress.bytes.bytes - state.bytesAtBegin) / seconds
            let done = progress.loadedTimeRanges.totalDuration
            var line = "\(Self.clock(done)) of \(Self.clock(progress.expected))  \(progress.bytes)"
            line += "  \(ByteCount(Int64(rate)))/s"
            if progress.percent > 0, progress.percent < 100 {
                line +=
                    "  \(Self.clock(MediaTime(approximating: seconds / progress.percent * (100 - progress.percent)) ?? .zero)) left"
            }
            if StandardError.isTerminal {
                let filled = Int(progress.percent / 5)
                let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 20 - filled)
                StandardError.write("\r\u{1B}[K[\(bar)] \(Int(progress.percent))%  \(line)")
                state.hasBar = true
            } else if progress.percent - state.lastPercent >= 10 || progress.percent == 100 && state.lastPercent < 100 {
                state.lastPercent = progress.percent
                StandardError.write("\(Int(progress.percent))%  \(line)\n")
            }
        }
    }

    /// Leaves the bar on its line.
    func end() {
        state.withLock { state in
            if state.hasBar { StandardError.write("\n") }
            state.hasBar = false
        }
    }

    private static func clock(_ time: MediaTime) -> String {
        let seconds = Int(time.seconds.rounded())
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let hours = seconds / 3600
        return (hours > 0 ? "\(hours):" : "") + "\(padded(seconds / 60 % 60)):\(padded(seconds % 60))"
    }
}
