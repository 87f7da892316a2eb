import MediaTiming

/// The minimum, maximum and standard deviation of the bit rates of single segments.
struct ObservedBitRates: Sendable, Hashable {
    private(set) var minimum: BitRate?
    private(set) var maximum: BitRate?
    private var count = 0.0
    private var mean = 0.0
    private var squares = 0.0

    /// The population standard deviation, or `nil` for fewer than two bit rates.
    var standardDeviation: BitRate? {
        count < 2 ? nil : BitRate(approximating: (squares / count).squareRoot())
    }

    /// Adds a bit rate.
    mutating func add(_ rate: BitRate) {
        minimum = min(minimum ?? rate, rate)
        maximum = max(maximum ?? rate, rate)
        // Welford's algorithm: the difference of two large sums would lose precision.
        count += 1
        let value = Double(rate.bitsPerSecond)
        let distance = value - mean
        mean += distance / count
        squares += distance * (value - mean)
    }
}
