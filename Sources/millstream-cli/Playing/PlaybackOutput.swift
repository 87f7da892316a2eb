import Millstream
import ResourceAddressing

/// An output of the command `play`, with its user controls.
protocol PlaybackOutput: Sendable {
    /// The environment whose pipelines decode for this output.
    var environment: Player.Environment { get }
    /// The first error of a file that is written during playback; `nil` if there was none.
    var failure: (any Error)? { get }
    /// Shows a player and executes the commands of the user, until the user quits or the task is canceled.
    ///
    /// - Parameters:
    ///   - player: The player.
    ///   - report: A closure that receives errors that do not end playback, such as text that cannot be drawn.
    func show(_ player: Player, reporting report: @escaping @Sendable (any MillstreamError) -> Void) async
    /// Writes pending output and closes all files and windows.
    func finish() async throws
}

extension PlaybackOutput {
    var failure: (any Error)? { nil }
    func show(_ player: Player, reporting report: @escaping @Sendable (any MillstreamError) -> Void) async {
        await waitForCancellation()
    }
    func finish() async throws {}
}

/// An output that decodes nothing.
struct UndecodedPlaybackOutput: PlaybackOutput {
    #if Playback
    /// The keyboard that controls playback; `nil` if there is none.
    let keyboard: TerminalKeyboard?
    #endif

    var environment: Player.Environment { .withoutDecoding }

    #if Playback
    func show(_ player: Player, reporting report: @escaping @Sendable (any MillstreamError) -> Void) async {
        guard let keyboard else { return await waitForCancellation() }
        await keyboard.control(player)
    }
    #endif
}

/// Waits until the task is canceled.
func waitForCancellation() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    await withTaskCancellationHandler {
        for await _ in stream {}
    } onCancel: {
        continuation.finish()
    }
}
