public import MediaTiming

/// What a network link does to what crosses it: bandwidth, latency and loss each way, a delay for names, and how that
/// changes over time.
///
/// The figures mean what those of Apple's Network Link Conditioner mean. Latency is paid once per request each way: up for
/// the question, down for the answer. The bandwidth is that of the bodies; what is sent again because it was lost does not
/// take from it.
public struct LinkProfile: Sendable, Hashable {
    /// One direction of a link.
    public struct Direction: Sendable, Hashable {
        /// How fast bytes cross, `nil` for as fast as they come; zero lets nothing through.
        public var bandwidth: BitRate?
        /// How long each byte is on its way.
        public var latency: Duration
        /// The share of packets that get lost, 0 to 1; with 1 nothing arrives.
        public var loss: Double

        /// Makes a direction; what is not given is perfect.
        public init(bandwidth: BitRate? = nil, latency: Duration = .zero, loss: Double = 0) {
            self.bandwidth = bandwidth
            self.latency = latency
            self.loss = loss
        }
    }

    /// A stretch of time in which nothing crosses the link.
    public struct Outage: Sendable, Hashable {
        /// When it begins, from the moment the profile came into force.
        public var start: Duration
        /// How long it lasts.
        public var duration: Duration
        /// From one beginning to the next, more than ``duration``; `nil` for an outage that happens once.
        public var interval: Duration?

        /// Makes an outage.
        public init(start: Duration, duration: Duration, interval: Duration? = nil) {
            self.start = start
            self.duration = duration
            self.interval = interval
        }
    }

    /// What people call it.
    public var name: String
    /// Towards us.
    public var down: Direction
    /// Away from us.
    public var up: Direction
    /// How long the first use of a host name takes.
    public var dnsDelay: Duration
    /// How the bandwidth and the latency of ``down`` change over time; replaces the fixed ones.
    public var trace: LinkTrace?
    /// When nothing crosses at all.
    public var outages: [Outage]

    /// Makes a profile; what is not given is perfect.
    public init(
        name: String,
        down: Direction = Direction(),
        up: Direction = Direction(),
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

    /// Whether it leaves everything as it is.
    public var isPerfect: Bool {
        down == Direction() && up == Direction() && dnsDelay == .zero && trace == nil && outages.isEmpty
    }
}

/// How a link changes over time: one period after the other, and from the beginning again at the end.
///
/// The form of the traces that the field's simulators use. The latency of the period in which a request is answered is paid
/// once for it.
public struct LinkTrace: Sendable, Hashable {
    /// A stretch of time in which the link stays the same.
    public struct Period: Sendable, Hashable {
        /// How long it lasts, more than zero.
        public var duration: Duration
        /// How fast bytes cross; zero lets nothing through.
        public var bandwidth: BitRate
        /// How long an answer is on its way.
        public var latency: Duration

        /// Makes a period.
        public init(duration: Duration, bandwidth: BitRate, latency: Duration = .zero) {
            self.duration = duration
            self.bandwidth = bandwidth
            self.latency = latency
        }
    }

    /// The periods, at least one.
    public let periods: [Period]
    /// When each ends, in nanoseconds from the beginning.
    let ends: [Int64]
    /// What a whole round carries, in bits times a billion.
    let capacity: Int128

    /// Makes a trace; `nil` without periods, or with one that lasts no time.
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

    /// How long a whole round takes.
    public var duration: Duration { .nanoseconds(ends.last ?? 0) }

    /// The average bandwidth of a whole round.
    public var meanBandwidth: BitRate {
        BitRate(bitsPerSecond: Int64(clamping: capacity / Int128(max(1, ends.last ?? 1))))
    }

    /// The period that a moment lies in, and when it ends, both in nanoseconds from the beginning.
    func period(at nanoseconds: Int64) -> (period: Period, end: Int64) {
        let round = max(1, ends.last ?? 1)
        // Bounded: a round lasts a nanosecond at least.
        let offset = nanoseconds % round
        var (low, high) = (0, ends.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] > offset { high = middle } else { low = middle + 1 }
        }
        return (periods[low], nanoseconds.addingSaturated(ends[low] -| offset))
    }
}
