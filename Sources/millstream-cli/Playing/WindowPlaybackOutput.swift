#if Playback
import Foundation
import HLSPlaylist
import MediaDecoding
import MediaOutput
import MediaTiming
import PlaybackReporting
import ReportFormat
import SegmentFormat
import StreamingEngine
import Synchronization

/// A stage that shows playback in a window and executes its keyboard commands.
final class WindowPlaybackOutput: PlaybackOutput, SubtitleOutput {
    private struct State {
        var volume = 1.0
        var isMuted: Bool
        var showsStatistics = false
        var pipeline: DecodingPipeline?
        var isEnded = false
        var isFinished = false
    }

    private let window: PlayerWindow
    private let video: OutputGroup
    private let audio: AudioDeviceOutput
    private let script = SubStationScript()
    private let state: Mutex<State>
    private let commands: AsyncStream<WindowEvent>
    private let eventContinuation: AsyncStream<WindowEvent>.Continuation

    private enum WindowEvent: Sendable {
        case command(PlayerCommand)
        case size(PixelSize)
    }

    /// Opens the window.
    init(title: String, _ files: DecodedPlaybackOutput.Files, isMuted: Bool) async throws {
        let (commands, wishes) = AsyncStream.makeStream(of: WindowEvent.self)
        let window = try await MainThread.run {
            let window = try PlayerWindow(title: title)
            window.onCommand = { wishes.yield(.command($0)) }
            window.onPixelSizeChange = { wishes.yield(.size($0)) }
            window.onError = { StandardError.write("millstream: \($0)\n") }
            return window
        }
        self.window = window
        self.commands = commands
        self.eventContinuation = wishes
        video = try OutputGroup(files, besides: window)
        audio = AudioDeviceOutput { StandardError.write("millstream: \($0); playing without audio\n") }
        state = Mutex(State(isMuted: isMuted))
    }

    func makePipeline(_ time: any TimeSource, executor: (any SerialExecutor)?) throws -> any MediaPipeline {
        let pipeline = try DecodingPipeline(
            time: time,
            options: DecodingPipeline.Options(
                videoOutput: video,
                audioOutput: audio,
                subtitleOutput: self,
                executor: executor
            )
        )
        state.withLock { $0.pipeline = pipeline }
        return pipeline
    }

    func show(_ cues: [SubtitleCue]) {
        let lines = cues.flatMap { script.events(for: $0) }.map(\.dialogueLine)
        window.updateOverlay { $0.subtitles = SubtitleScript(header: script.header, lines: lines) }
    }

    /// Runs the window on the main thread and executes its keyboard commands.
    func handleCommands(for engine: PlaybackEngine) async {
        await withTaskCancellationHandler {
            async let served: Void = serve()
            for await wish in commands {
                switch wish {
                case .size(let size):
                    let size = Resolution(width: size.width, height: size.height)
                    await engine.update { $0.viewSize = size }
                case .command(.quit): end()
                case .command(let command): await execute(command, on: engine)
                }
            }
            _ = await served
        } onCancel: {
            end()
        }
    }

    private func serve() async {
        try? await MainThread.run { [window] in
            window.run(until: { self.state.withLock { $0.isFinished } })
        }
        eventContinuation.finish()
    }

    private func end() {
        state.withLock { $0.isFinished = true }
        eventContinuation.finish()
        // Any change of the overlay wakes the event loop of the window.
        window.updateOverlay { $0.message = nil }
    }

    func show(_ snapshot: PlaybackSnapshot, at now: Duration) async {
        let (volume, isMuted, showsStatistics) = state.withLock { ($0.volume, $0.isMuted, $0.showsStatistics) }
        var snapshot = snapshot
        if let pipeline = state.withLock({ $0.pipeline }) {
            // The engine publishes only changes; the timebase and the frame counts in between come from the pipeline.
            snapshot.timebase = pipeline.timebase
            snapshot.frameCounts = pipeline.frameCounts
        }
        let statistics = showsStatistics ? PlaybackStatistics(snapshot, at: now, window.frameCounts).lines : []
        window.updateOverlay { overlay in
            overlay.position = max(.zero, snapshot.timebase.mediaTime(at: now))
            if snapshot.playbackType == .live {
                overlay.extent = .live
            } else if let duration = snapshot.duration {
                overlay.extent = .onDemand(duration)
            }
            overlay.loadedRanges = snapshot.loadedTimeRanges
            overlay.seekableRange = snapshot.seekableTimeRange
            overlay.timeControlStatus = Self.progress(snapshot)
            overlay.rate = snapshot.desiredRate == 0 ? 1 : snapshot.desiredRate
            overlay.volume = volume
            overlay.isMuted = isMuted
            overlay.statistics = statistics
        }
    }

    private static func progress(_ snapshot: PlaybackSnapshot) -> OverlayState.TimeControlStatus {
        if snapshot.hasPlayedToEnd { return .ended }
        if snapshot.isSeeking { return .waiting(reason: "Seeking") }
        switch snapshot.timeControl {
        case .playing: return .playing
        case .paused: return .paused
        case .waiting: return .waiting(reason: snapshot.status == .unknown ? "Loading" : "Buffering")
        }
    }

    func finish() async throws {
        end()
        defer { audio.finish() }
        try await MainThread.run { [window] in window.close() }
        try video.finish()
    }

    // MARK: Keys

    private func execute(_ command: PlayerCommand, on engine: PlaybackEngine) async {
        let snapshot = engine.snapshot
        switch command {
        case .togglePause: await togglePause(engine, snapshot)
        case .seekBy(let distance):
            let target = max(.zero, engine.snapshot.timebase.mediaTime(at: SystemTimeSource().now) + distance)
            window.announce(distance < .zero ? "\(distance) s" : "+\(distance) s")
            _ = await engine.seek(to: target)
        case .seekTo(let time): _ = await engine.seek(to: time)
        case .step(let count):
            if snapshot.desiredRate != 0 { await engine.setRate(0) }
            _ = await engine.step(by: count)
        case .slower: await changeRate(of: engine, from: snapshot, faster: false)
        case .faster: await changeRate(of: engine, from: snapshot, faster: true)
        case .normalSpeed: await engine.setRate(1)
        case .changeVolume(let change):
            let volume = state.withLock { state in
                state.volume = min(1, max(0, state.volume + change))
                return state.volume
            }
            await applyVolume(engine)
            window.announce("\(Int(saturating: (volume * 100).rounded())) %")
        case .toggleMute:
            let isMuted = state.withLock { state in
                state.isMuted.toggle()
                return state.isMuted
            }
            await applyVolume(engine)
            window.announce(isMuted ? "Muted" : "Unmuted")
        case .nextAudio: await selectNext(.audio, engine, snapshot, mayBeNone: false)
        case .nextSubtitles: await selectNext(.subtitles, engine, snapshot, mayBeNone: true)
        case .toggleStatistics: state.withLock { $0.showsStatistics.toggle() }
        case .toggleFullScreen, .quit: break
        }
    }

    private func applyVolume(_ engine: PlaybackEngine) async {
        let (volume, isMuted) = state.withLock { ($0.volume, $0.isMuted) }
        await engine.update {
            $0.sound.volume = volume
            $0.sound.isMuted = isMuted
        }
    }

    private func togglePause(_ engine: PlaybackEngine, _ snapshot: PlaybackSnapshot) async {
        if snapshot.hasPlayedToEnd {
            _ = await engine.seek(to: snapshot.seekableTimeRange?.start ?? .zero, tolerance: .exact)
            await engine.setRate(1)
        } else {
            await engine.setRate(snapshot.desiredRate == 0 ? 1 : 0)
        }
    }

    private static let rates = [-8, -4, -2, -1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 4, 8, 16, 32]

    private func changeRate(of engine: PlaybackEngine, from snapshot: PlaybackSnapshot, faster: Bool) async {
        let current = snapshot.desiredRate == 0 ? 1 : snapshot.desiredRate
        let next = faster ? Self.rates.first { $0 > current } : Self.rates.last { $0 < current }
        guard let next, next > 0 || snapshot.abilities.supportsReversePlayback else { return }
        await engine.setRate(next)
        window.announce("\(next.formatted())×")
    }

    private func selectNext(
        _ type: Rendition.MediaType,
        _ engine: PlaybackEngine,
        _ snapshot: PlaybackSnapshot,
        mayBeNone: Bool
    ) async {
        guard let options = snapshot.presentation?.group(type)?.options, !options.isEmpty else {
            return window.announce(type == .audio ? "No other audio" : "No subtitles")
        }
        var choices: [MediaSelectionOption?] = options
        if mayBeNone { choices.append(nil) }
        let current = choices.firstIndex { $0?.id == snapshot.selection[type]?.id } ?? choices.count - 1
        // Bounded: the list of choices is not empty.
        let next = choices[(current + 1) % choices.count]
        await engine.select(next, for: type)
        window.announce(next.map(\.name) ?? "Subtitles off")
    }
}

/// The statistics that the key `i` shows.
private struct PlaybackStatistics {
    let lines: [String]

    init(_ snapshot: PlaybackSnapshot, at now: Duration, _ window: WindowFrameCounts) {
        var lines: [String] = []
        func line(_ name: String, _ value: String) {
            lines.append(name.padding(toLength: 11, withPad: " ", startingAt: 0) + value)
        }
        if let variant = snapshot.playedVariant {
            let size = variant.width.flatMap { width in variant.height.map { "\(width)x\($0)" } }
            line("Variant", [size, "\(variant.peakBitRate)"].compactMap { $0 }.joined(separator: "  "))
        }
        if let fetched = snapshot.fetchedVariant, fetched != snapshot.playedVariant {
            line("Fetched", "\(fetched.peakBitRate)")
        }
        let position = snapshot.timebase.mediaTime(at: now)
        let ahead = snapshot.loadedTimeRanges.range(containing: position).map { ($0.end - position).seconds } ?? 0
        line("Buffer", String(format: "%.1f s", ahead))
        if let throughput = snapshot.throughput { line("Network", "\(throughput)") }
        let counts = snapshot.frameCounts
        line("Frames", "\(counts.decoded) decoded, \(counts.dropped + window.dropped) dropped")
        line("Rate", snapshot.desiredRate.formatted())
        self.lines = lines
    }
}
#endif
