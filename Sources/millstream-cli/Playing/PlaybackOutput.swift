import MediaTiming
import StreamingEngine

/// The output of a playback, with its user controls.
protocol PlaybackOutput: Sendable {
    /// Creates the pipeline that decodes or discards media.
    func makePipeline(_ time: any TimeSource, executor: (any SerialExecutor)?) throws -> any MediaPipeline
    /// Passes the commands of the user to the engine, until the task is cancelled or the user quits.
    func handleCommands(for engine: PlaybackEngine) async
    /// Shows the state at one moment.
    func show(_ snapshot: PlaybackSnapshot, at now: Duration) async
    /// Writes pending output and closes all files and windows.
    func finish() async throws
}

extension PlaybackOutput {
    func handleCommands(for engine: PlaybackEngine) async {
        // There are no controls, so this waits for cancellation.
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        await withTaskCancellationHandler {
            for await _ in stream {}
        } onCancel: {
            continuation.finish()
        }
    }
    func show(_ snapshot: PlaybackSnapshot, at now: Duration) async {}
    func finish() async throws {}
}

/// A stage that decodes nothing.
struct UndecodedPlaybackOutput: PlaybackOutput {
    func makePipeline(_ time: any TimeSource, executor: (any SerialExecutor)?) -> any MediaPipeline {
        NonDecodingPipeline(time: time)
    }
}
