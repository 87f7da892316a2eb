internal import MediaTiming

/// The responses that arrived too fast for a bit rate to be measured.
///
/// They are kept until neighboring responses reveal the time in which their bytes were transferred. Only the newest
/// ``maximumCount`` are kept.
struct InstantArrivals: Sendable {
    /// A response that arrived too fast for a bit rate to be measured.
    struct Arrival: Sendable, Equatable {
        /// The time at which the request was sent, in nanoseconds.
        let request: Int64
        /// The time at which the response arrived, in nanoseconds.
        let time: Int64
        /// The size of the response in bits; zero after the bits have been counted elsewhere.
        var bits: Double

        var secondsWithLatency: Double { Double(time -| request) / 1_000_000_000 }
        /// A lower bound on the bit rate of the link: the latency is counted as transfer time.
        var bitsPerSecondWithLatency: Double {
            min(bits / secondsWithLatency, BusyTimeline.maximumBitsPerSecond)
        }
    }

    /// The maximum number of arrivals that are kept; only extremely short segments produce more within a few
    /// milliseconds.
    static let maximumCount = 32

    /// The arrivals in ascending order of time.
    private(set) var arrivals: [Arrival] = []

    /// Inserts an arrival and removes the oldest one if there are too many.
    mutating func insert(_ arrival: Arrival) {
        arrivals.insert(arrival, at: arrivals.partitioningIndex { $0.time > arrival.time })
        if arrivals.count > Self.maximumCount { arrivals.removeFirst() }
    }

    /// Returns the time since which the bytes of `arrival` were transferred without a pause, or `nil` if it is unknown.
    ///
    /// The result is the time of the latest earlier arrival, provided that the request had been sent by then; otherwise
    /// the time in between is latency. The result must be at least `minimumGap` nanoseconds before the arrival, so that
    /// there is a time to measure, and at most `maximumGap`.
    func transferStart(of arrival: Arrival, minimumGap: Int64, maximumGap: Int64) -> Int64? {
        let index = arrivals.partitioningIndex { $0.time > arrival.time -| minimumGap }
        guard index > 0 else { return nil }
        let previous = arrivals[index - 1].time
        return arrival.request <= previous && arrival.time -| previous <= maximumGap ? previous : nil
    }

    /// Removes and returns the bits of the arrivals after `start`, up to and including `end`.
    mutating func takeBits(after start: Int64, through end: Int64) -> Double {
        let low = arrivals.partitioningIndex { $0.time > start }
        let high = arrivals.partitioningIndex { $0.time > end }
        guard low < high else { return 0 }
        var taken = 0.0
        for index in low..<high {
            taken += arrivals[index].bits
            arrivals[index].bits = 0
        }
        return taken
    }
}
