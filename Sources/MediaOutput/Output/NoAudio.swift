public import MediaDecoding

/// Drops all sound at once.
public struct NoAudio: AudioOutput {
    /// Makes one.
    public init() {}

    /// Takes any format.
    public func start(_ format: SoundFormat) -> SoundFormat { format }
    /// Drops the samples.
    public func enqueue(_ samples: AudioSamples) {}
    /// Zero: nothing waits.
    public var queuedDuration: Duration { .zero }
    /// Zero: nothing is missing.
    public var starvedDuration: Duration { .zero }
    /// False: it takes whatever comes.
    public var isPaced: Bool { false }
    /// Nothing to forget.
    public func flush() {}
    /// Nothing to halt.
    public func pause() {}
    /// Nothing to go on with.
    public func resume() {}
    /// Nothing to hear.
    public func setVolume(_ volume: Double, isMuted: Bool) {}
    /// Nothing to close.
    public func finish() {}
}
