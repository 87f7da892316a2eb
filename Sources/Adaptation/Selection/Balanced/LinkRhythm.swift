/// A detector of links whose rate oscillates, with their mean rate.
///
/// A ``LinkBelief`` follows the rate. A link whose rate changes direction about once per segment cannot be followed: a
/// measurement is out of date before the next segment has been loaded. On such a link the buffer bridges the slow
/// periods, and the mean rate is relevant.
struct LinkRhythm: Sendable {
    /// A part of a transfer.
    struct Piece {
        let bitsPerSecond: Double
        /// The base-2 logarithm of the rate, clamped to the grid of the ``LinkModel``.
        let logarithm: Double
        /// The duration of the transfer, in seconds.
        let seconds: Double
        /// The time at which the part ended, in seconds.
        let end: Double
    }

    /// The distance from the last extreme, in octaves, from which a rate counts as a reversal; smaller changes are
    /// noise.
    private static let swing = 2.2
    /// The number of reversals per segment below which the rate is followed.
    ///
    /// This and ``mostTurns`` were fitted to square waves and measured links; the latter have 0.1 reversals per second.
    private static let fewestTurns = 0.33
    /// The number of reversals per segment above which only the mean rate counts.
    private static let mostTurns = 0.43
    /// The time without a reversal after which an oscillation has ended, in mean intervals between reversals.
    ///
    /// The average number of reversals decreases only later.
    private static let patience = 1.5
    /// The duration of the assumed period without reversals before the first measurement, in seconds.
    private static let calmBefore = 20.0

    /// The average number of reversals per second, weighted by elapsed time.
    private var turns = FadingAverage(halfLife: 30)
    /// The average rate in bits per second, weighted by transfer time.
    private var rate = FadingAverage(halfLife: 20)
    /// The base-2 logarithm of the highest or lowest rate since the last reversal.
    private var extreme: Double?
    private var isRising = true
    /// The end of the last part, in seconds.
    private var end: Double?
    /// The time since the last reversal, in seconds.
    private var stretch = 0.0

    /// The mean rate of the link in bits per second, or `nil` before the first measurement.
    var meanRate: Double? { rate.value }

    /// Adds a part of a transfer.
    mutating func add(_ piece: Piece) {
        rate.add(piece.bitsPerSecond, weight: piece.seconds)
        let passed = max(0.001, end.map { piece.end - $0 } ?? piece.seconds)
        end = piece.end
        stretch += passed
        let isTurn = turned(at: piece.logarithm)
        if isTurn { stretch = 0 }
        turns.add(isTurn ? 1 / passed : 0, weight: passed)
    }

    /// Returns the weight of the mean rate relative to the followed rate, 0 to 1, for a segment duration in seconds.
    func weightOfMean(segment: Double) -> Double {
        guard let frequency = turns.value(after: 0, weighing: Self.calmBefore), stretch * frequency < Self.patience
        else { return 0 }
        let share = (frequency * segment - Self.fewestTurns) / (Self.mostTurns - Self.fewestTurns)
        return min(max(0, share), 1)
    }

    /// Updates the extreme and returns whether the direction of change is reversed.
    private mutating func turned(at logarithm: Double) -> Bool {
        guard let extreme else {
            self.extreme = logarithm
            return false
        }
        let further = isRising ? logarithm - extreme : extreme - logarithm
        let isTurn = further < -Self.swing
        if isTurn { isRising.toggle() }
        if isTurn || further > 0 { self.extreme = logarithm }
        return isTurn
    }
}
