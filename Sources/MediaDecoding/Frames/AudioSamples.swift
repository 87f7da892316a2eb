public import MediaTiming

/// Decoded sound: 32-bit floating-point samples of all channels in turn.
public struct AudioSamples: Sendable {
    /// When its first sample is heard: the container's time as it leaves a decoder, the item's once it is mapped.
    public var time: MediaTime
    /// Samples a second of each channel.
    public let sampleRate: Int
    /// How many channels there are.
    public let channelCount: Int
    /// The samples, nominally -1 to 1; ``frameCount`` times ``channelCount`` of them.
    public let samples: [Float]

    /// Samples of each channel.
    public var frameCount: Int { channelCount > 0 ? samples.count / max(1, channelCount) : 0 }
    /// How long it sounds.
    public var duration: MediaTime {
        sampleRate > 0 ? MediaTime(value: Int64(frameCount), timescale: Int64(sampleRate)) : .zero
    }
    /// The time behind its last sample.
    public var end: MediaTime { time + duration }

    /// Makes a stretch of sound.
    public init(time: MediaTime, sampleRate: Int, channelCount: Int, samples: [Float]) {
        self.time = time
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.samples = samples
    }
}
