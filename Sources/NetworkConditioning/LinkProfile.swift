public import MediaTiming

/// The conditions of a network link: bandwidth, latency and loss for each direction, DNS delay, and changes over time.
///
/// The values have the same meaning as in Apple's Network Link Conditioner. Latency applies once per request and
/// direction: upstream to the request, downstream to the response. The bandwidth applies to message bodies;
/// retransmissions of lost packets do not consume it.
public struct LinkProfile: Sendable, Hashable {
    /// The conditions of one direction of a link.
    public struct DirectionConditions: Sendable, Hashable {
        /// The bandwidth, or `nil` if it is unlimited; with zero, nothing passes.
        public var bandwidth: BitRate?
        /// The one-way delay.
        public var latency: Duration
        /// The fraction of packets that are lost, 0 to 1; with 1, nothing arrives.
        public var loss: Double

        /// Creates the conditions of one direction; the defaults are unlimited bandwidth, no latency and no loss.
        public init(bandwidth: BitRate? = nil, latency: Duration = .zero, loss: Double = 0) {
            self.bandwidth = bandwidth
            self.latency = latency
            self.loss = loss
        }
    }

    /// A period in which no data crosses the link.
    public struct Outage: Sendable, Hashable {
        /// The beginning of the outage, from the time at which the profile takes effect.
        public var start: Duration
        /// The length of the outage.
        public var duration: Duration
        /// The time from one beginning to the next, longer than ``duration``, or `nil` for a single outage.
        public var interval: Duration?

        /// Creates an outage.
        public init(start: Duration, duration: Duration, interval: Duration? = nil) {
            self.start = start
            self.duration = duration
            self.interval = interval
        }
    }

    /// The name of the profile, for display.
    public var name: String
    /// The conditions toward the client.
    public var down: DirectionConditions
    /// The conditions away from the client.
    public var up: DirectionConditions
    /// The delay of the first use of a host name.
    public var dnsDelay: Duration
    /// The changes of bandwidth and latency over time toward the client, which replace those of ``down``.
    public var trace: LinkTrace?
    /// The periods in which no data crosses the link.
    public var outages: [Outage]

    /// Creates a profile; the defaults have no effect on the link.
    public init(
        name: String,
        down: DirectionConditions = DirectionConditions(),
        up: DirectionConditions = DirectionConditions(),
        dnsDelay: Duration = .zero,
        trace: LinkTrace? = nil,
        outages: [Outage] = []
    ) {
        self.name = name
        self.down = down
        self.up = up
        self.dnsDelay = dnsDelay
        self.trace = trace
        self.outages = outages
    }

    /// A Boolean value that indicates whether the profile has no effect on the link.
    public var isPerfect: Bool {
        down == DirectionConditions() && up == DirectionConditions() && dnsDelay == .zero && trace == nil
            && outages.isEmpty
    }
}

/// The bandwidth and latency of a link over time: a list of periods that repeats from its beginning.
///
/// The form is that of the network traces which bit rate adaptation simulators use. A response is delayed once by the
/// latency of the period in which it starts.
public struct LinkTrace: Sendable, Hashable {
    /// A period of constant conditions.
    public struct Period: Sendable, Hashable {
        /// The length of the period, greater than zero.
        public var duration: Duration
        /// The bandwidth; with zero, nothing passes.
        public var bandwidth: BitRate
        /// The one-way delay of responses.
        public var latency: Duration

        /// Creates a period.
        public init(duration: Duration, bandwidth: BitRate, latency: Duration = .zero) {
            self.duration = duration
            self.bandwidth = bandwidth
            self.latency = latency
        }
    }

    /// The periods in order, at least one.
    public let periods: [Period]
    /// The end of each period, in nanoseconds from the beginning.
    let ends: [Int64]
    /// The capacity of one repetition of the trace, in units of 10^−9 bit.
    let capacity: Int128

    /// Creates a trace; the result is `nil` if there are no periods or if the duration of one is zero or negative.
    public init?(_ periods: [Period]) {
        guard !periods.isEmpty,
            periods.allSatisfy({ $0.duration.saturatingNanoseconds > 0 && $0.bandwidth.bitsPerSecond >= 0 })
        else { return nil }
        self.periods = periods
        var end: Int64 = 0
        var capacity: Int128 = 0
        ends = periods.map { period in
            end = end.addingSaturated(period.duration.saturatingNanoseconds)
            capacity +|= Int128(period.duration.saturatingNanoseconds) *| Int128(period.bandwidth.bitsPerSecond)
            return end
        }
        self.capacity = capacity
    }

    /// The duration of one repetition of the trace.
    public var duration: Duration { .nanoseconds(ends.last ?? 0) }

    /// The average bandwidth of one repetition of the trace.
    public var meanBandwidth: BitRate {
        BitRate(bitsPerSecond: Int64(clamping: capacity / Int128(max(1, ends.last ?? 1))))
    }

    /// Returns the period at a time, and the end of that period, both in nanoseconds from the beginning.
    func period(at nanoseconds: Int64) -> (period: Period, end: Int64) {
        let round = max(1, ends.last ?? 1)
        // Bounded: the duration of the trace is at least one nanosecond.
        let offset = nanoseconds % round
        var (low, high) = (0, ends.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] > offset { high = middle } else { low = middle + 1 }
        }
        return (periods[low], nanoseconds.addingSaturated(ends[low] -| offset))
    }
}
