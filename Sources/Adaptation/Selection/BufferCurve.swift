/// What a rung is worth at a buffer level, as BOLA reckons it.
struct BufferCurve: Sendable {
    /// Below this level, in seconds, the lowest rung is right.
    private static let usualMinimum = 10.0
    /// So much more, in seconds, is wanted for each rung.
    private static let perRung = 2.0

    /// Seconds: below this level, the lowest rung is right.
    let minimum: Double
    /// What a rung adds to what is seen: the logarithm of its bit rate over the lowest one's, and 1.
    private let utilities: [Double]
    private let rates: [Double]
    /// Seconds a unit of utility: how much a fuller buffer is worth.
    private let scale: Double
    /// Utility of any segment, however low.
    private let base: Double

    /// Makes the curve for a ladder and a buffer.
    init(_ situation: SelectionSituation) {
        let ladder = situation.ladder
        let rates = ladder.rungs.indices.map(ladder.bitsPerSecond)
        self.rates = rates
        utilities = rates.map { 1 + binaryLogarithm($0 / rates[0]) / binaryLogarithmOfE }
        let capacity = situation.capacitySeconds
        minimum = min(Self.usualMinimum, 0.4 * capacity)
        let target = max(minimum + Self.perRung * Double(rates.count), capacity)
        let span = utilities[utilities.count - 1] - 1
        // With rungs all alike, any scale does.
        scale = span > 0.01 ? (target - minimum) / span : target
        base = minimum / scale
    }

    var indices: Range<Int> { rates.indices }

    /// What a segment has, relative to others; only proportions matter.
    func bits(_ rung: Int) -> Double { rates[rung] }

    /// What is gained for each bit of a segment at a buffer level.
    func worth(of rung: Int, at level: Double, bits: Double) -> Double {
        (scale * (utilities[rung] + base) - level) / max(1, bits)
    }

    /// The least level at which a rung is better than all below it.
    func least(for rung: Int) -> Double {
        var level = 0.0
        for lower in 0..<rung where rates[lower] < rates[rung] {
            let crossing =
                (rates[rung] * utilities[lower] - rates[lower] * utilities[rung]) / (rates[rung] - rates[lower])
            level = max(level, scale * (base + crossing))
        }
        return level
    }

    /// The level above which a rung gains nothing more.
    func most(for rung: Int) -> Double { scale * (utilities[rung] + base) }
}
