#if Playback
import HLSPlaylist
import MediaDecoding
public import MediaOutput
import MediaTiming
import SegmentFormat
import Synchronization

/// A controller that shows a player in a window, and executes the commands that a user gives with keys and the mouse.
///
/// The window shows the video and subtitles of the player's ``Player/outputs``, and an overlay with the position, the buffer
/// and the state of the current item. The program runs the event loop of the window on its main thread:
///
/// ```swift
/// let controller = PlayerWindowController(window, player)
/// Task { await controller.run() }
/// window.run(until: { controller.isFinished })
/// ```
public final class PlayerWindowController: Sendable {
    private struct State {
        var showsStatistics = false
        var viewSize: Resolution?
        var isFinished = false
    }

    private enum WindowEvent: Sendable {
        case command(PlayerCommand)
        case size(PixelSize)
    }

    /// The interval between two updates of the overlay.
    private static let updateInterval = Duration.milliseconds(200)
    /// The rates that the keys select, in ascending order.
    private static let rates = [-8, -4, -2, -1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 4, 8, 16, 32]

    private let window: PlayerWindow
    private let player: Player
    private let state = Mutex(State())
    private let windowEvents: AsyncStream<WindowEvent>
    private let continuation: AsyncStream<WindowEvent>.Continuation

    /// Creates a controller, which replaces `onCommand` and `onPixelSizeChange` of the
    /// window.
    @MainActor public init(_ window: PlayerWindow, _ player: Player) {
        let (windowEvents, continuation) = AsyncStream.makeStream(of: WindowEvent.self)
        self.window = window
        self.player = player
        self.windowEvents = windowEvents
        self.continuation = continuation
        window.onCommand = { continuation.yield(.command($0)) }
        window.onPixelSizeChange = { continuation.yield(.size($0)) }
    }

    /// A Boolean value that indicates whether the user has quit, or ``run()`` has returned.
    public var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Shows the player and executes commands until the user quits or the task is canceled; called once.
    public func run() async {
        let outputs = player.outputs
        // A window accepts any frame, so that no error can occur.
        let video = try? outputs?.video.attach(window)
        let subtitles = outputs?.subtitles.attach(WindowSubtitleOutput(window))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.executeCommands() }
            group.addTask { await self.updateOverlay() }
            await group.next()
            group.cancelAll()
        }
        if let subtitles { outputs?.subtitles.detach(subtitles) }
        if let video { try? outputs?.video.detach(video) }
        state.withLock { $0.isFinished = true }
        // A change of the overlay wakes the event loop of the window.
        window.updateOverlay { $0.message = nil }
    }

    // MARK: Overlay

    private func updateOverlay() async {
        let time = player.environment.time
        while !Task.isCancelled {
            applyViewSize()
            update(at: time.now)
            try? await time.sleep(for: Self.updateInterval)
        }
    }

    private func applyViewSize() {
        guard let size = state.withLock({ $0.viewSize }), let item = player.currentItem, item.viewSize != size else {
            return
        }
        item.viewSize = size
    }

    private func update(at now: Duration) {
        let (playerState, item) = (player.state, player.state.currentItem?.state)
        let showsStatistics = state.withLock { $0.showsStatistics }
        let statistics =
            showsStatistics
            ? item.map { WindowStatistics($0, rate: playerState.rate, at: now, window.frameCounts).lines } : nil
        window.updateOverlay { overlay in
            overlay.position = max(.zero, playerState.timebase.mediaTime(at: now))
            overlay.extent = item?.extent ?? .unknown
            overlay.loadedRanges = item?.loadedTimeRanges ?? MediaTimeRangeSet()
            overlay.seekableRange = item?.seekableTimeRanges.ranges.first
            overlay.timeControlStatus = playerState.overlayStatus(item)
            overlay.rate = playerState.rate == 0 ? 1 : playerState.rate
            overlay.volume = playerState.volume
            overlay.isMuted = playerState.isMuted
            overlay.statistics = statistics ?? []
        }
    }

    // MARK: Commands

    private func executeCommands() async {
        for await event in windowEvents {
            switch event {
            case .size(let size):
                state.withLock { $0.viewSize = Resolution(width: size.width, height: size.height) }
                applyViewSize()
            case .command(.quit): return
            case .command(let command): await execute(command)
            }
        }
    }

    private func execute(_ command: PlayerCommand) async {
        switch command {
        case .changeVolume(let change):
            player.volume += change
            window.announce("\(Int(saturating: (player.volume * 100).rounded())) %")
        case .toggleMute:
            player.isMuted.toggle()
            window.announce(player.isMuted ? "Muted" : "Unmuted")
        case .toggleStatistics: state.withLock { $0.showsStatistics.toggle() }
        case .toggleFullScreen, .quit: break
        case .togglePause, .seekBy, .seekTo, .step, .slower, .faster, .normalSpeed, .nextAudio, .nextVideo,
            .nextSubtitles:
            guard player.canPlay, let item = player.currentItem else { return window.announce("Loading") }
            await execute(command, on: item)
        }
    }

    /// Executes a command that requires an item that is ready to play.
    private func execute(_ command: PlayerCommand, on item: PlayerItem) async {
        switch command {
        case .togglePause: await togglePause(item)
        case .seekBy(let distance):
            window.announce(distance < .zero ? "\(distance) s" : "+\(distance) s")
            await player.seek(to: max(.zero, item.currentTime() + distance))
        case .seekTo(let time): await player.seek(to: time)
        case .step(let count):
            player.pause()
            item.step(byCount: count)
        case .slower: changeRate(item, faster: false)
        case .faster: changeRate(item, faster: true)
        case .normalSpeed: player.rate = 1
        case .nextAudio: selectNext(.audible, item)
        case .nextVideo: selectNext(.visual, item)
        case .nextSubtitles: selectNext(.legible, item)
        case .changeVolume, .toggleMute, .toggleStatistics, .toggleFullScreen, .quit: break
        }
    }

    private func togglePause(_ item: PlayerItem) async {
        if item.hasPlayedToEnd {
            let start = item.seekableTimeRanges.ranges.first?.start ?? .zero
            await player.seek(to: start, toleranceBefore: .zero, toleranceAfter: .zero)
            player.rate = 1
        } else {
            player.rate = player.rate == 0 ? 1 : 0
        }
    }

    private func changeRate(_ item: PlayerItem, faster: Bool) {
        let current = player.rate == 0 ? 1 : player.rate
        let next = faster ? Self.rates.first { $0 > current } : Self.rates.last { $0 < current }
        guard let next, player.setRate(next) else { return }
        window.announce("\(Self.text(next))×")
    }

    private func selectNext(_ characteristic: MediaCharacteristic, _ item: PlayerItem) {
        guard let group = item.mediaSelectionGroup(for: characteristic), !group.options.isEmpty else {
            let messages: [MediaCharacteristic: String] = [.audible: "No other audio", .visual: "No other video"]
            return window.announce(messages[characteristic] ?? "No subtitles")
        }
        var choices: [MediaSelectionOption?] = group.options
        if characteristic == .legible { choices.append(nil) }
        let selected = item.currentMediaSelection[group.type]?.id
        let current = choices.firstIndex { $0?.id == selected } ?? choices.count - 1
        // Bounded: the list of choices is not empty.
        let next = choices[(current + 1) % choices.count]
        item.select(next, in: group)
        window.announce(next.map(\.name) ?? "Subtitles off")
    }

    /// Returns a rate without superfluous digits.
    static func text(_ rate: Double) -> String {
        rate == rate.rounded() ? "\(Int(saturating: rate))" : "\(rate)"
    }
}

extension PlayerItem.State {
    /// The extent of the media that can be played.
    fileprivate var extent: OverlayState.Extent {
        playbackType == .live ? .live : duration.map { .onDemand($0) } ?? .unknown
    }
}

extension PlayerState {
    /// The state of playback as the overlay shows it.
    fileprivate func overlayStatus(_ item: PlayerItem.State?) -> OverlayState.TimeControlStatus {
        guard let item else { return .paused }
        if item.isSeeking { return .waiting(reason: "Seeking") }
        switch timeControlStatus {
        case .playing, .waiting(.duringInterstitialEvent): return .playing
        case .paused: return item.hasPlayedToEnd ? .ended : .paused
        case .waiting: return .waiting(reason: item.status == .unknown ? "Loading" : "Buffering")
        }
    }
}

/// An output that shows subtitles in a window.
private struct WindowSubtitleOutput: SubtitleOutput {
    private let window: PlayerWindow
    private let script = SubStationScript()

    init(_ window: PlayerWindow) { self.window = window }

    func show(_ cues: [SubtitleCue]) {
        let lines = cues.flatMap { script.events(for: $0) }.map(\.dialogueLine)
        window.updateOverlay { $0.subtitles = SubtitleScript(header: script.header, lines: lines) }
    }
}

/// The statistics of an item, as lines of text.
private struct WindowStatistics {
    private(set) var lines: [String] = []

    init(_ item: PlayerItem.State, rate: Double, at now: Duration, _ window: WindowFrameCounts) {
        if let variant = item.playedVariant {
            let size = variant.width.flatMap { width in variant.height.map { "\(width)x\($0)" } }
            add("Variant", [size, "\(variant.peakBitRate)"].compactMap { $0 }.joined(separator: "  "))
        }
        if let loaded = item.loadedVariant, loaded != item.playedVariant { add("Loaded", "\(loaded.peakBitRate)") }
        let position = item.timebase.mediaTime(at: now)
        let ahead = item.loadedTimeRanges.range(containing: position).map { $0.end - position } ?? .zero
        add("Buffer", "\((ahead.seconds * 10).rounded() / 10) s")
        if let throughput = item.throughput { add("Network", "\(throughput)") }
        let counts = item.frameCounts
        add("Frames", "\(counts.decoded) decoded, \(counts.dropped + window.dropped) dropped")
        add("Rate", PlayerWindowController.text(rate))
    }

    private mutating func add(_ name: String, _ value: String) {
        let padding = String(repeating: " ", count: max(1, 11 - name.count))
        lines.append(name + padding + value)
    }
}
#endif
