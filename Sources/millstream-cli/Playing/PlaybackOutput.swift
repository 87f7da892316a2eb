import Millstream

/// An output of the command `play`, with its user controls.
protocol PlaybackOutput: Sendable {
    /// The environment whose pipelines decode for this output.
    var environment: Player.Environment { get }
    /// Shows a player and executes the commands of the user, until the user quits or the task is canceled.
    func show(_ player: Player) async
    /// Writes pending output and closes all files and windows.
    func finish() async throws
}

extension PlaybackOutput {
    func show(_ player: Player) async { await waitForCancellation() }
    func finish() async throws {}
}

/// An output that decodes nothing.
struct UndecodedPlaybackOutput: PlaybackOutput {
    var environment: Player.Environment { .withoutDecoding }
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
