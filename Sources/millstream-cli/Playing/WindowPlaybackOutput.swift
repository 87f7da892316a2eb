#if Playback
import MediaOutput
import Millstream
import ReportFormat

/// An output that shows playback in a window, which the user controls with keys.
struct WindowPlaybackOutput: PlaybackOutput {
    private let window: PlayerWindow
    private let outputs: PlayerOutputs
    private let errors: OutputErrorRecord
    private let options: PlayerWindowController.Options

    /// The text after the title of the media in the title of the window.
    static let titleSuffix = " - Millstream"

    /// Creates the output and opens its window.
    ///
    /// - Parameters:
    ///   - title: The title of the window while that of the media is unknown.
    ///   - stored: The description of the played asset in the library.
    ///   - files: The files that decoded media is written to.
    /// - Throws: The error of the window or of a file that cannot be opened.
    init(title: String, _ stored: StoredDescription, _ files: PlaybackMediaFiles) async throws {
        window = try await MainThread.run {
            let window = try PlayerWindow(title: title)
            window.onError = { StandardError.write("millstream: \($0)\n") }
            return window
        }
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

    func show(_ player: Player) async {
        guard let controller = try? await MainThread.run({ PlayerWindowController(window, player, options: options) })
        else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await controller.run() }
            group.addTask { await reportAudioErrors(of: player) }
            group.addTask { try? await MainThread.run { window.run(until: { controller.isFinished }) } }
            await group.next()
            group.cancelAll()
        }
    }

    private func reportAudioErrors(of player: Player) async {
        let events = player.events
        // The device may already have failed.
        if player.audioDeviceError == nil { _ = await events.first { $0 == .audioDeviceDidFail } }
        if let error = player.audioDeviceError {
            StandardError.write("millstream: \(error.message); playing without audio\n")
        }
        await waitForCancellation()
    }

    func finish() async throws {
        defer { try? outputs.finish() }
        try await MainThread.run { window.close() }
    }
}
#endif
