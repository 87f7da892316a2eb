public import MediaDecoding

/// An audio output that immediately discards all samples.
public struct NullAudioOutput: AudioOutput {
    /// Creates an output.
    public init() {}

    /// Accepts any format.
    public func start(_ format: AudioFormat) -> AudioFormat { format }
    /// Discards the samples.
    public func enqueue(_ samples: AudioSamples) {}
    /// The queued duration, always zero because samples are discarded.
    public var queuedDuration: Duration { .zero }
    /// The duration of missing audio, always zero.
    public var underrunDuration: Duration { .zero }
    /// A Boolean value that is always false, because samples are accepted at any speed.
    public var isRealTime: Bool { false }
    /// Does nothing, because no samples are queued.
    public func flush() {}
    /// Does nothing, because nothing is played.
    public func pause() {}
    /// Does nothing, because nothing is played.
    public func resume() {}
    /// Does nothing, because nothing is played.
    public func setVolume(_ volume: Double, isMuted: Bool) {}
    /// Does nothing, because nothing is open.
    public func finish() {}
}
