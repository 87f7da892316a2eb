/// What a plan is made for: as long as this stays about the same, the plan holds.
struct PlanKey: Sendable, Hashable {
    /// The rungs of the ladder that it plans with, ascending, 1 to ``mostRungs``.
    let rungs: [Int]
    /// How long a segment lasts as it plays, in seconds.
    let segment: Double
    /// How long a full buffer lasts, in seconds.
    let capacity: Double
    /// Media seconds a second: a segment that plays twice as fast lasts half as long, and is as large.
    let rate: Double
    /// From sending a request to the first byte, in seconds.
    let latency: Double

    /// More rungs than this are thinned out: next to each other, they hardly differ.
    static let mostRungs = 12
    /// A segment that is longer or shorter by less than this share needs no new plan.
    static let segmentTolerance = 0.25
    /// A capacity that is larger or smaller by less than this share needs no new plan.
    static let capacityTolerance = 0.15

    /// A playback rate that is higher or lower by less than this share needs no new plan.
    static let rateTolerance = 0.1
    /// A latency that is longer or shorter by less than this share of a segment needs no new plan.
    static let latencyTolerance = 0.05
    /// Latencies are multiples of this share of a segment, so that sessions share plans.
    static let latencyStep = 0.025
    /// A latency of no more than this share of a segment counts as ``leastLatency``, which the link's model was fitted to.
    static let shortLatency = 0.05
    /// The least latency of a plan, in seconds.
    static let leastLatency = 0.05
    /// The longest latency of a plan, in segments.
    static let mostLatency = 2.0

    /// Makes the key of a situation.
    ///
    /// - Parameters:
    ///   - situation: The moment.
    ///   - latency: Seconds until a request's first byte, as expected.
    init(_ situation: SelectionSituation, latency: Double) {
        rungs = Self.thinned(situation.openRungs, of: situation.ladder)
        segment = situation.segmentSeconds
        rate = situation.playbackRate
        // Beyond a few minutes, a fuller buffer changes nothing.
        capacity = min(situation.capacitySeconds, max(300, 2 * situation.segmentSeconds))
        // Beyond a segment, nothing keeps up any more, and longer makes no difference to a choice.
        let steps = (min(latency / segment, Self.mostLatency) / Self.latencyStep).rounded()
        let isShort = latency <= Self.shortLatency * segment
        self.latency = isShort ? Self.leastLatency : steps * Self.latencyStep * segment
    }

    /// Whether a plan for this key serves for another.
    func serves(_ other: PlanKey) -> Bool {
        rungs == other.rungs && abs(other.segment - segment) <= Self.segmentTolerance * segment
            && abs(other.capacity - capacity) <= Self.capacityTolerance * capacity
            && abs(other.rate - rate) <= Self.rateTolerance * rate
            && abs(other.latency - latency) <= Self.latencyTolerance * segment
    }

    /// Leaves out rungs within 5 % of the one below, and then spreads what is left over the whole.
    private static func thinned(_ open: [Int], of ladder: Ladder) -> [Int] {
        guard open.count > mostRungs else { return open }
        var kept: [Int] = []
        for rung in open {
            guard let last = kept.last, ladder.bitsPerSecond(of: rung) < 1.05 * ladder.bitsPerSecond(of: last) else {
                kept.append(rung)
                continue
            }
        }
        guard kept.count > mostRungs else { return kept }
        // Bounded: the number of rungs is a constant.
        return (0..<mostRungs).map { kept[$0 * (kept.count - 1) / (mostRungs - 1)] }
    }
}
