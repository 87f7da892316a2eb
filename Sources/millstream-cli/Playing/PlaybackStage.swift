import MediaTiming
import StreamingEngine

/// Where a playback is shown, and who may interfere with it.
protocol PlaybackStage: Sendable {
    /// Makes what decodes.
    func makePipeline(_ time: any TimeSource, executor: (any SerialExecutor)?) throws -> any MediaPipeline
    /// Lets a person steer the engine, until the task is cancelled or the person has had enough.
    func steer(_ engine: PlaybackEngine) async
    /// Shows a moment.
    func show(_ snapshot: PlaybackSnapshot, at now: Duration) async
    /// Writes what is held back, and closes everything.
    func finish() async throws
}

extension PlaybackStage {
    func steer(_ engine: PlaybackEngine) async {
        // Nobody is there; it ends when it is cancelled.
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

/// Nothing is decoded.
struct UndecodedStage: PlaybackStage {
    func makePipeline(_ time: any TimeSource, executor: (any SerialExecutor)?) -> any MediaPipeline {
        UndecodedPipeline(time: time)
    }
}
