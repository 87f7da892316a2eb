import MediaTiming

/// The rates at which single segments came: least, greatest, and how far from their mean.
struct ObservedBitRates: Sendable, Hashable {
    private(set) var least: BitRate?
    private(set) var greatest: BitRate?
    private var count = 0.0
    private var mean = 0.0
    private var squares = 0.0

    /// The standard deviation of the population; `nil` for fewer than two rates.
    var standardDeviation: BitRate? {
        count < 2 ? nil : BitRate(approximating: (squares / count).squareRoot())
    }

    /// Adds a rate.
    mutating func add(_ rate: BitRate) {
        least = min(least ?? rate, rate)
        greatest = max(greatest ?? rate, rate)
        // Welford's way: the difference of two great sums would lose the digits that count.
        count += 1
        let value = Double(rate.bitsPerSecond)
        let distance = value - mean
        mean += distance / count
        squares += distance * (value - mean)
    }
}
