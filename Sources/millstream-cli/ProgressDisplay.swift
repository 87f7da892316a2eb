import Foundation
import MediaTiming
import MillstreamDownloads
import ReportFormat
import Synchronization

/// A display of the progress of a download: a progress bar on a terminal, otherwise lines of text.
final class ProgressDisplay: Sendable {
    private struct State {
        /// The progress at times within the last 5 seconds, oldest first, from which the speed is computed.
        var samples: [(time: Duration, received: Int64)] = []
        var lastLine: (time: Duration, percent: Double)?
        var hasBar = false
    }

    private static let window = Duration.seconds(5)
    /// The maximum interval between two lines without a terminal, while data is received.
    private static let lineInterval = Duration.seconds(5)

    private let isQuiet: Bool
    private let isRecording: Bool
    private let time = SystemTimeSource()
    private let state: Mutex<State>

    init(isQuiet: Bool, isRecording: Bool = false) {
        self.isQuiet = isQuiet
        self.isRecording = isRecording
        state = Mutex(State())
    }

    func show(_ progress: DownloadProgress) {
        guard !isQuiet else { return }
        state.withLock { state in
            let now = time.now
            let percent = progress.percentOfBytes
            state.samples.append((now, progress.receivedBytes.bytes))
            while state.samples.count > 2, now - state.samples[1].time > Self.window { state.samples.removeFirst() }
            let done = progress.loadedTimeRanges.totalDuration
            let hasGoal = !isRecording || progress.percent > 0
            let total = hasGoal ? " of \(QuantityText.clock(progress.duration))" : ""
            var line = "\(QuantityText.clock(done))\(total)\(isRecording ? " recorded" : "")  \(progress.bytes)"
            if let first = state.samples.first, now - first.time > .milliseconds(100) {
                let seconds = (now - first.time) / .seconds(1)
                let rate = max(0, Double(progress.receivedBytes.bytes -| first.received) / seconds)
                line += "  \(ByteCount(Int64(saturating: rate)))/s"
                if let expected = progress.expectedBytes, rate > 0, progress.percent < 100,
                    let left = MediaTime(approximating: Double(max(0, expected.bytes -| progress.bytes.bytes)) / rate)
                {
                    line += "  \(QuantityText.clock(left)) remaining"
                }
            }
            if isRecording {
                if StandardError.isTerminal {
                    StandardError.rewriteLine("\(line)")
                    state.hasBar = true
                } else if state.lastLine.map({ now - $0.time >= Self.lineInterval }) ?? true {
                    state.lastLine = (now, progress.percent)
                    StandardError.write("\(line)\n")
                }
            } else if StandardError.isTerminal {
                let filled = min(max(Int(saturating: percent / 5), 0), 20)
                let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 20 - filled)
                StandardError.rewriteLine("[\(bar)] \(Int(saturating: percent)) %  \(line)")
                state.hasBar = true
            } else if state.lastLine.map({ last in
                percent - last.percent >= 10 || percent == 100 && last.percent < 100
                    || now - last.time >= Self.lineInterval
            }) ?? true {
                state.lastLine = (now, percent)
                StandardError.write("\(Int(saturating: percent)) %  \(line)\n")
            }
        }
    }

    /// Ends the line of the progress bar.
    func end() {
        state.withLock { state in
            if state.hasBar { StandardError.write("\n") }
            state.hasBar = false
        }
    }
}
