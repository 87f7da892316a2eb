#if Playback
import HLSPlaylist
import MediaDecoding
public import MediaOutput
import MediaTiming
import MediaTransport
import SegmentFormat
import StreamingEngine
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
    /// Options for what a window shows about the media.
    public struct Options: Sendable, Hashable {
        /// The title of the media; `nil` for the title that the media declares (``PlayerItem/State/title``).
        public var title: String?
        /// The bytes of an image file (PNG, JPEG, GIF or WebP) that is shown for media without video; `nil` for the artwork
        /// that the media contains.
        public var artwork: [UInt8]?
        /// The text that follows the title of the media in the title of the window.
        public var titleSuffix: String

        /// Creates options; by default, the window shows what the media declares.
        public init(title: String? = nil, artwork: [UInt8]? = nil, titleSuffix: String = "") {
            self.title = title
            self.artwork = artwork
            self.titleSuffix = titleSuffix
        }
    }

    private struct State {
        /// A text over the video.
        enum Panel {
            case statistics, keys
        }

        var panel: Panel?
        var viewSize: Resolution?
        var windowTitle: String
        var isFinished = false
    }

    private enum WindowEvent: Sendable {
        case command(PlayerCommand)
        case size(PixelSize)
    }

    /// The interval between two updates of the overlay.
    private static let updateInterval = Duration.milliseconds(200)

    private let window: PlayerWindow
    private let player: Player
    private let options: Options
    /// The title of the window while the title of the media is unknown.
    private let initialTitle: String
    private let commands: PlayerCommandExecutor
    private let waitingSeeks: WaitingSeeks
    private let state: Mutex<State>
    private let windowEvents: AsyncStream<WindowEvent>
    private let continuation: AsyncStream<WindowEvent>.Continuation

    /// Creates a controller, which replaces `onCommand` and `onPixelSizeChange` of the
    /// window.
    ///
    /// - Parameters:
    ///   - window: The window, whose title is shown until that of the media is known.
    ///   - player: The player to show.
    ///   - options: The options for what the window shows about the media.
    @MainActor public init(_ window: PlayerWindow, _ player: Player, options: Options = Options()) {
        let (windowEvents, continuation) = AsyncStream.makeStream(of: WindowEvent.self)
        let waitingSeeks = WaitingSeeks()
        self.window = window
        self.player = player
        self.options = options
        initialTitle = window.title
        state = Mutex(State(windowTitle: window.title))
        commands = PlayerCommandExecutor(player) { window.announce($0) }
        self.waitingSeeks = waitingSeeks
        self.windowEvents = windowEvents
        self.continuation = continuation
        window.onCommand = { if waitingSeeks.add($0) { continuation.yield(.command($0)) } }
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
            group.addTask { await self.updateArtwork() }
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

    /// Shows the artwork of each item without video.
    private func updateArtwork() async {
        let time = player.environment.time
        var shown: [UInt8]?
        while !Task.isCancelled {
            let item = player.currentItem?.state
            let isAudioOnly = item?.isAudioOnly ?? false
            let wanted = isAudioOnly ? options.artwork ?? item?.playback.metadata.artwork?.bytes : nil
            if wanted != shown {
                shown = wanted
                let artwork = await Self.decodeArtwork(wanted)
                window.updateOverlay { $0.artwork = artwork }
            }
            try? await time.sleep(for: Self.updateInterval)
        }
    }

    /// Decodes an image file; returns `nil` if there is none, if it is damaged, or as soon as the task is canceled.
    private static func decodeArtwork(_ bytes: [UInt8]?) async -> WindowArtwork? {
        guard let bytes else { return nil }
        // A hostile image can take long, for which the user who quits must not wait.
        return try? await BlockingOperation.runUntilCanceled { try WindowArtwork(PixelBuffer.decodeImage(bytes)) }
    }

    /// Sets the title of the window if it has changed.
    private func showTitle(_ title: String?) {
        let text = title.map { $0 + options.titleSuffix } ?? initialTitle
        let isNew = state.withLock { state in
            defer { state.windowTitle = text }
            return state.windowTitle != text
        }
        if isNew { window.setTitle(text) }
    }

    private func applyViewSize() {
        guard let size = state.withLock({ $0.viewSize }), let item = player.currentItem, item.viewSize != size else {
            return
        }
        item.viewSize = size
    }

    private func update(at now: Duration) {
        let (playerState, item) = (player.state, player.state.currentItem?.state)
        let date = player.currentItem?.currentDate()
        let configuredOffset = player.currentItem?.configuredTimeOffsetFromLive
        let lines: [String]? =
            switch state.withLock({ $0.panel }) {
            case nil: nil
            case .statistics:
                item.map { WindowStatistics($0, rate: playerState.rate, at: now, date: date, window.frameCounts).lines }
            case .keys: PlayerCommand.keyLines
            }
        let title = options.title ?? item?.title
        showTitle(title)
        let audioLevel = item.flatMap { $0.isAudioOnly ? player.outputs?.audioLevel ?? 0 : nil }
        window.updateOverlay { overlay in
            overlay.position = max(.zero, playerState.timebase.mediaTime(at: now))
            overlay.extent = item?.extent ?? .unknown
            overlay.loadedRanges = item?.loadedTimeRanges ?? MediaTimeRangeSet()
            overlay.seekableRange = item?.seekableTimeRanges.ranges.first
            overlay.recommendedTimeOffsetFromLive = item?.recommendedTimeOffsetFromLive
            overlay.configuredTimeOffsetFromLive = configuredOffset
            overlay.timeControlStatus = playerState.overlayStatus(item, at: now)
            overlay.rate = playerState.rate == 0 ? 1 : playerState.rate
            overlay.volume = playerState.volume
            overlay.isMuted = playerState.isMuted
            overlay.statistics = lines ?? []
            overlay.audioLevel = audioLevel
            overlay.mediaTitle = title
            overlay.mediaDetails = item?.mediaDetails
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
            case .command(.toggleStatistics): toggle(.statistics)
            case .command(.toggleKeys): toggle(.keys)
            case .command(let command): await commands.execute(waitingSeeks.take(command))
            }
        }
    }

    private func toggle(_ panel: State.Panel) {
        state.withLock { $0.panel = $0.panel == panel ? nil : panel }
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

    /// The artist and the album of a media file; `nil` if it has neither.
    fileprivate var mediaDetails: String? {
        let texts = [playback.metadata.artist, playback.metadata.albumTitle].compactMap { $0 }
        return texts.isEmpty ? nil : texts.joined(separator: " — ")
    }
}

extension PlayerState {
    /// The state of playback as the overlay shows it.
    fileprivate func overlayStatus(_ item: PlayerItem.State?, at now: Duration) -> OverlayState.TimeControlStatus {
        guard let item else { return .paused }
        if item.isSeeking { return .waiting(reason: "Seeking") }
        switch timeControlStatus {
        case .playing, .waiting(.duringInterstitialEvent): return .playing
        case .paused: return item.hasPlayedToEnd ? .ended : .paused
        case .waiting:
            let word = item.status == .unknown ? "Loading" : "Buffering"
            return .waiting(reason: item.wait?.lastingText(at: now).map { "\(word), \($0)" } ?? word)
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

    init(
        _ item: PlayerItem.State,
        rate: Double,
        at now: Duration,
        date: ProgramDateTime?,
        _ window: WindowFrameCounts
    ) {
        let quality = PlayedQuality(item).parts
        if item.playedVariant != nil, !quality.isEmpty { add("Variant", quality.joined(separator: "  ")) }
        if let loaded = item.loadedVariant, loaded != item.playedVariant, loaded.peakBitRate.bitsPerSecond > 0 {
            add("Loaded", "\(loaded.peakBitRate)")
        }
        let position = item.timebase.mediaTime(at: now)
        let ahead = item.loadedTimeRanges.range(containing: position).map { $0.end - position } ?? .zero
        add("Buffer", "\((ahead.seconds * 10).rounded() / 10) s")
        if let throughput = item.throughput { add("Network", "\(throughput)") }
        if let latency = item.timeOffsetFromLive(at: now) {
            add("Latency", "\((latency.seconds * 10).rounded() / 10) s")
        }
        if let date { add("Date", date.displayText) }
        let counts = item.frameCounts
        if !item.isAudioOnly {
            add("Frames", "\(counts.decoded) decoded, \(counts.dropped + window.dropped) dropped")
        }
        add("Rate", PlayerWindowController.text(rate))
    }

    private mutating func add(_ name: String, _ value: String) {
        let padding = String(repeating: " ", count: max(1, 11 - name.count))
        lines.append(name + padding + value)
    }
}
#endif
