#if Playback
import Foundation
import MediaDecoding
import MediaOutput
import MediaTiming
import StreamingEngine

/// A stage that decodes media without a window and writes it to files or discards it.
struct DecodedPlaybackOutput: PlaybackOutput {
    /// The files to write.
    struct Files: Sendable {
        /// The times and paths of single frames that are written as images.
        var screenshots: [(time: MediaTime, path: String)] = []
        /// The path of a file with a line and a checksum for each frame.
        var checksums: String?
        /// The path of a WAVE file with the audio.
        var wave: String?
    }

    private let video: OutputGroup
    private let audio: any AudioOutput
    private let isMuted: Bool

    init(_ files: Files, isMuted: Bool) throws {
        video = try OutputGroup(files)
        audio = files.wave.map { WaveFileOutput(path: $0) } ?? NullAudioOutput() as any AudioOutput
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

/// A video output that passes each frame to several outputs.
struct OutputGroup: VideoOutput {
    private let outputs: [any VideoOutput]

    init(_ files: DecodedPlaybackOutput.Files, besides window: (any VideoOutput)? = nil) throws {
        var outputs: [any VideoOutput] = window.map { [$0] } ?? []
        if !files.screenshots.isEmpty { outputs.append(PNGFrameOutput(.times(files.screenshots))) }
        if let path = files.checksums { outputs.append(try FrameChecksumOutput(path: path)) }
        self.outputs = outputs
    }

    func show(_ frame: VideoFrame) throws { for output in outputs { try output.show(frame) } }

    func clear() { for output in outputs { output.clear() } }

    func finish() throws { for output in outputs { try output.finish() } }
}
#endif
