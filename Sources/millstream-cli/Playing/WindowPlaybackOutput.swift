#if Playback
import MediaOutput
import Millstream
import ReportFormat
import ResourceAddressing

/// An output that shows playback in a window, which the user controls with keys.
struct WindowPlaybackOutput: PlaybackOutput {
    private let window: PlayerWindow
    private let outputs: PlayerOutputs
    private let errors: OutputErrorRecord
    private let options: PlayerWindowController.Options
    /// The keyboard of the terminal; `nil` if there is none.
    private let keyboard: TerminalKeyboard?

    /// The text after the title of the media in the title of the window.
    static let titleSuffix = " - Millstream"

    /// Creates the output and opens its window.
    ///
    /// - Parameters:
    ///   - title: The title of the window while that of the media is unknown.
    ///   - stored: The description of the played asset in the library.
    ///   - files: The files that decoded media is written to.
    ///   - isFullScreen: A Boolean value that indicates whether the window opens in full screen mode.
    ///   - keyboard: The keyboard of the terminal, which controls playback in addition to the window; `nil` if there is
    ///     none.
    /// - Throws: The error of the window or of a file that cannot be opened.
    init(
        title: String,
        _ stored: StoredDescription,
        _ files: PlaybackMediaFiles,
        isFullScreen: Bool,
        keyboard: TerminalKeyboard?
    ) async throws {
        self.keyboard = keyboard
        let windowOptions = PlayerWindow.Options(isFullScreen: isFullScreen)
        window = try await MainThread.run { try PlayerWindow(title: title, options: windowOptions) }
        options = PlayerWindowController.Options(
            title: stored.title.map { ("\($0)" as TerminalText).description },
            artwork: stored.artwork,
            titleSuffix: Self.titleSuffix
        )
        errors = files.errors
        outputs = PlayerOutputs(recorder: try files.makeVideoOutput())
    }

    var failure: (any Error)? { errors.first }

    var environment: Player.Environment { .decoding(for: outputs) }

    func show(_ player: Player, reporting report: @escaping @Sendable (any MillstreamError) -> Void) async {
        let opened = try? await MainThread.run { () -> PlayerWindowController in
            window.onError = { error in
                StandardError.write("millstream: \(error)\n")
                report(error)
            }
            return PlayerWindowController(window, player, options: options)
        }
        guard let controller = opened else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await controller.run() }
            group.addTask { await reportAudioErrors(of: player, report) }
            group.addTask { try? await MainThread.run { window.run(until: { controller.isFinished }) } }
            if let keyboard { group.addTask { await keyboard.control(player, hasWindow: true) } }
            await group.next()
            group.cancelAll()
        }
    }

    private func reportAudioErrors(
        of player: Player,
        _ report: @escaping @Sendable (any MillstreamError) -> Void
    ) async {
        let events = player.events
        // The device may already have failed.
        if player.audioDeviceError == nil { _ = await events.first { $0 == .audioDeviceDidFail } }
        if let error = player.audioDeviceError {
            StandardError.write("millstream: \(error.message); playing without audio\n")
            report(error)
        }
        await waitForCancellation()
    }

    func finish() async throws {
        defer { try? outputs.finish() }
        try await MainThread.run { window.close() }
    }
}
#endif
