/// The inputs of a plan; a plan remains valid while they change little.
struct PlanKey: Sendable, Hashable {
    /// The indexes of the rungs in the plan, ascending, at least one and at most ``maximumRungCount``.
    let rungs: [Int]
    /// The real-time duration of a segment at the playback rate, in seconds.
    let segment: Double
    /// The real-time duration of a full buffer at the playback rate, in seconds.
    let capacity: Double
    /// The playback rate: at 2, a segment lasts half as long and has the same size.
    let rate: Double
    /// The time from sending a request to the first byte, in seconds.
    let latency: Double

    /// The maximum number of rungs in a plan; if there are more, the rungs that differ least are left out.
    static let maximumRungCount = 12
    /// The maximum relative change of the segment duration for which a plan remains valid.
    static let segmentTolerance = 0.25
    /// The maximum relative change of the buffer capacity for which a plan remains valid.
    static let capacityTolerance = 0.15

    /// The maximum relative change of the playback rate for which a plan remains valid.
    static let rateTolerance = 0.1
    /// The maximum change of the latency for which a plan remains valid, as a fraction of the segment duration.
    static let latencyTolerance = 0.05
    /// The unit to which latencies are rounded so that sessions share plans, as a fraction of the segment duration.
    static let latencyStep = 0.025
    /// The latency up to which ``minimumLatency`` is used, as a fraction of the segment duration.
    ///
    /// The link model was fitted with that latency.
    static let minimumLatencyThreshold = 0.05
    /// The minimum latency of a plan, in seconds.
    static let minimumLatency = 0.05
    /// The maximum latency of a plan, in segment durations.
    static let maximumLatency = 2.0

    /// Creates the key for a selection context.
    ///
    /// - Parameters:
    ///   - context: The selection context immediately before the request.
    ///   - latency: The expected time from a request to its first byte, in seconds.
    init(_ context: SelectionContext, latency: Double) {
        rungs = Self.reducedRungs(context.allowedRungs, of: context.ladder)
        segment = context.segmentSeconds
        rate = context.clampedPlaybackRate
        // Beyond a few minutes, a larger buffer does not change a choice.
        capacity = min(context.capacitySeconds, max(300, 2 * context.segmentSeconds))
        // If the latency exceeds the duration of a segment, no rung can be played without stalls, and the exact latency
        // does not matter.
        let steps = (min(latency / segment, Self.maximumLatency) / Self.latencyStep).rounded()
        let isShort = latency <= Self.minimumLatencyThreshold * segment
        self.latency = isShort ? Self.minimumLatency : steps * Self.latencyStep * segment
    }

    /// Returns whether a plan for this key is also valid for another key.
    func isValid(for other: PlanKey) -> Bool {
        rungs == other.rungs && abs(other.segment - segment) <= Self.segmentTolerance * segment
            && abs(other.capacity - capacity) <= Self.capacityTolerance * capacity
            && abs(other.rate - rate) <= Self.rateTolerance * rate
            && abs(other.latency - latency) <= Self.latencyTolerance * segment
    }

    /// Leaves out rungs within 5 % of the next lower one, and then selects the rest at even distances.
    private static func reducedRungs(_ open: [Int], of ladder: Ladder) -> [Int] {
        guard open.count > maximumRungCount else { return open }
        var kept: [Int] = []
        for rung in open {
            guard let last = kept.last, ladder.bitsPerSecond(of: rung) < 1.05 * ladder.bitsPerSecond(of: last) else {
                kept.append(rung)
                continue
            }
        }
        guard kept.count > maximumRungCount else { return kept }
        // Bounded: the number of rungs is a constant.
        return (0..<maximumRungCount).map { kept[$0 * (kept.count - 1) / (maximumRungCount - 1)] }
    }
}
