/// The value of each rung as a function of the buffer level, as defined by BOLA.
struct BufferCurve: Sendable {
    /// The default of the buffer level below which the lowest rung is chosen, in seconds.
    private static let defaultMinimumLevel = 10.0
    /// The additional buffer for each rung, in seconds.
    private static let levelPerRung = 2.0

    /// The buffer level below which the lowest rung is chosen, in seconds.
    let minimumLevel: Double
    /// The utility of each rung: 1 plus the natural logarithm of its bit rate relative to the lowest.
    private let utilities: [Double]
    private let rates: [Double]
    /// The weight of utility relative to the buffer level, in seconds per unit of utility.
    private let scale: Double
    /// The utility that is added for a segment of any rung.
    private let base: Double

    /// Creates the curve for the ladder and the buffer capacity of a selection context.
    init(_ context: SelectionContext) {
        let ladder = context.ladder
        let rates = ladder.rungs.indices.map(ladder.bitsPerSecond)
        self.rates = rates
        utilities = rates.map { 1 + binaryLogarithm($0 / rates[0]) / binaryLogarithmOfE }
        let capacity = context.capacitySeconds
        minimumLevel = min(Self.defaultMinimumLevel, 0.4 * capacity)
        let target = max(minimumLevel + Self.levelPerRung * Double(rates.count), capacity)
        let span = utilities[utilities.count - 1] - 1
        // If all rungs have the same bit rate, any scale is correct.
        scale = span > 0.01 ? (target - minimumLevel) / span : target
        base = minimumLevel / scale
    }

    var indices: Range<Int> { rates.indices }

    /// Returns the relative size of a segment; only the ratios between rungs matter.
    func bits(_ rung: Int) -> Double { rates[rung] }

    /// Returns the value per bit of a segment at a buffer level in seconds.
    func value(of rung: Int, at level: Double, bits: Double) -> Double {
        (scale * (utilities[rung] + base) - level) / max(1, bits)
    }

    /// Returns the lowest buffer level, in seconds, at which a rung is better than all lower ones.
    func minimumLevel(for rung: Int) -> Double {
        var level = 0.0
        for lower in 0..<rung where rates[lower] < rates[rung] {
            let crossing =
                (rates[rung] * utilities[lower] - rates[lower] * utilities[rung]) / (rates[rung] - rates[lower])
            level = max(level, scale * (base + crossing))
        }
        return level
    }

    /// Returns the buffer level, in seconds, above which loading a segment of the rung has no value.
    func maximumLevel(for rung: Int) -> Double { scale * (utilities[rung] + base) }
}
