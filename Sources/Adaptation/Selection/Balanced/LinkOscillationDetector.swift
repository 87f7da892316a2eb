/// A detector of links whose rate oscillates, with their mean rate.
///
/// A ``LinkStateDistribution`` follows the rate. A link whose rate changes direction about once per segment cannot be followed: a
/// measurement is out of date before the next segment has been loaded. On such a link the buffer bridges the slow
/// periods, and the mean rate is relevant.
struct LinkOscillationDetector: Sendable {
    /// A part of a transfer.
    struct Piece {
        let bitsPerSecond: Double
        /// The base-2 logarithm of the rate, clamped to the grid of the ``RateModel``.
        let logarithm: Double
        /// The duration of the transfer, in seconds.
        let seconds: Double
        /// The time at which the part ended, in seconds.
        let end: Double
    }

    /// The distance from the last extreme, in octaves, from which a rate counts as a reversal; smaller changes are
    /// noise.
    private static let minimumReversal = 2.2
    /// The number of reversals per segment below which the rate is followed.
    ///
    /// This and ``maximumReversalsPerSegment`` were fitted to square waves and measured links; the latter have 0.1 reversals per second.
    private static let minimumReversalsPerSegment = 0.33
    /// The number of reversals per segment above which only the mean rate counts.
    private static let maximumReversalsPerSegment = 0.43
    /// The time without a reversal after which an oscillation has ended, in mean intervals between reversals.
    ///
    /// The average number of reversals decreases only later.
    private static let maximumIntervalRatio = 1.5
    /// The duration of the assumed period without reversals before the first measurement, in seconds.
    private static let priorDurationWithoutReversal = 20.0

    /// The average number of reversals per second, weighted by elapsed time.
    private var reversalsPerSecond = MovingAverage(halfLife: 30)
    /// The average rate in bits per second, weighted by transfer time.
    private var rate = MovingAverage(halfLife: 20)
    /// The base-2 logarithm of the highest or lowest rate since the last reversal.
    private var extreme: Double?
    private var isRising = true
    /// The end of the last part, in seconds.
    private var end: Double?
    /// The time since the last reversal, in seconds.
    private var timeSinceReversal = 0.0

    /// The mean rate of the link in bits per second, or `nil` before the first measurement.
    var meanRate: Double? { rate.value }

    /// Adds a part of a transfer.
    mutating func add(_ piece: Piece) {
        rate.add(piece.bitsPerSecond, weight: piece.seconds)
        let passed = max(0.001, end.map { piece.end - $0 } ?? piece.seconds)
        end = piece.end
        timeSinceReversal += passed
        let isTurn = updateDirection(with: piece.logarithm)
        if isTurn { timeSinceReversal = 0 }
        reversalsPerSecond.add(isTurn ? 1 / passed : 0, weight: passed)
    }

    /// Returns the weight of the mean rate relative to the followed rate, 0 to 1, for a segment duration in seconds.
    func meanRateWeight(segmentDuration: Double) -> Double {
        guard let frequency = reversalsPerSecond.value(withPrior: 0, weight: Self.priorDurationWithoutReversal),
            timeSinceReversal * frequency < Self.maximumIntervalRatio
        else { return 0 }
        let share =
            (frequency * segmentDuration - Self.minimumReversalsPerSegment)
            / (Self.maximumReversalsPerSegment - Self.minimumReversalsPerSegment)
        return min(max(0, share), 1)
    }

    /// Updates the extreme and returns whether the direction of change is reversed.
    private mutating func updateDirection(with logarithm: Double) -> Bool {
        guard let extreme else {
            self.extreme = logarithm
            return false
        }
        let further = isRising ? logarithm - extreme : extreme - logarithm
        let isTurn = further < -Self.minimumReversal
        if isTurn { isRising.toggle() }
        if isTurn || further > 0 { self.extreme = logarithm }
        return isTurn
    }
}
