/// The throughput and direction of the last switches, from which causes and oscillations are determined.
///
/// On a link with a throughput between two rungs, the higher one can be played until the buffer is empty, then the
/// lower one until it is full again, and so on. That maximizes the mean quality, but the quality changes constantly.
/// Therefore each oscillation increases the cost of the next switch up, until the throughput of the link changes.
struct SwitchHistory: Sendable, Hashable {
    /// The relative change of the throughput from which it counts as the cause of a switch.
    private static let tolerance = 0.1
    /// The factor by which the throughput has to change for the link to count as another one.
    private static let linkChangeFactor = 1.25
    /// The number of segments without an oscillation after which one is forgotten, about 20 minutes.
    private static let segmentsPerForgottenOscillation = 300
    /// The maximum number of oscillations that are counted, at which the switch penalty is about 1000.
    private static let maximumOscillationCount = 10

    /// The throughput at the last switch, in bits per second.
    private var throughput: Double?
    /// The throughput when the count of oscillations began, in bits per second.
    private var reference = 0.0
    private var wasLastSwitchUp: Bool?
    private var oscillationCount = 0
    /// The number of segments since the last oscillation.
    private var segmentsSinceOscillation = 0

    /// The additional cost of a switch to a rung above the throughput, as a multiple of the normal cost, zero or more.
    var switchPenalty: Double { Double((1 << oscillationCount) - 1) }

    /// Returns the cause of a decision.
    ///
    /// - Parameters:
    ///   - rung: The chosen rung.
    ///   - context: The selection context of the decision.
    ///   - throughput: The expected throughput in bits per second, or `nil` if it is unknown.
    /// - Returns: The cause.
    func cause(
        of rung: Int,
        in context: SelectionContext,
        throughput: Double?
    ) -> SwitchDecision.Cause {
        guard let current = context.validPreviousRung else { return .start }
        if rung == current { return .stay }
        if !context.restriction.isAllowed(current) { return .restriction }
        let before = self.throughput ?? 0
        let now = throughput ?? 0
        if rung > current { return now > before * (1 + Self.tolerance) ? .throughputRose : .bufferHigh }
        return now < before * (1 - Self.tolerance) ? .throughputFell : .bufferLow
    }

    /// Records a decision.
    mutating func record(_ rung: Int, throughput: Double?, in context: SelectionContext) {
        updateOscillationCount(throughput: throughput ?? 0)
        if rung != context.validPreviousRung || self.throughput == nil { self.throughput = throughput }
        guard rung != context.validPreviousRung else { return }
        guard let current = context.validPreviousRung else { return }
        let isRise = rung > current
        if let wasLastSwitchUp, wasLastSwitchUp != isRise {
            oscillationCount = min(oscillationCount + 1, Self.maximumOscillationCount)
            segmentsSinceOscillation = 0
        }
        wasLastSwitchUp = isRise
    }

    /// Counts a segment, and resets or reduces the count of oscillations if the link has changed or none occurred for
    /// long.
    private mutating func updateOscillationCount(throughput: Double) {
        segmentsSinceOscillation += 1
        if throughput > reference * Self.linkChangeFactor || throughput * Self.linkChangeFactor < reference {
            reference = throughput
            oscillationCount = 0
            wasLastSwitchUp = nil
            segmentsSinceOscillation = 0
        } else if segmentsSinceOscillation >= Self.segmentsPerForgottenOscillation {
            oscillationCount = max(0, oscillationCount - 1)
            segmentsSinceOscillation = 0
        }
    }
}
