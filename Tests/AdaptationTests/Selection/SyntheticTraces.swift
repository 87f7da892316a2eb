/// Synthetic bandwidth traces, for clones without the shared corpus and to detect overfitting to it.
enum SyntheticTraces {
    enum Kind: String, CaseIterable, Sendable {
        case states, steps, outages, waves, wandering, constant
    }

    /// Returns traces of one kind around a rate.
    static func traces(_ kind: Kind, around bitsPerSecond: Double, count: Int, seed: UInt64) -> [BandwidthTrace] {
        var generator = SeededGenerator(seed: seed)
        // The first random numbers of adjacent seeds are correlated.
        for _ in 0..<16 { _ = generator.next() }
        return (0..<count).map { _ in trace(kind, bitsPerSecond, &generator) }
    }

    private static func trace(_ kind: Kind, _ rate: Double, _ generator: inout SeededGenerator) -> BandwidthTrace {
        switch kind {
        case .states:
            let states = (0..<5).map { _ in rate * factor(0.9, &generator) }
            var state = 0
            return seconds(600) { _ in
                if Double.random(in: 0..<1, using: &generator) < 0.08 {
                    state = Int.random(in: 0..<5, using: &generator)
                }
                return states[state] * factor(0.15, &generator)
            }
        case .steps:
            return .steps(
                (0..<14).map { _ in (.random(in: 10...90, using: &generator), rate * factor(0.9, &generator)) }
            )
        case .outages:
            let own = 1.3 * rate * factor(0.5, &generator)
            return .steps(
                (0..<24).map { index in
                    index % 2 == 0
                        ? (.random(in: 15...80, using: &generator), own * factor(0.1, &generator))
                        : (.random(in: 1...12, using: &generator), Bool.random(using: &generator) ? 0 : 0.02 * own)
                }
            )
        case .waves:
            let own = rate * factor(0.4, &generator)
            let period = Double.random(in: 20...200, using: &generator)
            let depth = Double.random(in: 0.3...0.9, using: &generator)
            return seconds(600) { own * (1 + depth * triangle(Double($0) / period)) }
        case .wandering:
            let own = rate * factor(0.6, &generator)
            let memory = Double.random(in: 0.7...0.98, using: &generator)
            let spread = Double.random(in: 0.2...0.6, using: &generator)
            var distance = 0.0
            return seconds(600) { _ in
                distance = memory * distance + spread * (1 - memory * memory).squareRoot() * normal(&generator)
                return own * exponential(distance)
            }
        case .constant:
            return .constant(rate * factor(0.8, &generator))
        }
    }

    private static func seconds(_ count: Int, _ rate: (Int) -> Double) -> BandwidthTrace {
        .steps((0..<count).map { (1, rate($0)) })
    }

    /// Returns a triangle wave with values from -1 to 1.
    private static func triangle(_ turns: Double) -> Double {
        let phase = turns - turns.rounded(.down)
        return phase < 0.5 ? 4 * phase - 1 : 3 - 4 * phase
    }

    /// Returns an approximately normal random number: the sum of twelve uniform numbers has a variance of 1.
    private static func normal(_ generator: inout SeededGenerator) -> Double {
        (0..<12).reduce(-6) { sum, _ in sum + Double.random(in: 0..<1, using: &generator) }
    }

    private static func factor(_ spread: Double, _ generator: inout SeededGenerator) -> Double {
        exponential(spread * normal(&generator))
    }

    /// Returns e^x by its power series, after division of x by 16 so that the series converges fast.
    private static func exponential(_ value: Double) -> Double {
        var term = 1.0
        var sum = 1.0
        for index in 1..<20 {
            term *= value / 16 / Double(index)
            sum += term
        }
        return (0..<4).reduce(sum) { power, _ in power * power }
    }
}
