public import MediaTiming

/// A cautious estimate of the current network throughput, for the selection of a variant.
///
/// The estimate is the lower of two moving averages over the time in which bytes were received, one fast and one slow.
/// A drop is therefore followed within a few segments, and an increase only after it has lasted. Idle time and the time
/// to the first byte do not count. Concurrent transfers share the link: their bytes are added up over the time in which
/// any of them ran. The bytes of a running transfer do not count until they are reported; therefore report a long transfer
/// in parts.
///
/// The estimator has no clock: times are those of the samples. Samples may be added in any order within an hour. A
/// sample that is earlier by more than that indicates that the clock was set back, and counts as new. The memory
/// is limited, and no sample causes a trap.
public struct ThroughputEstimator: Sendable {
    /// The weights and thresholds of the estimator.
    public let options: Options
    /// The estimate before the first sample, in bits per second.
    private let initial: Double?

    /// The recent transfers, which later samples can still change.
    private var timeline = BusyTimeline()
    /// The averages of the transfers that can no longer change.
    private var settled: ThroughputAverages
    /// The responses that arrived too fast for a bit rate to be measured.
    private var instantArrivals = InstantArrivals()
    /// The lower bound on the bit rate of those responses, with their whole latency counted as transfer time.
    private var lowerBound = MovingAverage(halfLife: 1)
    /// The latest end of any sample, in nanoseconds.
    private var latestEnd = Int64.min
    /// The average latency in seconds; each request has the weight 1.
    private var latencies: MovingAverage

    /// Creates an estimator without samples.
    ///
    /// - Parameters:
    ///   - initial: The estimate of an earlier session on the same network (``ThroughputMemory``), if there is one. It
    ///     determines the estimate at first and loses weight as samples are added.
    ///   - options: The weights and thresholds.
    public init(initial: BitRate? = nil, options: Options = Options()) {
        self.options = options
        self.initial = initial.map { min(Double($0.bitsPerSecond), BusyTimeline.maximumBitsPerSecond) }
        settled = ThroughputAverages(
            fast: MovingAverage(halfLife: options.fastHalfLife.clampedSeconds),
            slow: MovingAverage(halfLife: options.slowHalfLife.clampedSeconds)
        )
        latencies = MovingAverage(halfLife: Double(max(1, options.latencyHalfLife)))
    }

    /// Adds a sample; samples from a cache are ignored.
    ///
    /// - Complexity: O(*n* log *n*) in the transfers of the recent past, of which at most 128 are kept.
    public mutating func add(_ sample: ThroughputSample) {
        guard !sample.isCached else { return }
        if sample.latency > .zero {
            // At most an hour: a longer latency is a wrong time, not a response time.
            latencies.add(min(sample.latency, .seconds(3_600)).clampedSeconds, weight: 1)
        }
        let start = sample.start.clampedNanoseconds
        let end = max(start, sample.end.clampedNanoseconds)
        let bits = Double(sample.bytes.bytes) * 8
        resetIfClockWasSetBack(end: end)
        if end -| start < options.minimumTransferDuration.clampedNanoseconds || start == end {
            let latency = max(.zero, sample.latency).clampedNanoseconds
            add(InstantArrivals.Arrival(request: start -| latency, time: end, bits: bits))
        } else {
            addTransfer(bits: bits, from: start, to: end)
        }
    }

    /// The estimated throughput, without latency; `nil` before the first measurement.
    ///
    /// As long as all responses arrived too fast for a bit rate to be measured, the estimate is the lower bound that results
    /// from counting their latency as transfer time. The estimate can be zero during an outage.
    public var estimate: BitRate? {
        let averages = currentAverages
        let cautious: Double?
        if let initial {
            // An initial estimate below the lower bound is out of date.
            let prior = max(initial, lowerBound.value ?? 0)
            cautious = averages.lower { $0.value(withPrior: prior, weight: initialWeight) ?? prior }
        } else {
            cautious = averages.lower { $0.value } ?? lowerBound.value
        }
        return cautious.map { BitRate(bitsPerSecond: Int64(saturating: $0)) }
    }

    /// The average time to the first byte, weighted by requests, or `nil` if none was measured.
    public var latency: Duration? { latencies.value.map { .seconds($0) } }

    /// The decayed transfer time on which the estimate is based, at most 1.44 half-lives of the slow average.
    ///
    /// The initial estimate is not included.
    public var sampleWeight: Duration { .seconds(currentAverages.slow.weight) }

    /// The weight of the samples in the estimate relative to the initial estimate, from 0 to 1.
    ///
    /// Without an initial estimate, it is computed as if there were one: 0.5 after half a second of transfer by
    /// default.
    public var confidence: Double {
        let slow = currentAverages.slow
        guard slow.weight > 0 else { return 0 }
        return slow.weight / (slow.weight + initialWeight * slow.priorDecay)
    }

    private var initialWeight: Double { max(0, options.initialWeight.clampedSeconds) }
}

extension ThroughputEstimator {
    /// The number of bits from which a busy interval has its full weight.
    private var fullWeightBits: Double { Double(options.fullWeightSize.bytes) * 8 }

    /// The averages including the recent transfers.
    private var currentAverages: ThroughputAverages {
        var averages = settled
        averages.add(timeline.measurements(fullWeightBits: fullWeightBits))
        return averages
    }

    /// Adds a transfer, together with the responses that arrived too fast for a bit rate to be measured while it ran.
    private mutating func addTransfer(bits: Double, from start: Int64, to end: Int64) {
        timeline.addTransfer(bits: bits + instantArrivals.takeBits(after: start, through: end), from: start, to: end)
        settled.add(timeline.removeExcess(fullWeightBits: fullWeightBits))
    }

    /// Adds a response that arrived too fast for a bit rate to be measured.
    private mutating func add(_ arrival: InstantArrivals.Arrival) {
        if timeline.isBusy(before: arrival.time) {
            timeline.addToBusyTime(bits: arrival.bits, from: arrival.request, to: arrival.time)
            settled.add(timeline.removeExcess(fullWeightBits: fullWeightBits))
            return
        }
        lowerBound.add(arrival.bitsPerSecondWithLatency, weight: arrival.secondsWithLatency)
        let shortest = options.minimumTransferDuration.clampedNanoseconds
        let longest = options.maximumGap.clampedNanoseconds
        let beginning = instantArrivals.transferStart(of: arrival, minimumGap: shortest, maximumGap: longest)
        instantArrivals.insert(arrival)
        if let beginning { addTransfer(bits: 0, from: beginning, to: arrival.time) }
    }

    /// Starts a new timeline if a sample is too old to be merely out of order.
    ///
    /// Otherwise, after one sample with a time far in the future, all correct samples would be too old to count.
    private mutating func resetIfClockWasSetBack(end: Int64) {
        if latestEnd > .min, end < latestEnd -| BusyTimeline.maximumTransferDuration {
            settled.add(timeline.removeAll(fullWeightBits: fullWeightBits))
            instantArrivals = InstantArrivals()
            latestEnd = end
        }
        latestEnd = max(latestEnd, end)
    }
}
