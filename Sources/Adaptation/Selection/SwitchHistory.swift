/// What the last switches were made with: to say what the next one is due to, and to see a swing.
///
/// On a link that lies between two rungs, the higher one can be played while the buffer lasts, then the lower one until
/// it is full again, and so on. It is the most that such a link can show, and a picture that never rests. So each swing
/// makes the next one dearer, until the link changes.
struct SwitchHistory: Sendable, Hashable {
    /// A change of throughput by less than this share is not what a switch is due to.
    private static let tolerance = 0.1
    /// A link that became faster or slower by this factor is another one.
    private static let sameLink = 1.25
    /// How many segments without a swing make up for one: some twenty minutes.
    private static let patience = 300
    /// No more swings than this are counted; they cost a thousand times as much then.
    private static let mostSwings = 10

    /// Bits a second at the last switch.
    private var throughput: Double?
    /// Bits a second when swings began to be counted.
    private var reference = 0.0
    private var lastWasRise: Bool?
    private var swings = 0
    /// Segments since the last swing.
    private var calm = 0

    /// How many times more than usual it costs to rise above what the link carries, 0 and up.
    var weariness: Double { Double((1 << swings) - 1) }

    /// Why a rung is chosen.
    ///
    /// - Parameters:
    ///   - rung: The choice.
    ///   - situation: The moment.
    ///   - throughput: What is expected of the link, in bits a second; `nil` where nothing is known.
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

    /// Keeps what a choice was made with.
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

    /// Counts a segment, and forgets swings that belonged to another link or are long ago.
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
