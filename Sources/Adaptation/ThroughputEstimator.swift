public import MediaTiming

/// How fast the network has been lately: what a choice of variant stands on.
///
/// Two averages over the time in which bytes flowed, one fast and one slow; the lower one counts. So a fall is followed
/// within a few segments, and a rise is believed when it has lasted. Idle time and the wait for first bytes do not
/// count. Transfers that run side by side share the link: their bytes are added up over the time that any of them ran.
/// While a long one still runs beside others, its part is missing, unless it is reported in pieces.
///
/// A value without a clock: times are those of the samples. Samples may come in any order within an hour;
/// one that lies further back says that the clock was set, and counts as new. Memory is bounded. No sample can trap.
public struct ThroughputEstimator: Sendable {
    /// How samples are weighed.
    public let options: Options
    /// What was known before the first sample, in bits a second.
    private let initial: Double?

    /// The recent past, which later samples can still change.
    private var timeline = BusyTimeline()
    /// What no longer changes.
    private var settled: ThroughputAverages
    /// Responses without a rate of their own.
    private var instants = InstantArrivals()
    /// The rate that those reached at least, had all of their latency been transfer.
    private var lowerBound = FadingAverage(halfLife: 1)
    /// The latest end of any sample, in nanoseconds.
    private var horizon = Int64.min
    /// Seconds, each request with the weight 1.
    private var latencies: FadingAverage

    /// Makes an estimator without samples.
    ///
    /// - Parameters:
    ///   - initial: An estimate kept from an earlier time on the same network (``ThroughputMemory``), if there is one.
    ///     It is all there is at first, and is worn down as samples arrive.
    ///   - options: How samples are weighed.
    public init(initial: BitRate? = nil, options: Options = Options()) {
        self.options = options
        self.initial = initial.map { min(Double($0.bitsPerSecond), BusyTimeline.fastestBitsPerSecond) }
        settled = ThroughputAverages(
            fast: FadingAverage(halfLife: options.fastHalfLife.clampedSeconds),
            slow: FadingAverage(halfLife: options.slowHalfLife.clampedSeconds)
        )
        latencies = FadingAverage(halfLife: Double(max(1, options.latencyHalfLife)))
    }

    /// Takes a sample into account; cached ones are left out.
    ///
    /// - Complexity: O(*n* log *n*) in the transfers of the recent past, of which at most 128 are kept.
    public mutating func add(_ sample: ThroughputSample) {
        guard !sample.isCached else { return }
        if sample.latency > .zero {
            // An hour at most: a request that waited longer was forgotten, not answered.
            latencies.add(min(sample.latency, .seconds(3_600)).clampedSeconds, weight: 1)
        }
        let start = sample.start.clampedNanoseconds
        let end = max(start, sample.end.clampedNanoseconds)
        let bits = Double(sample.bytes.bytes) * 8
        beginAnewIfClockWasSet(end)
        if end -| start < options.shortestTransfer.clampedNanoseconds || start == end {
            let latency = max(.zero, sample.latency).clampedNanoseconds
            add(InstantArrivals.Arrival(request: start -| latency, moment: end, bits: bits))
        } else {
            pour(bits, from: start, to: end)
        }
    }

    /// The estimate: cautious, without latency; `nil` while nothing is known.
    ///
    /// While only responses have come that were too short to have a rate, it is what they reached with their latency
    /// counted as transfer: a lower bound, but better than nothing. Zero is a true answer in an outage.
    public var estimate: BitRate? {
        let averages = currentAverages
        let cautious: Double?
        if let initial {
            // An estimate from earlier that was too low even for latency and transfer together is out of date.
            let prior = max(initial, lowerBound.value ?? 0)
            cautious = averages.lower { $0.value(after: prior, weighing: initialWeight) ?? prior }
        } else {
            cautious = averages.lower { $0.value } ?? lowerBound.value
        }
        return cautious.map { BitRate(bitsPerSecond: Int64(saturating: $0)) }
    }

    /// The average wait for the first byte, by requests; `nil` while none was measured.
    public var latency: Duration? { latencies.value.map { .seconds($0) } }

    /// How much transfer time the estimate stands on, the older the less; it does not grow beyond 1.44 slow half-lives.
    ///
    /// The initial estimate has no part in it.
    public var sampleWeight: Duration { .seconds(currentAverages.slow.weight) }

    /// The share that samples have in the estimate, 0 to 1.
    ///
    /// Without an initial estimate, it is what the share would be with one: a half after half a second of transfer.
    public var confidence: Double {
        let slow = currentAverages.slow
        guard slow.weight > 0 else { return 0 }
        return slow.weight / (slow.weight + initialWeight * slow.remainder)
    }

    private var initialWeight: Double { max(0, options.initialWeight.clampedSeconds) }
}

extension ThroughputEstimator {
    /// The full weight in bits.
    private var fullTrust: Double { Double(options.fullWeight.bytes) * 8 }

    /// The averages with the recent past in them.
    private var currentAverages: ThroughputAverages {
        var averages = settled
        averages.add(timeline.measurements(fullTrust: fullTrust))
        return averages
    }

    /// Counts a transfer, and with it the responses that came at once while it ran.
    private mutating func pour(_ bits: Double, from start: Int64, to end: Int64) {
        timeline.pour(bits + instants.takeBits(after: start, through: end), from: start, to: end)
        settled.add(timeline.removeExcess(fullTrust: fullTrust))
    }

    /// Counts a response that came at once.
    private mutating func add(_ arrival: InstantArrivals.Arrival) {
        if timeline.isBusy(before: arrival.moment) {
            timeline.pourIntoBusyTime(arrival.bits, from: arrival.request, to: arrival.moment)
            settled.add(timeline.removeExcess(fullTrust: fullTrust))
            return
        }
        lowerBound.add(arrival.bitsPerSecondWithLatency, weight: arrival.secondsWithLatency)
        let shortest = options.shortestTransfer.clampedNanoseconds
        let longest = options.longestGap.clampedNanoseconds
        let beginning = instants.beginning(of: arrival, shortest: shortest, longest: longest)
        instants.insert(arrival)
        if let beginning { pour(0, from: beginning, to: arrival.moment) }
    }

    /// Begins a new timeline where a sample lies too far back for mere disorder.
    ///
    /// Otherwise one sample from a wrong future would make all true ones too old to count.
    private mutating func beginAnewIfClockWasSet(_ end: Int64) {
        if horizon > .min, end < horizon -| BusyTimeline.longestTransfer {
            settled.add(timeline.removeAll(fullTrust: fullTrust))
            instants = InstantArrivals()
            horizon = end
        }
        horizon = max(horizon, end)
    }
}
