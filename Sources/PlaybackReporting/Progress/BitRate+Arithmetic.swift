import MediaTiming

extension BitRate {
    /// The rate nearest to a number of bits a second; `nil` for what is negative or not a number.
    init?(approximating bitsPerSecond: Double) {
        guard bitsPerSecond >= 0 else { return nil }
        self.init(bitsPerSecond: bitsPerSecond < 9e18 ? Int64(saturating: bitsPerSecond.rounded()) : .max)
    }

    /// The rate at which bytes came; `nil` where they took no time.
    init?(_ bytes: ByteCount, in duration: Duration) {
        guard duration > .zero else { return nil }
        self.init(approximating: Double(bytes.bytes) * 8 / duration.inSeconds)
    }
}

/// An average of rates, each weighing as much as the time for which it held.
struct TimeWeightedBitRate: Sendable, Hashable {
    /// Bits: the sum of rates times their durations.
    private var bits = 0.0
    /// The time for which a rate above 0 was known.
    private(set) var knownDuration = Duration.zero

    /// Adds a rate; one that is 0 or not known leaves all as it was.
    mutating func add(_ rate: BitRate?, for duration: Duration) {
        guard let rate, rate.bitsPerSecond > 0, duration > .zero else { return }
        bits += Double(rate.bitsPerSecond) * duration.inSeconds
        knownDuration = knownDuration.addingClamped(duration)
    }

    /// The average over the time for which a rate was known; `nil` without any.
    var value: BitRate? { value(over: knownDuration) }

    /// The average over a time, of which what is not known counts as 0; `nil` where there is nothing to average.
    func value(over duration: Duration) -> BitRate? {
        guard knownDuration > .zero, duration > .zero else { return nil }
        return BitRate(approximating: bits / duration.inSeconds)
    }
}
