#if Playback
import Foundation
import MediaDecoding
import MediaOutput
import MediaTiming
import StreamingEngine

/// Decodes without a window: into files, or for nothing.
struct DecodedStage: PlaybackStage {
    /// What is written.
    struct Files: Sendable {
        /// Pictures of some times.
        var screenshots: [(time: MediaTime, path: String)] = []
        /// A line for each frame.
        var checksums: String?
        /// The sound.
        var wave: String?
    }

    private let video: OutputGroup
    private let audio: any AudioOutput
    private let isMuted: Bool

    init(_ files: Files, isMuted: Bool) throws {
        video = try OutputGroup(files)
        audio = files.wave.map { WaveFile(path: $0) } ?? NoAudio() as any AudioOutput
        self.isMuted = isMuted
    }

    func makePipeline(_ time: any TimeSource, executor: (any SerialExecutor)?) throws -> any MediaPipeline {
        try DecodingPipeline(
            time: time,
            options: DecodingPipeline.Options(
                videoOutput: video,
                audioOutput: isMuted ? nil : audio,
                executor: executor
            )
        )
    }

    func finish() async throws {
        defer { try? audio.finish() }
        try video.finish()
    }
}

/// Several outputs that all get every frame.
struct OutputGroup: VideoOutput {
    private let outputs: [any VideoOutput]

    init(_ files: DecodedStage.Files, besides window: (any VideoOutput)? = nil) throws {
        var outputs: [any VideoOutput] = window.map { [$0] } ?? []
        if !files.screenshots.isEmpty { outputs.append(FrameFiles(.times(files.screenshots))) }
        if let path = files.checksums { outputs.append(try FrameChecksums(path: path)) }
        self.outputs = outputs
    }

    func show(_ frame: VideoFrame) throws { for output in outputs { try output.show(frame) } }

    func clear() { for output in outputs { output.clear() } }

    func finish() throws { for output in outputs { try output.finish() } }
}
#endif
