import CSDL2
public import MediaDecoding
public import MediaTiming
import Synchronization

/// An audio output that plays on the default audio device through SDL.
///
/// The environment variable `SDL_AUDIODRIVER` selects the driver (`pulseaudio`, `alsa`, `dummy`, `disk`), as for any
/// program that uses SDL.
public final class AudioDeviceOutput: AudioOutput {
    /// The behavior if no device can be opened.
    public enum Fallback: Sendable, Hashable {
        /// ``start(_:)`` throws an error.
        case none
        /// Samples are discarded at playback speed, and the problem is reported once to `onError`.
        case silence
    }

    fileprivate struct State: ~Copyable {
        var device: AudioDevice?
        var silentOutput: SilentAudioOutput?
        var isLost = false
        var gain: Float = 1
    }

    private let time: any TimeSource
    private let fallback: Fallback
    private let onError: @Sendable (OutputError) -> Void
    private let state = Mutex(State())

    /// Creates an output; ``start(_:)`` opens the device.
    ///
    /// - Parameters:
    ///   - fallback: The behavior if no device can be opened. The default is ``Fallback/silence``.
    ///   - time: The clock by which ``queuedDuration`` decreases.
    ///   - onError: A closure called if a device cannot be opened or is lost, at most once per start, on a thread
    ///     that calls this output. After the loss of a device, samples are discarded at the same speed, so that video
    ///     continues.
    public init(
        fallback: Fallback = .silence,
        time: any TimeSource = SystemTimeSource(),
        onError: @escaping @Sendable (OutputError) -> Void = { _ in }
    ) {
        self.fallback = fallback
        self.time = time
        self.onError = onError
    }

    /// A Boolean value that is always true, because a device consumes samples at playback speed.
    public var isRealTime: Bool { true }

    /// A Boolean value that indicates whether a device is open: false before the start, after the end, and while
    /// samples are discarded instead.
    public var hasDevice: Bool { state.withLock { !$0.isLost && $0.queue != nil } }

    /// Opens the default device, paused, after closing the one that is open.
    public func start(_ format: AudioFormat) throws -> AudioFormat {
        guard (1...384_000).contains(format.sampleRate), (1...64).contains(format.channelCount) else {
            let text = "\(format.channelCount) channels at \(format.sampleRate) Hz"
            throw OutputError(.wrongFormat, "Audio devices do not support \(text)")
        }
        // SDL supports at most eight channels.
        let wanted = AudioFormat(sampleRate: format.sampleRate, channelCount: min(8, format.channelCount))
        let (actual, problem) = try state.withLock { state -> (AudioFormat, OutputError?) in
            let gain = state.gain
            // The old device is closed first, because some devices cannot be opened twice.
            state = State(gain: gain)
            do throws(OutputError) {
                let device = try AudioDevice(wanted, time: time, gain: gain)
                let actual = device.queue.format
                state = State(device: consume device, gain: gain)
                return (actual, nil)
            } catch {
                guard fallback == .silence else { throw error }
                let silence = SilentAudioOutput(time: time)
                let actual = try silence.start(wanted)
                state.silentOutput = silence
                return (actual, error)
            }
        }
        if let problem { onError(problem) }
        return actual
    }

    /// Enqueues samples for the device.
    public func enqueue(_ samples: AudioSamples) throws {
        let format = AudioFormat(sampleRate: samples.sampleRate, channelCount: samples.channelCount)
        let (silence, queue) = state.withLock { ($0.silentOutput, $0.queue) }
        if let silence { return try silence.enqueue(samples) }
        guard let queue, queue.format == format else {
            throw OutputError(.wrongFormat, "The audio format differs from the one that the device was started with")
        }
        reportLoss()
        guard queue.enqueue(samples.samples) else {
            throw OutputError(.queueFull, "The audio queue is full: wait until samples have been played")
        }
    }

    /// The time until a sample that is enqueued now is audible.
    public var queuedDuration: Duration {
        let (silence, queue) = state.withLock { ($0.silentOutput, $0.queue) }
        return silence?.queuedDuration ?? queue?.queuedDuration(at: time.now) ?? .zero
    }

    /// The total duration of silence between samples that was played because the next samples were not enqueued in time.
    public var underrunDuration: Duration {
        let (silence, queue) = state.withLock { ($0.silentOutput, $0.queue) }
        return silence?.underrunDuration ?? queue?.underrunDuration ?? .zero
    }

    /// Discards the samples that the device has not requested yet.
    public func flush() {
        let (silence, queue) = state.withLock { ($0.silentOutput, $0.queue) }
        silence?.flush()
        queue?.flush()
    }

    /// Pauses the device.
    public func pause() { setPaused(true) }

    /// Starts or resumes the device.
    public func resume() { setPaused(false) }

    /// Sets the volume on a perceptual scale: the amplitude is the square of the volume.
    public func setVolume(_ volume: Double, isMuted: Bool) {
        let volume = volume.isNaN ? 0 : max(0, min(1, volume))
        // Perceived loudness is a power of the amplitude; with the square, half of the volume sounds about half as
        // loud.
        let gain = isMuted ? 0 : Float(volume * volume)
        let queue = state.withLock { state in
            state.gain = gain
            return state.queue
        }
        queue?.setGain(gain)
    }

    /// Closes the device.
    public func finish() {
        state.withLock { state in
            let gain = state.gain
            state = State(gain: gain)
        }
    }

    private func setPaused(_ isPaused: Bool) {
        let silence = state.withLock { state in
            state.setPaused(isPaused)
            return state.silentOutput
        }
        if isPaused { silence?.pause() } else { silence?.resume() }
    }

    /// Reports the loss of the device, once.
    ///
    /// SDL continues to request samples after the loss, so that the clock of the output continues.
    private func reportLoss() {
        let isNew = state.withLock { state in
            guard !state.isLost, state.deviceHasStopped else { return false }
            state.isLost = true
            return true
        }
        guard isNew else { return }
        let message = "The audio device was lost: playback continues without audio until the output is started again"
        onError(OutputError(.audioDeviceLost, message))
    }
}

extension AudioDeviceOutput.State {
    var queue: AudioSampleQueue? {
        switch device {
        case .some(let device): device.queue
        case .none: nil
        }
    }

    var deviceHasStopped: Bool {
        switch device {
        case .some(let device): device.isLost
        case .none: false
        }
    }

    func setPaused(_ isPaused: Bool) {
        switch device {
        case .some(let device): device.setPaused(isPaused)
        case .none: break
        }
    }
}
