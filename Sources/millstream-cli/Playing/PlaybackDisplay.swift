import Foundation
import MediaTiming
import Millstream
import PlaybackReporting
import ReportFormat
import Synchronization

/// A display of the playback position: one updated line on a terminal, otherwise a line at intervals.
final class PlaybackDisplay: Sendable {
    private struct State {
        var lastLine: (time: Duration, head: String)?
        /// The time at which loading began, by the clock of playback; `nil` before and after.
        var loadingStart: Duration?
        var hasLine = false
        /// The title of the media file that was shown last, with its artist and its album.
        var title: String?
    }

    private static let lineInterval = Duration.seconds(10)
    /// The time of loading before which it is not shown.
    private static let loadingDelay = Duration.seconds(2)

    private let isQuiet: Bool
    private let isLocal: Bool
    private let clock = SystemTimeSource()
    private let state = Mutex(State())

    /// Creates a display.
    ///
    /// - Parameters:
    ///   - isQuiet: A Boolean value that indicates whether nothing is shown.
    ///   - isLocal: A Boolean value that indicates whether the media is on the disk.
    init(isQuiet: Bool, isLocal: Bool = false) {
        self.isQuiet = isQuiet
        self.isLocal = isLocal
    }

    /// Shows the state at one moment.
    ///
    /// - Parameters:
    ///   - player: The state of the player.
    ///   - item: The state of the item.
    ///   - now: The time by the clock of playback.
    ///   - hasReachedStart: A Boolean value that indicates whether backward playback has ended at the start.
    func show(_ player: PlayerState, _ item: PlayerItem.State, at now: Duration, hasReachedStart: Bool = false) {
        guard !isQuiet else { return }
        guard item.status == .readyToPlay else {
            if item.status == .unknown { showLoading(item, at: now) }
            return
        }
        showTitle(of: item)
        let position = item.timebase.mediaTime(at: now)
        let head = hasReachedStart ? "ended" : Self.word(player, item)
        state.withLock { state in
            let time = clock.now
            if StandardError.isTerminal {
                guard state.lastLine.map({ time - $0.time >= .milliseconds(100) }) ?? true else { return }
                StandardError.rewriteLine(line(item, position, Self.head(head, item, at: now), at: now))
                state.hasLine = true
            } else {
                guard state.lastLine.map({ $0.head != head || time - $0.time >= Self.lineInterval }) ?? true else {
                    return
                }
                StandardError.write(line(item, position, Self.head(head, item, at: now), at: now) + "\n")
            }
            state.lastLine = (time, head)
        }
    }

    /// Shows the title, the artist and the album of a media file once.
    private func showTitle(of item: PlayerItem.State) {
        let texts = item.commonMetadata.compactMap(\.stringValue)
        guard !texts.isEmpty else { return }
        let title = texts.joined(separator: " — ")
        let isNew = state.withLock { state in
            defer { state.title = title }
            return state.title != title
        }
        if isNew { showNotice(title) }
    }

    /// Shows that the item is not ready after a while.
    private func showLoading(_ item: PlayerItem.State, at now: Duration) {
        state.withLock { state in
            let start = state.loadingStart ?? now
            state.loadingStart = start
            let interval = StandardError.isTerminal ? Duration.milliseconds(100) : Self.lineInterval
            let isDue = state.lastLine.map { clock.now - $0.time >= interval } ?? true
            guard now - start >= Self.loadingDelay, isDue else { return }
            let wait = item.wait.map { "  waiting \($0.text(at: now))" } ?? ""
            let line: TerminalText = "loading for \((now - start).components.seconds) s\(wait)"
            if StandardError.isTerminal {
                StandardError.rewriteLine(line)
                state.hasLine = true
            } else {
                StandardError.write(line + "\n")
            }
            state.lastLine = (clock.now, "")
        }
    }

    /// Shows a notice on its own line.
    func showNotice(_ notice: some CustomStringConvertible & Sendable) {
        guard !isQuiet else { return }
        state.withLock { state in
            StandardError.write((state.hasLine ? "\r\u{1B}[K" as TerminalText : "") + "\(notice)\n")
            state.hasLine = false
        }
    }

    /// Ends the current line.
    func end() {
        state.withLock { state in
            if state.hasLine { StandardError.write("\n") }
            state.hasLine = false
        }
    }

    private static func word(_ player: PlayerState, _ item: PlayerItem.State) -> String {
        switch player.timeControlStatus {
        case .waiting(.duringInterstitialEvent): "interstitial"
        case _ where item.hasPlayedToEnd: "ended"
        case .paused: "paused"
        case .playing: "playing"
        case .waiting: waitingWord
        }
    }

    /// Adds what playback waits for.
    private static func head(_ word: String, _ item: PlayerItem.State, at now: Duration) -> String {
        guard word == waitingWord, let wait = item.wait else { return word }
        return "\(word) \(wait.text(at: now))"
    }

    private static let waitingWord = "waiting"

    private func line(
        _ item: PlayerItem.State,
        _ position: MediaTime,
        _ head: String,
        at now: Duration
    ) -> TerminalText {
        var parts = StatusLine()
        // At the start of a stream, the position may be before its first frame.
        let clock = ClockText.string(position: max(.zero, position), duration: item.duration, separator: " of ")
        parts.append(clock, importance: 9)
        parts.append(head, importance: 8)
        if item.isAudioOnly { parts.append("audio", importance: 3) }
        let quality = PlayedQuality(item)
        parts.append(quality.size?.description ?? "", importance: 4)
        parts.append(quality.bitRateText ?? "", importance: 2)
        let ahead = item.loadedTimeRanges.range(containing: position).map { ($0.end - position).seconds } ?? 0
        parts.append("buffer \(String(format: "%.1f", ahead)) s", importance: 6)
        if let latency = item.timeOffsetFromLive(at: now) {
            parts.append("latency \(String(format: "%.1f", latency.seconds)) s", importance: 5)
        }
        // A file on the disk has no network.
        if let throughput = item.throughput, !isLocal { parts.append("network \(throughput)", importance: 1) }
        return "\(parts.text(columns: StandardError.lineWidth))"
    }
}

extension PlaybackMetrics {
    /// Returns the metrics as text, one per line.
    ///
    /// - Parameter skippedSegments: The numbers of segments that were skipped.
    /// - Returns: The text.
    func summary(skippedSegments: SkippedSegmentCounts) -> TerminalText {
        var lines: [TerminalText] = ["Watched: \(String(format: "%.1f", watchedDuration.inSeconds)) s"]
        if skippedDuration > .zero {
            lines.append("Skipped: \(String(format: "%.1f", skippedDuration.inSeconds)) s without video or audio")
        }
        if let segments = skippedSegments.text { lines.append("Skipped segments: \(segments)") }
        if let startupTime { lines.append("Start-up: \(String(format: "%.2f", startupTime.inSeconds)) s") }
        lines.append("Stalls: \(stallCount), \(String(format: "%.2f", stallDuration.inSeconds)) s")
        lines.append("Variant switches: \(variantSwitches)")
        lines.append("Received: \(bytes), with \(QuantityText.count(mediaRequests, "media request"))")
        if let liveLatency { lines.append("Latency: \(String(format: "%.1f", liveLatency.inSeconds)) s") }
        if let programDateTime { lines.append("Date: \(programDateTime)") }
        if errors > 0 { lines.append("Errors: \(errors)") }
        if let timeWeightedBitrate { lines.append("Time-weighted bit rate: \(timeWeightedBitrate)") }
        if let stallsPerHour { lines.append("Stall rate: \(String(format: "%.2f", stallsPerHour)) stalls/hour") }
        if let stallRatio { lines.append("Stall wait ratio: \(String(format: "%.2f", stallRatio))") }
        return lines.map { $0 + "\n" }.joined(separator: "")
    }
}
