public import MediaDecoding
public import MediaTiming
import Synchronization

/// Plays sound to nobody, as fast as it would be heard: for machines without a sound device.
public final class SilentOutput: AudioOutput {
    fileprivate struct State {
        var format: SoundFormat?
        /// How much is enqueued beyond the anchor.
        var queued = Duration.zero
        /// When the queue began to run down; `nil` while paused.
        var anchor: Duration?
        var starved = Duration.zero
        /// Whether silence would be a hole in the sound: not before the first sample.
        var hasPlayed = false
    }

    /// The most that the queue of an output holds.
    static let capacity = Duration.seconds(2)

    private let time: any TimeSource
    private let state = Mutex(State())

    /// Makes an output.
    ///
    /// - Parameter time: The clock that it keeps to.
    public init(time: any TimeSource = SystemTimeSource()) {
        self.time = time
    }

    /// True: it keeps to the clock.
    public var isPaced: Bool { true }

    /// Takes any format, paused.
    public func start(_ format: SoundFormat) throws -> SoundFormat {
        guard format.sampleRate > 0, format.channelCount > 0 else {
            throw OutputError(.wrongFormat, "Sound needs a sample rate and a channel")
        }
        state.withLock { $0 = State(format: format) }
        return format
    }

    /// Counts the samples; two seconds of them at most.
    public func enqueue(_ samples: AudioSamples) throws {
        let now = time.now
        try state.withLock { state in
            let format = SoundFormat(sampleRate: samples.sampleRate, channelCount: samples.channelCount)
            guard format == state.format else {
                throw OutputError(.wrongFormat, "Sound came in another format than the output was started with")
            }
            state.run(until: now)
            let added = format.duration(ofFrames: samples.samples.count / max(1, format.channelCount))
            guard state.queued + added <= Self.capacity else {
                throw OutputError(.queueFull, "The sound queue is full: wait until it has run down")
            }
            state.queued += added
            state.hasPlayed = true
        }
    }

    /// How much has not run down yet.
    public var queuedDuration: Duration {
        let now = time.now
        return state.withLock { state in
            state.run(until: now)
            return state.queued
        }
    }

    /// How long nothing was there, since the first samples.
    public var starvedDuration: Duration {
        let now = time.now
        return state.withLock { state in
            state.run(until: now)
            return state.starved
        }
    }

    /// Forgets what has not run down yet.
    public func flush() {
        let now = time.now
        state.withLock { state in
            state.run(until: now)
            state.queued = .zero
            state.hasPlayed = false
        }
    }

    /// Holds the clock.
    public func pause() {
        let now = time.now
        state.withLock { state in
            state.run(until: now)
            state.anchor = nil
        }
    }

    /// Lets the clock run.
    public func resume() {
        let now = time.now
        state.withLock { state in
            state.run(until: now)
            state.anchor = now
        }
    }

    /// Nothing to hear.
    public func setVolume(_ volume: Double, isMuted: Bool) {}

    /// Forgets everything.
    public func finish() { state.withLock { $0 = State() } }
}

extension SilentOutput.State {
    fileprivate mutating func run(until now: Duration) {
        guard let anchor else { return }
        let passed = max(.zero, now - anchor)
        let played = min(passed, queued)
        queued -= played
        if hasPlayed { starved += passed - played }
        self.anchor = max(anchor, now)
    }
}
