internal import MediaTiming

/// Responses that came all at once, too short to have a rate: they are kept until their neighbours give them one.
///
/// Only the newest ``mostArrivals`` are kept.
struct InstantArrivals: Sendable {
    /// One response.
    struct Arrival: Sendable, Equatable {
        /// When it was asked for, in nanoseconds.
        let request: Int64
        /// When it was there.
        let moment: Int64
        /// Its bits; zero once they have been counted.
        var bits: Double

        var secondsWithLatency: Double { Double(moment -| request) / 1_000_000_000 }
        /// Less than the link brought, as the wait is in it.
        var bitsPerSecondWithLatency: Double {
            min(bits / secondsWithLatency, BusyTimeline.fastestBitsPerSecond)
        }
    }

    /// More of them than this within a few milliseconds would be a playlist of crumbs.
    static let mostArrivals = 32

    /// The arrivals, ascending by moment.
    private(set) var arrivals: [Arrival] = []

    /// Keeps an arrival and forgets the oldest if there are too many.
    mutating func insert(_ arrival: Arrival) {
        arrivals.insert(arrival, at: arrivals.partitioningIndex { $0.moment > arrival.moment })
        if arrivals.count > Self.mostArrivals { arrivals.removeFirst() }
    }

    /// The moment since which the bytes of `arrival` flowed without a pause, as far as its neighbours tell.
    ///
    /// That is the latest arrival before it, if the request had been sent by then: otherwise the time in between is
    /// latency. It must lie at least `shortest` back, so that there is a time to measure, and at most `longest`.
    func beginning(of arrival: Arrival, shortest: Int64, longest: Int64) -> Int64? {
        let index = arrivals.partitioningIndex { $0.moment > arrival.moment -| shortest }
        guard index > 0 else { return nil }
        let previous = arrivals[index - 1].moment
        return arrival.request <= previous && arrival.moment -| previous <= longest ? previous : nil
    }

    /// Takes the bits that came after `start`, and not after `end`.
    mutating func takeBits(after start: Int64, through end: Int64) -> Double {
        let low = arrivals.partitioningIndex { $0.moment > start }
        let high = arrivals.partitioningIndex { $0.moment > end }
        guard low < high else { return 0 }
        var taken = 0.0
        for index in low..<high {
            taken += arrivals[index].bits
            arrivals[index].bits = 0
        }
        return taken
    }
}
