import MediaTiming

extension BitRate {
    /// Creates the nearest bit rate to a number of bits per second; `nil` for negative numbers and NaN.
    init?(approximating bitsPerSecond: Double) {
        guard bitsPerSecond >= 0 else { return nil }
        self.init(bitsPerSecond: bitsPerSecond < 9e18 ? Int64(saturating: bitsPerSecond.rounded()) : .max)
    }

    /// Creates the bit rate of a transfer; `nil` if the duration is not positive.
    init?(_ bytes: ByteCount, in duration: Duration) {
        guard duration > .zero else { return nil }
        self.init(approximating: Double(bytes.bytes) * 8 / duration.inSeconds)
    }
}

/// A time-weighted average of bit rates.
struct TimeWeightedBitRate: Sendable, Hashable {
    /// The sum of the bit rates, each multiplied by its duration, in bits.
    private var bits = 0.0
    /// The total duration with a known bit rate above 0.
    private(set) var knownDuration = Duration.zero

    /// Adds a bit rate; zero and unknown bit rates are ignored.
    mutating func add(_ rate: BitRate?, for duration: Duration) {
        guard let rate, rate.bitsPerSecond > 0, duration > .zero else { return }
        bits += Double(rate.bitsPerSecond) * duration.inSeconds
        knownDuration = knownDuration.addingClamped(duration)
    }

    /// Removes a bit rate that was added for a longer or equal duration; zero and unknown bit rates are ignored.
    mutating func remove(_ rate: BitRate?, for duration: Duration) {
        guard let rate, rate.bitsPerSecond > 0, duration > .zero else { return }
        bits = max(0, bits - Double(rate.bitsPerSecond) * duration.inSeconds)
        knownDuration = knownDuration.subtractingClampedToZero(duration)
    }

    /// The average over the time with a known bit rate, or `nil` if there is none.
    var value: BitRate? { value(over: knownDuration) }

    /// Returns the average over a duration, in which unknown bit rates count as 0, or `nil` if there is none.
    func value(over duration: Duration) -> BitRate? {
        guard knownDuration > .zero, duration > .zero else { return nil }
        return BitRate(approximating: bits / duration.inSeconds)
    }
}
