import MediaTiming

/// How samples come: how many a second, and how many at once.
public struct SoundFormat: Sendable, Hashable {
    /// Samples a second of each channel, in hertz.
    public let sampleRate: Int
    /// Channels, interleaved in the order that WAV has: front left, front right, centre, low frequency, back left, back right.
    public let channelCount: Int

    /// Makes a format.
    public init(sampleRate: Int, channelCount: Int) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
    }

    /// How long so many samples of each channel are heard.
    package func duration(ofFrames count: Int) -> Duration {
        guard sampleRate > 0 else { return .zero }
        return .nanoseconds(Int64(clamping: Int128(count) *| 1_000_000_000 / Int128(max(1, sampleRate))))
    }

    /// How many samples of each channel fill a time, rounded down.
    package func frameCount(in duration: Duration) -> Int {
        let nanoseconds = duration / .nanoseconds(1)
        guard nanoseconds.isFinite, nanoseconds > 0 else { return 0 }
        let frames = nanoseconds * Double(sampleRate) / 1_000_000_000
        return frames < 1e15 ? Int(saturating: frames) : .max
    }
}

/// Where sound goes: a device, a file, nowhere.
///
/// What is enqueued is heard one after the other, whatever its times say: whoever calls fills gaps with silence, cuts overlaps
/// and keeps 100 to 200 ms enqueued. Sound is aligned to pictures with ``queuedDuration``: it tells when a sample that is
/// enqueued now will be heard.
///
/// One caller at a time, from any thread.
public protocol AudioOutput: Sendable {
    /// Opens it, paused; ``resume()`` lets it play. Once more changes the format; what was enqueued is then lost.
    ///
    /// - Parameter format: How the samples are.
    /// - Returns: How they must come instead, where the device wants another rate or other channels.
    /// - Throws: `OutputError` with `OutputError.Code.noSoundDevice` or `OutputError.Code.fileFailed`.
    func start(_ format: SoundFormat) throws -> SoundFormat

    /// Puts samples behind those that are already there. A device is never waited for.
    ///
    /// - Parameter samples: In the format that ``start(_:)`` returned. Values beyond ±1 are cut off, those that are no
    ///   numbers are silence.
    /// - Throws: `OutputError`: the queue is full (it holds two seconds), the format is another, the file could not be written.
    func enqueue(_ samples: AudioSamples) throws

    /// How long it takes from now until a sample that is enqueued now is heard.
    ///
    /// That is the queue, what the device holds, and its own delay as far as it is known; between two calls of the device
    /// it runs down with the clock. The time that is heard now is the end of what was enqueued last less this, times the
    /// rate. Zero where ``isPaced`` is false.
    var queuedDuration: Duration { get }

    /// How much silence was heard because nothing was enqueued, since the start and while it was not paused.
    var starvedDuration: Duration { get }

    /// Whether it takes sound no faster than it is heard.
    ///
    /// A file takes all at once: there is nothing to wait for, and the clock is the caller's.
    var isPaced: Bool { get }

    /// Forgets what is enqueued and not yet heard: after a seek.
    func flush()

    /// Falls silent; what is enqueued is kept.
    func pause()

    /// Goes on.
    func resume()

    /// Sets how loud it is, from the next few milliseconds on.
    ///
    /// - Parameters:
    ///   - volume: 0 for silence to 1 for as it comes; anything else is brought into that range. 1 at the start.
    ///   - isMuted: Whether it is silent whatever the volume. Files are written as the sound comes, at any volume.
    func setVolume(_ volume: Double, isMuted: Bool)

    /// Closes the device or the file.
    ///
    /// - Throws: `OutputError`, for files only.
    func finish() throws
}
