/// Two moving averages of the same measurements, one with a short and one with a long half-life.
struct ThroughputAverages: Sendable {
    /// The average with the short half-life, which follows changes quickly.
    private(set) var fast: MovingAverage
    /// The average with the long half-life.
    private(set) var slow: MovingAverage

    /// Adds measurements, oldest first, to both averages.
    mutating func add(_ measurements: [BusyTimeline.Measurement]) {
        for measurement in measurements {
            fast.add(measurement.bitsPerSecond, weight: measurement.weight)
            slow.add(measurement.bitsPerSecond, weight: measurement.weight)
        }
    }

    /// Returns the lower of the values that `value` reads from the two averages, or `nil` if one has none.
    func lower(_ value: (MovingAverage) -> Double?) -> Double? {
        guard let fast = value(fast), let slow = value(slow) else { return nil }
        return min(fast, slow)
    }
}
