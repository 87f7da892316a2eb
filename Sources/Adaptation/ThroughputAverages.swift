/// The same measurements in a fast and in a slow average.
struct ThroughputAverages: Sendable {
    /// The one that follows.
    private(set) var fast: FadingAverage
    /// The one that remembers.
    private(set) var slow: FadingAverage

    /// Adds measurements, oldest first.
    mutating func add(_ measurements: [BusyTimeline.Measurement]) {
        for measurement in measurements {
            fast.add(measurement.bitsPerSecond, weight: measurement.weight)
            slow.add(measurement.bitsPerSecond, weight: measurement.weight)
        }
    }

    /// The lower value of the two, each read by `value`; `nil` where they have none.
    func lower(_ value: (FadingAverage) -> Double?) -> Double? {
        guard let fast = value(fast), let slow = value(slow) else { return nil }
        return min(fast, slow)
    }
}
