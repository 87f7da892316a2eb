/// How often a link turns from fast to slow and back, and what it carries on the whole.
///
/// A ``LinkBelief`` follows the rate. A link that turns about once a segment cannot be followed: what was measured is
/// over before the next segment has come. Then the buffer carries its slow times, and the mean is what counts.
struct LinkRhythm: Sendable {
    /// One piece of a transfer.
    struct Piece {
        let bitsPerSecond: Double
        /// The logarithm of the rate, on the grid of the ``LinkModel``.
        let logarithm: Double
        /// How long it took to come, in seconds.
        let seconds: Double
        /// When the last of it came, in seconds on the clock.
        let end: Double
    }

    /// A rate so many octaves away from the last extreme is a turn: less is noise, which the belief knows.
    private static let swing = 2.2
    /// With fewer turns than this in a segment's time, the link is followed.
    ///
    /// This and the next number are fitted on square waves and measured links: those have a tenth of a turn a second.
    private static let fewestTurns = 0.33
    /// With more turns than this in a segment's time, only the mean counts.
    private static let mostTurns = 0.43
    /// A stretch so many times as long as others ends the rhythm, before the average tells.
    private static let patience = 1.5
    /// What is known before the first piece: that nothing turned for so many seconds.
    private static let calmBefore = 20.0

    /// Turns a second; time on the clock counts.
    private var turns = FadingAverage(halfLife: 30)
    /// Bits a second; time in which bits flow counts.
    private var rate = FadingAverage(halfLife: 20)
    /// The highest or lowest rate since the last turn, a logarithm.
    private var extreme: Double?
    private var isRising = true
    /// When the last piece ended, in seconds on the clock.
    private var end: Double?
    /// Seconds since the last turn.
    private var stretch = 0.0

    /// What the link carries on the whole, in bits a second; `nil` while nothing was measured.
    var meanRate: Double? { rate.value }

    /// Takes a piece of a transfer into account.
    mutating func add(_ piece: Piece) {
        rate.add(piece.bitsPerSecond, weight: piece.seconds)
        let passed = max(0.001, end.map { piece.end - $0 } ?? piece.seconds)
        end = piece.end
        stretch += passed
        let isTurn = turned(at: piece.logarithm)
        if isTurn { stretch = 0 }
        turns.add(isTurn ? 1 / passed : 0, weight: passed)
    }

    /// How much the mean counts beside the belief, 0 to 1, for segments that last so many seconds.
    func weightOfMean(segment: Double) -> Double {
        guard let frequency = turns.value(after: 0, weighing: Self.calmBefore), stretch * frequency < Self.patience
        else { return 0 }
        let share = (frequency * segment - Self.fewestTurns) / (Self.mostTurns - Self.fewestTurns)
        return min(max(0, share), 1)
    }

    /// Whether the rate goes the other way now.
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
