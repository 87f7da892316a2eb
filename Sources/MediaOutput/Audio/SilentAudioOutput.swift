public import MediaDecoding
public import MediaTiming
import Synchronization

/// An audio output that discards samples at playback speed, for machines without an audio device.
public final class SilentAudioOutput: AudioOutput {
    fileprivate struct State {
        var format: AudioFormat?
        /// The queued duration at the anchor.
        var queued = Duration.zero
        /// The time at which the state was last updated; `nil` while paused.
        var anchor: Duration?
        var underrun = Duration.zero
        /// A Boolean value that indicates whether a lack of samples counts as starvation; false before the first
        /// sample.
        var hasPlayed = false
    }

    /// The maximum duration of samples in the queue of an output.
    static let maximumQueuedDuration = Duration.seconds(2)

    private let time: any TimeSource
    private let state = Mutex(State())

    /// Creates an output.
    ///
    /// - Parameter time: The clock at whose speed samples are consumed.
    public init(time: any TimeSource = SystemTimeSource()) {
        self.time = time
    }

    /// A Boolean value that is always true, because samples are consumed at the speed of the clock.
    public var isRealTime: Bool { true }

    /// Accepts any valid format, paused.
    public func start(_ format: AudioFormat) throws -> AudioFormat {
        guard format.sampleRate > 0, format.channelCount > 0 else {
            throw OutputError(.wrongFormat, "Audio requires a sample rate and at least one channel")
        }
        state.withLock { $0 = State(format: format) }
        return format
    }

    /// Adds the duration of the samples to the queue, up to two seconds in total.
    public func enqueue(_ samples: AudioSamples) throws {
        let now = time.now
        try state.withLock { state in
            let format = AudioFormat(sampleRate: samples.sampleRate, channelCount: samples.channelCount)
            guard format == state.format else {
                throw OutputError(
                    .wrongFormat,
                    "The audio format differs from the one that the output was started with"
                )
            }
            state.advance(to: now)
            let added = format.duration(ofFrames: samples.samples.count / max(1, format.channelCount))
            guard state.queued + added <= Self.maximumQueuedDuration else {
                throw OutputError(.queueFull, "The audio queue is full: wait until samples have been played")
            }
            state.queued += added
            state.hasPlayed = true
        }
    }

    /// The duration of the samples that have not been consumed.
    public var queuedDuration: Duration {
        let now = time.now
        return state.withLock { state in
            state.advance(to: now)
            return state.queued
        }
    }

    /// The duration for which the queue was empty since the first samples.
    public var underrunDuration: Duration {
        let now = time.now
        return state.withLock { state in
            state.advance(to: now)
            return state.underrun
        }
    }

    /// Discards the samples that have not been consumed.
    public func flush() {
        let now = time.now
        state.withLock { state in
            state.advance(to: now)
            state.queued = .zero
            state.hasPlayed = false
        }
    }

    /// Stops the consumption of samples.
    public func pause() {
        let now = time.now
        state.withLock { state in
            state.advance(to: now)
            state.anchor = nil
        }
    }

    /// Starts the consumption of samples.
    public func resume() {
        let now = time.now
        state.withLock { state in
            state.advance(to: now)
            state.anchor = now
        }
    }

    /// Does nothing, because nothing is audible.
    public func setVolume(_ volume: Double, isMuted: Bool) {}

    /// Resets the output to its initial state.
    public func finish() { state.withLock { $0 = State() } }
}

extension SilentAudioOutput.State {
    fileprivate mutating func advance(to now: Duration) {
        guard let anchor else { return }
        let passed = max(.zero, now - anchor)
        let played = min(passed, queued)
        queued -= played
        if hasPlayed { underrun += passed - played }
        self.anchor = max(anchor, now)
    }
}
