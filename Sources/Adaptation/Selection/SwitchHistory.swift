/// The throughput and direction of the last switches, from which causes and oscillations are determined.
///
/// On a link with a throughput between two rungs, the higher one can be played until the buffer is empty, then the
/// lower one until it is full again, and so on. That maximizes the mean quality, but the quality changes constantly.
/// Therefore each oscillation increases the cost of the next switch up, until the throughput of the link changes.
struct SwitchHistory: Sendable, Hashable {
    /// The relative change of the throughput from which it counts as the cause of a switch.
    private static let tolerance = 0.1
    /// The factor by which the throughput has to change for the link to count as another one.
    private static let sameLink = 1.25
    /// The number of segments without an oscillation after which one is forgotten, about 20 minutes.
    private static let patience = 300
    /// The maximum number of oscillations that are counted, at which the switch penalty is about 1000.
    private static let mostSwings = 10

    /// The throughput at the last switch, in bits per second.
    private var throughput: Double?
    /// The throughput when the count of oscillations began, in bits per second.
    private var reference = 0.0
    private var lastWasRise: Bool?
    private var swings = 0
    /// The number of segments since the last oscillation.
    private var calm = 0

    /// The additional cost of a switch to a rung above the throughput, as a multiple of the normal cost, zero or more.
    var weariness: Double { Double((1 << swings) - 1) }

    /// Returns the cause of a decision.
    ///
    /// - Parameters:
    ///   - rung: The chosen rung.
    ///   - situation: The situation of the decision.
    ///   - throughput: The expected throughput in bits per second, or `nil` if it is unknown.
    /// - Returns: The cause.
    func cause(
        of rung: Int,
        in situation: SelectionSituation,
        throughput: Double?
    ) -> SwitchDecision.Cause {
        guard let current = situation.currentRung else { return .start }
        if rung == current { return .stay }
        if !situation.restriction.isOpen(current) { return .cap }
        let before = self.throughput ?? 0
        let now = throughput ?? 0
        if rung > current { return now > before * (1 + Self.tolerance) ? .throughputRose : .bufferRich }
        return now < before * (1 - Self.tolerance) ? .throughputFell : .bufferLow
    }

    /// Records a decision.
    mutating func note(_ rung: Int, throughput: Double?, in situation: SelectionSituation) {
        count(throughput ?? 0)
        if rung != situation.currentRung || self.throughput == nil { self.throughput = throughput }
        guard rung != situation.currentRung else { return }
        guard let current = situation.currentRung else { return }
        let isRise = rung > current
        if let lastWasRise, lastWasRise != isRise {
            swings = min(swings + 1, Self.mostSwings)
            calm = 0
        }
        lastWasRise = isRise
    }

    /// Counts a segment, and resets or reduces the count of oscillations if the link has changed or none occurred for
    /// long.
    private mutating func count(_ throughput: Double) {
        calm += 1
        if throughput > reference * Self.sameLink || throughput * Self.sameLink < reference {
            reference = throughput
            swings = 0
            lastWasRise = nil
            calm = 0
        } else if calm >= Self.patience {
            swings = max(0, swings - 1)
            calm = 0
        }
    }
}
