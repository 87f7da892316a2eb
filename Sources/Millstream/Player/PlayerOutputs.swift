#if Playback
public import MediaDecoding
import MediaOutput
import MediaTiming
import StreamingEngine
import Synchronization

/// The outputs of a player: the audio device, and the video and subtitle outputs that are attached.
///
/// A player in ``Player/Environment/standard`` has outputs of its own, see ``Player/outputs``. Outputs that are created by the
/// application can write to files too, and are given to one player with
/// ``Player/Environment/decoding(for:)``.
///
/// ```swift
/// try player.outputs?.video.attach(CallbackVideoOutput { frame in print(frame.time) })
/// ```
public final class PlayerOutputs: Sendable {
    /// The destination of the audio.
    public enum Audio: Sendable {
        /// The default audio device; without one, or after its loss, playback continues in silence.
        case device
        /// An output of the application, such as a file.
        case output(any AudioOutput)
        /// No destination: the audio is not decoded.
        case none
    }

    /// The attached video outputs, of which the most recently attached one shows the frames.
    public let video = VideoOutputStack()
    /// The attached subtitle outputs, all of which show the subtitles.
    public let subtitles = SubtitleOutputGroup()
    /// The delays of audio and subtitles against the video.
    public let delays = OutputDelays()

    private let recorder: (any VideoOutput)?
    private let audio: (any AudioOutput)?
    private let shared: SharedOutputs
    private let audioErrors: AudioErrorHandler

    /// Creates outputs.
    ///
    /// - Parameters:
    ///   - audio: The destination of the audio.
    ///   - recorder: An output that receives each frame in addition to the attached ones, such as a file.
    public init(audio: Audio = .device, recorder: (any VideoOutput)? = nil) {
        let errors = AudioErrorHandler()
        self.recorder = recorder
        audioErrors = errors
        self.audio =
            switch audio {
            case .device: AudioDeviceOutput { errors.report($0) }
            case .output(let output): output
            case .none: nil
            }
        shared = SharedOutputs(
            video: RecordedVideoOutput(recorder: recorder, attached: video),
            audio: self.audio,
            subtitles: subtitles,
            delays: delays
        )
    }

    /// Writes buffered data, and closes the audio output and the recorder; no player may use the outputs afterwards.
    ///
    /// - Throws: The first error of an output; the other outputs are closed nevertheless.
    public func finish() throws {
        defer { try? video.finish() }
        defer { try? audio?.finish() }
        try recorder?.finish()
    }

    /// The level of the audio that is played, from 0 to 1 for full scale; 0 while none is played.
    var audioLevel: Double { shared.audioLevel }

    /// Sets the function that is called when the audio device cannot be opened or is lost.
    func setAudioErrorHandler(_ handler: @escaping @Sendable (PlayerError) -> Void) { audioErrors.set(handler) }

    /// Creates the pipeline of an item.
    func makePipeline(in environment: Player.Environment) throws -> any MediaPipeline {
        try shared.makePipeline(
            time: environment.time,
            decoding: environment.videoDecoding,
            executor: environment.decodingExecutor
        )
    }
}

/// The function that receives the errors of the audio device, which is set after the device is created.
private final class AudioErrorHandler: Sendable {
    private let handler = Mutex<(@Sendable (PlayerError) -> Void)?>(nil)

    func set(_ new: @escaping @Sendable (PlayerError) -> Void) { handler.withLock { $0 = new } }

    func report(_ error: OutputError) {
        handler.withLock { $0 }?(PlayerError(.audioDeviceLost, error.message, cause: error))
    }
}

/// A video output that passes each frame to a recorder, and then to the attached outputs.
private struct RecordedVideoOutput: VideoOutput {
    let recorder: (any VideoOutput)?
    let attached: VideoOutputStack

    func show(_ frame: VideoFrame) throws {
        try recorder?.show(frame)
        try attached.show(frame)
    }

    func clear() {
        recorder?.clear()
        attached.clear()
    }
}
#endif
