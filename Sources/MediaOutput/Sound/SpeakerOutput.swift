import CSDL2
public import MediaDecoding
public import MediaTiming
import Synchronization

/// Plays sound on the machine's device, through SDL.
///
/// `SDL_AUDIODRIVER` chooses the way (`pulseaudio`, `alsa`, `dummy`, `disk`), as in every program that uses SDL.
public final class SpeakerOutput: AudioOutput {
    /// What to do where no device opens.
    public enum Fallback: Sendable, Hashable {
        /// ``start(_:)`` throws.
        case none
        /// It plays to nobody at the same speed, and says so once through `onProblem`.
        case silence
    }

    fileprivate struct State: ~Copyable {
        var device: OpenDevice?
        var silence: SilentOutput?
        var isLost = false
        var gain: Float = 1
    }

    private let time: any TimeSource
    private let fallback: Fallback
    private let onProblem: @Sendable (OutputError) -> Void
    private let state = Mutex(State())

    /// Makes an output; no device is opened before ``start(_:)``.
    ///
    /// - Parameters:
    ///   - fallback: What to do where no device opens; by default, silence.
    ///   - time: The clock by which ``queuedDuration`` runs down.
    ///   - onProblem: Told of a device that does not open or goes away, at most once for each start, by a thread that calls
    ///     this output. A lost device is followed by silence of the same speed, so that pictures go on.
    public init(
        fallback: Fallback = .silence,
        time: any TimeSource = SystemTimeSource(),
        onProblem: @escaping @Sendable (OutputError) -> Void = { _ in }
    ) {
        self.fallback = fallback
        self.time = time
        self.onProblem = onProblem
    }

    /// True: a device takes sound as it is heard.
    public var isPaced: Bool { true }

    /// Whether a device plays: false before the start, after the end, and while it falls back to silence.
    public var hasDevice: Bool { state.withLock { !$0.isLost && $0.queue != nil } }

    /// Opens the default device, paused; one that is open is closed first.
    public func start(_ format: SoundFormat) throws -> SoundFormat {
        guard (1...384_000).contains(format.sampleRate), (1...64).contains(format.channelCount) else {
            let text = "\(format.channelCount) channels at \(format.sampleRate) Hz"
            throw OutputError(.wrongFormat, "No device plays \(text)")
        }
        // The device is asked for at most eight channels, the most that SDL knows.
        let wanted = SoundFormat(sampleRate: format.sampleRate, channelCount: min(8, format.channelCount))
        let (actual, problem) = try state.withLock { state -> (SoundFormat, OutputError?) in
            let gain = state.gain
            // The old device is closed first: some cannot be opened twice.
            state = State(gain: gain)
            do throws(OutputError) {
                let device = try OpenDevice(wanted, time: time, gain: gain)
                let actual = device.queue.format
                state = State(device: consume device, gain: gain)
                return (actual, nil)
            } catch {
                guard fallback == .silence else { throw error }
                let silence = SilentOutput(time: time)
                let actual = try silence.start(wanted)
                state.silence = silence
                return (actual, error)
            }
        }
        if let problem { onProblem(problem) }
        return actual
    }

    /// Queues samples for the device.
    public func enqueue(_ samples: AudioSamples) throws {
        let format = SoundFormat(sampleRate: samples.sampleRate, channelCount: samples.channelCount)
        let (silence, queue) = state.withLock { ($0.silence, $0.queue) }
        if let silence { return try silence.enqueue(samples) }
        guard let queue, queue.format == format else {
            throw OutputError(.wrongFormat, "Sound came in another format than the device was started with")
        }
        noticeLoss()
        guard queue.enqueue(samples.samples) else {
            throw OutputError(.queueFull, "The sound queue is full: wait until it has run down")
        }
    }

    /// How long until a sample is heard that is enqueued now.
    public var queuedDuration: Duration {
        let (silence, queue) = state.withLock { ($0.silence, $0.queue) }
        return silence?.queuedDuration ?? queue?.queuedDuration(at: time.now) ?? .zero
    }

    /// How long the device had nothing to play, between samples.
    public var starvedDuration: Duration {
        let (silence, queue) = state.withLock { ($0.silence, $0.queue) }
        return silence?.starvedDuration ?? queue?.starvedDuration ?? .zero
    }

    /// Forgets what the device has not taken yet.
    public func flush() {
        let (silence, queue) = state.withLock { ($0.silence, $0.queue) }
        silence?.flush()
        queue?.flush()
    }

    /// Lets the device be silent.
    public func pause() { setPaused(true) }

    /// Lets the device play.
    public func resume() { setPaused(false) }

    /// Sets how loud it is, as the ear counts: half the volume is a quarter of the amplitude.
    public func setVolume(_ volume: Double, isMuted: Bool) {
        let volume = volume.isNaN ? 0 : max(0, min(1, volume))
        // Loudness is felt as a power of amplitude: the square makes the middle of the range sound like half.
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
            return state.silence
        }
        if isPaused { silence?.pause() } else { silence?.resume() }
    }

    /// SDL goes on calling for samples when a device is gone, so the clock holds; only the one who listens must be told.
    private func noticeLoss() {
        let isNew = state.withLock { state in
            guard !state.isLost, state.deviceHasStopped else { return false }
            state.isLost = true
            return true
        }
        guard isNew else { return }
        let message = "The sound device is gone: it goes on without sound until it is started again"
        onProblem(OutputError(.soundDeviceLost, message))
    }
}

extension SpeakerOutput.State {
    var queue: SoundQueue? {
        switch device {
        case .some(let device): device.queue
        case .none: nil
        }
    }

    var deviceHasStopped: Bool {
        switch device {
        case .some(let device): device.hasStopped
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
