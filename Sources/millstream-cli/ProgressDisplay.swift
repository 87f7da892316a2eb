import Foundation
import MediaTiming
import MillstreamDownloads
import ReportFormat
import Synchronization

/// A display of the progress of a download: a progress bar on a terminal, otherwise lines of text, each of which says
/// something new.
final class ProgressDisplay: Sendable {
    private struct State {
        /// The percentage and the rate that are shown.
        var figures: DisplayedProgress
        var lastLine: (time: Duration, percent: Double, content: String)?
        /// The time and the number of received bytes when the display began.
        var start: (time: Duration, received: Int64)?
        /// The number of received bytes, and the time since which it is the same.
        var received: (bytes: Int64, since: Duration)?
        /// The line of a recording that is due later, which is shown if the recording ends before.
        var nextLine: String?
        var hasBar = false
        /// The task that updates the display while no data is received.
        var refresh: Task<Void, Never>?
    }

    /// The maximum interval between two lines without a terminal, while data is received.
    private static let lineInterval = Duration.seconds(5)

    /// The time without data after which the file that is awaited is named.
    private static let stallInterval = Duration.seconds(3)
    /// The interval at which the wait for a file is written again without a terminal.
    private static let waitInterval = Duration.seconds(60)

    private let isQuiet: Bool
    private let isRecording: Bool
    private let time = SystemTimeSource()
    private let state: Mutex<State>

    init(isQuiet: Bool, isRecording: Bool = false) {
        self.isQuiet = isQuiet
        self.isRecording = isRecording
        // A recording receives data only when a segment is published.
        state = Mutex(State(figures: DisplayedProgress(window: .seconds(isRecording ? 30 : 10))))
    }

    func show(_ progress: DownloadProgress) {
        guard !isQuiet else { return }
        update(progress)
        let refresh = Task { [weak self, time] in
            while (try? await time.sleep(for: .seconds(1))) != nil { self?.update(progress, isRefresh: true) }
        }
        state.withLock { state in
            state.refresh?.cancel()
            state.refresh = refresh
        }
    }

    /// Returns the percentage of a progress, which does not decrease during a run.
    ///
    /// - Parameter progress: The current progress.
    /// - Returns: The percentage from 0 to 100; 100 only if all files are stored.
    func percent(of progress: DownloadProgress) -> Double { state.withLock { $0.figures.percent(of: progress) } }

    private func update(_ progress: DownloadProgress, isRefresh: Bool = false) {
        state.withLock { state in
            // The display may have ended in the meantime.
            guard !isRefresh || state.refresh != nil else { return }
            let now = time.now
            let percent = state.figures.percent(of: progress)
            state.figures.addReceived(progress.receivedBytes.bytes, at: now)
            if state.received?.bytes != progress.receivedBytes.bytes {
                state.received = (progress.receivedBytes.bytes, now)
            }
            if state.start == nil { state.start = (now, progress.receivedBytes.bytes) }
            let stall = state.received.map { now - $0.since } ?? .zero
            let hasGoal = !isRecording || progress.percent > 0
            let loaded = progress.loadedTimeRanges.totalDuration
            // A recording ends with a whole segment, which may be later than the requested duration.
            let done = isRecording && hasGoal ? min(loaded, progress.duration) : loaded
            let total = hasGoal ? " of \(QuantityText.clock(progress.duration))" : ""
            var line = "\(QuantityText.clock(done))\(total)\(isRecording ? " recorded" : "")  \(progress.bytes)"
            // What makes a line new: a rate or a longer wait alone does not.
            var content = "\(Int(saturating: percent)) \(line)"
            if stall >= Self.stallInterval, let file = progress.requestedFile {
                let awaited =
                    progress.isWaitingForPlayback
                    ? "a player to receive its media" : TerminalText(escaping: file).description
                line += "  waiting \(Int(saturating: stall / .seconds(1))) s for \(awaited)"
                content += " \(Int(saturating: stall / Self.waitInterval)) \(awaited)"
            } else if !isRecording || progress.percent < 100, let rate = state.figures.rate(at: now) {
                let bitsPerSecond = Int64(saturating: rate * 8)
                // Without data, the rate is unknown.
                if bitsPerSecond > 0 { line += "  \(BitRate(bitsPerSecond: bitsPerSecond))" }
                // The speed shortly after a stall says nothing about the rest.
                let usual = state.start.map { start in
                    Double(progress.receivedBytes.bytes -| start.received) / max((now - start.time) / .seconds(1), 0.1)
                }
                if let expected = progress.expectedBytes, rate > 0, rate * 10 >= usual ?? 0, progress.percent < 100,
                    let left = MediaTime(approximating: Double(max(0, expected.bytes -| progress.bytes.bytes)) / rate)
                {
                    line += "  \(QuantityText.clock(left)) remaining"
                }
            }
            if isRecording {
                if StandardError.isTerminal {
                    StandardError.rewriteLine("\(line)")
                    state.hasBar = true
                } else if state.lastLine?.content == content {
                    state.nextLine = nil
                } else if state.lastLine.map({ now - $0.time >= Self.lineInterval }) ?? true {
                    state.lastLine = (now, percent, content)
                    state.nextLine = nil
                    StandardError.write("\(line)\n")
                } else {
                    state.nextLine = line
                }
            } else if StandardError.isTerminal {
                let filled = min(max(Int(saturating: percent / 5), 0), 20)
                let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 20 - filled)
                StandardError.rewriteLine("[\(bar)] \(Int(saturating: percent)) %  \(line)")
                state.hasBar = true
            } else if state.lastLine.map({ last in
                last.content != content
                    && (percent - last.percent >= 10 || percent == 100 && last.percent < 100
                        || now - last.time >= Self.lineInterval)
            }) ?? true {
                state.lastLine = (now, percent, content)
                StandardError.write("\(Int(saturating: percent)) %  \(line)\n")
            }
        }
    }

    /// Ends the line of the progress bar, and shows the last state of a recording.
    func end() {
        state.withLock { state in
            state.refresh?.cancel()
            state.refresh = nil
            if let line = state.nextLine { StandardError.write("\(line)\n") }
            state.nextLine = nil
            if state.hasBar { StandardError.write("\n") }
            state.hasBar = false
        }
    }
}
