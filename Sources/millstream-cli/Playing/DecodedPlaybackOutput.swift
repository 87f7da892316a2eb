#if Playback
import MediaDecoding
import MediaOutput
import MediaTiming
import Millstream

/// An output that decodes media without a window and writes it to files or discards it.
struct DecodedPlaybackOutput: PlaybackOutput {
    private let outputs: PlayerOutputs
    /// The keyboard that controls playback; `nil` if there is none.
    private let keyboard: TerminalKeyboard?

    init(_ files: PlaybackMediaFiles, isMuted: Bool, keyboard: TerminalKeyboard?) throws {
        self.keyboard = keyboard
        let audio: any AudioOutput = files.wave.map { WaveFileOutput(path: $0) } ?? NullAudioOutput()
        outputs = PlayerOutputs(audio: isMuted ? .none : .output(audio), recorder: try files.makeVideoOutput())
    }

    var environment: Player.Environment { .decoding(for: outputs) }

    func show(_ player: Player) async {
        guard let keyboard else { return await waitForCancellation() }
        await keyboard.control(player)
    }

    func finish() async throws { try outputs.finish() }
}

/// The files that decoded media is written to.
struct PlaybackMediaFiles: Sendable {
    /// The times and paths of single frames that are written as images.
    var screenshots: [(time: MediaTime, path: String)] = []
    /// The path of a file with a line and a checksum for each frame.
    var checksums: String?
    /// The path of a WAVE file with the audio.
    var wave: String?

    /// Opens the files for video; `nil` if there are none.
    func makeVideoOutput() throws -> (any VideoOutput)? {
        var outputs: [any VideoOutput] = []
        if !screenshots.isEmpty { outputs.append(PNGFrameOutput(.times(screenshots))) }
        if let checksums { outputs.append(try FrameChecksumOutput(path: checksums)) }
        return outputs.isEmpty ? nil : VideoOutputGroup(outputs: outputs)
    }
}

/// A video output that passes each frame to several outputs.
private struct VideoOutputGroup: VideoOutput {
    let outputs: [any VideoOutput]

    func show(_ frame: VideoFrame) throws { for output in outputs { try output.show(frame) } }

    func clear() { for output in outputs { output.clear() } }

    func finish() throws { for output in outputs { try output.finish() } }
}
#endif
