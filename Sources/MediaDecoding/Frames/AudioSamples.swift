public import MediaTiming

/// A buffer of decoded audio: interleaved 32-bit floating-point samples.
public struct AudioSamples: Sendable {
    /// The presentation time of the first sample.
    ///
    /// A decoder sets it to the timestamp in the container; timestamp mapping replaces it by the time on the timeline
    /// of the player item.
    public var time: MediaTime
    /// The number of samples per second and channel, in hertz.
    public let sampleRate: Int
    /// The number of channels.
    public let channelCount: Int
    /// The interleaved samples, nominally from -1 to 1; their number is ``frameCount`` times ``channelCount``.
    public let samples: [Float]

    /// The number of samples per channel.
    public var frameCount: Int { channelCount > 0 ? samples.count / max(1, channelCount) : 0 }
    /// The duration of the samples.
    public var duration: MediaTime {
        sampleRate > 0 ? MediaTime(value: Int64(frameCount), timescale: Int64(sampleRate)) : .zero
    }
    /// The presentation time immediately after the last sample.
    public var end: MediaTime { time + duration }

    /// Creates a buffer of samples.
    public init(time: MediaTime, sampleRate: Int, channelCount: Int, samples: [Float]) {
        self.time = time
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.samples = samples
    }
}
