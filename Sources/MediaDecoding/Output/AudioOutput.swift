import MediaTiming

/// The sample rate and the number of channels of audio.
public struct AudioFormat: Sendable, Hashable {
    /// The number of samples per second and channel, in hertz.
    public let sampleRate: Int
    /// The number of channels, interleaved in the order of WAV: front left, front right, center, LFE, back left, back
    /// right.
    public let channelCount: Int

    /// Creates a format.
    public init(sampleRate: Int, channelCount: Int) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
    }

    /// Returns the duration of a number of samples per channel.
    package func duration(ofFrames count: Int) -> Duration {
        guard sampleRate > 0 else { return .zero }
        return .nanoseconds(Int64(clamping: Int128(count) *| 1_000_000_000 / Int128(max(1, sampleRate))))
    }

    /// Returns the number of samples per channel in a duration, rounded down.
    package func frameCount(in duration: Duration) -> Int {
        let nanoseconds = duration / .nanoseconds(1)
        guard nanoseconds.isFinite, nanoseconds > 0 else { return 0 }
        let frames = nanoseconds * Double(sampleRate) / 1_000_000_000
        return frames < 1e15 ? Int(saturating: frames) : .max
    }
}

/// A destination for decoded audio, such as a device or a file.
///
/// Enqueued samples are played consecutively, regardless of their times. The caller fills gaps with silence, removes
/// overlaps and keeps 100 to 200 ms enqueued. It uses ``queuedDuration``, the time until a sample that is enqueued now
/// will be audible, to synchronize video with the audio.
///
/// Calls may come from any thread, but only one at a time.
public protocol AudioOutput: Sendable {
    /// Opens the output, paused; ``resume()`` starts playback.
    ///
    /// Another call changes the format and discards the enqueued samples.
    ///
    /// - Parameter format: The requested format.
    /// - Returns: The format in which to enqueue samples. It differs if the device requires another sample rate or
    ///   number of channels.
    /// - Throws: `OutputError` with `OutputError.Code.noAudioDevice` or `OutputError.Code.fileFailed`.
    func start(_ format: AudioFormat) throws -> AudioFormat

    /// Starts playback: samples that are enqueued from now on are played; ``resume()`` follows when the first are enqueued.
    func beginPlayback()

    /// Appends samples to the queue, without waiting for the device.
    ///
    /// - Parameter samples: Samples in the format that ``start(_:)`` returned. Values beyond ±1 are clipped; values
    ///   that are not numbers become silence.
    /// - Throws: `OutputError` if the queue is full (it holds two seconds), if the format is different, or if the file
    ///   could not be written.
    func enqueue(_ samples: AudioSamples) throws

    /// The time from now until a sample that is enqueued now is audible.
    ///
    /// It is the sum of the queue, the buffer of the device and its latency, as far as they are known. Between two
    /// requests of the device, it decreases as the clock advances. The media time that is audible now is the end of the
    /// last enqueued samples minus this duration times the rate. The duration is zero if ``isRealTime`` is false.
    var queuedDuration: Duration { get }

    /// The total duration of silence that was played since the start because no samples were enqueued; pauses do not
    /// count.
    var underrunDuration: Duration { get }

    /// A Boolean value that indicates whether samples are consumed at playback speed.
    ///
    /// The value is `false` for a file, which accepts all samples immediately; the caller then uses another clock.
    var isRealTime: Bool { get }

    /// Discards samples that are enqueued but not audible yet, as required after a seek.
    func flush()

    /// Pauses playback; enqueued samples remain in the queue.
    func pause()

    /// Starts or resumes playback.
    func resume()

    /// Sets the volume, which takes effect within a few milliseconds.
    ///
    /// - Parameters:
    ///   - volume: The volume from 0 (silence) to 1 (unchanged); values outside of this range are clamped. The initial
    ///     volume is 1.
    ///   - isMuted: A Boolean value that indicates whether the output is silent regardless of the volume. Files ignore
    ///     both values.
    func setVolume(_ volume: Double, isMuted: Bool)

    /// Closes the device or the file.
    ///
    /// - Throws: `OutputError`, only for files.
    func finish() throws
}

extension AudioOutput {
    /// Does nothing by default.
    public func beginPlayback() {}
}
