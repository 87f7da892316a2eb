#if Playback
import MediaDecoding
import MediaOutput
import MediaTiming
import Millstream
import ResourceAddressing

/// An output that decodes media without a window and writes it to files or discards it.
struct DecodedPlaybackOutput: PlaybackOutput {
    private let outputs: PlayerOutputs
    private let errors: OutputErrorRecord
    /// The keyboard that controls playback; `nil` if there is none.
    private let keyboard: TerminalKeyboard?

    init(_ files: PlaybackMediaFiles, isMuted: Bool, keyboard: TerminalKeyboard?) throws {
        self.keyboard = keyboard
        errors = files.errors
        let audio = files.makeAudioOutput() ?? NullAudioOutput()
        outputs = PlayerOutputs(audio: isMuted ? .none : .output(audio), recorder: try files.makeVideoOutput())
    }

    var environment: Player.Environment { .decoding(for: outputs) }

    func show(_ player: Player, reporting report: @escaping @Sendable (any MillstreamError) -> Void) async {
        guard let keyboard else { return await waitForCancellation() }
        await keyboard.control(player)
    }

    var failure: (any Error)? { errors.first }

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
    /// The time at which playback ends, and after which nothing is written; `nil` for the end of the stream.
    ///
    /// The frame at this time is decoded and can be saved as an image.
    var end: MediaTime?
    /// The playback rate.
    var rate = 1.0
    /// The record of the first error of the files.
    let errors = OutputErrorRecord()

    /// Creates the output for audio; `nil` if it is not written.
    func makeAudioOutput() -> (any AudioOutput)? {
        guard let wave else { return nil }
        return EndingAudioOutput(WaveFileOutput(path: wave), end: end, rate: rate, errors: errors)
    }

    /// Opens the files for video; `nil` if there are none.
    func makeVideoOutput() throws -> (any VideoOutput)? {
        var outputs: [any VideoOutput] = []
        if !screenshots.isEmpty { outputs.append(PNGFrameOutput(.times(screenshots))) }
        if let checksums {
            let output = try FrameChecksumOutput(path: checksums)
            outputs.append(end.map { EndingVideoOutput(output: output, end: $0) } ?? output)
        }
        return outputs.isEmpty ? nil : VideoOutputGroup(outputs: outputs, errors: errors)
    }
}

/// A video output that passes each frame to several outputs.
private struct VideoOutputGroup: VideoOutput {
    let outputs: [any VideoOutput]
    let errors: OutputErrorRecord

    func show(_ frame: VideoFrame) throws {
        try errors.recording { for output in outputs { try output.show(frame) } }
    }

    func clear() { for output in outputs { output.clear() } }

    func finish() throws { for output in outputs { try output.finish() } }
}
#endif
