import MediaTiming
import Testing

@testable import Adaptation

/// Tests of the figures from which selectors derive their decisions.
@Suite struct SelectionModelFaultTests {
    private func isNear(_ value: Double?, _ expected: Double) -> Bool {
        value.map { abs($0 - expected) < 0.001 } ?? false
    }

    // MARK: Averages

    @Test func priorDecaysLikeAnEarlierValue() {
        var average = MovingAverage(halfLife: 2)
        #expect(average.value(withPrior: 4, weight: 1) == 4 && average.value(withPrior: 4, weight: 0) == nil)
        average.add(9, weight: 0)
        #expect(average.value == nil && average.priorDecay == 1)
        average.add(8, weight: 2)
        #expect(isNear(average.priorDecay, 0.5) && isNear(average.weight, 1.442_695))
        #expect(isNear(average.value(withPrior: 4, weight: 2 * average.weight), 6))
        #expect(isNear(average.value(withPrior: 4, weight: -5), 8))
        average.add(8, weight: 2)
        #expect(isNear(average.priorDecay, 0.25) && isNear(average.weight, 2.164_043))
    }

    @Test(arguments: [(0, 0.001), (-1, 0.001), (0.001, 0.001), (0.002, 0.002)] as [(Double, Double)])
    func halfLifeHasAMinimum(halfLife: Double, expected: Double) {
        #expect(MovingAverage(halfLife: halfLife).halfLife == expected)
    }

    // MARK: Buffer

    /// The capacity of the buffer, the minimum level, and the maximum levels of the lowest and the highest rung.
    @Test(
        arguments: [
            (30, 10, 17.213_475, 37.213_475), (20, 8, 12.328_085, 24.328_085), (12, 4.8, 8.406_738, 18.406_738),
        ] as [(Double, Double, Double, Double)]
    )
    func bufferCurveDependsOnCapacity(capacity: Double, minimum: Double, lowest: Double, highest: Double) throws {
        let curve = BufferCurve(try .moment(capacity: capacity))
        #expect(isNear(curve.minimumLevel, minimum) && curve.indices == 0..<5)
        #expect(isNear(curve.maximumLevel(for: 0), lowest) && isNear(curve.maximumLevel(for: 4), highest))
        #expect(curve.minimumLevel(for: 0) == 0)
    }

    @Test func rungIsBetterThanLowerOnesFromItsMinimumLevel() throws {
        let curve = BufferCurve(try .moment())
        let level = curve.minimumLevel(for: 1)
        #expect(isNear(level, 12.213_475))
        #expect(isNear(curve.value(of: 0, at: level, bits: 1) * 2, curve.value(of: 1, at: level, bits: 1)))
        #expect(isNear(curve.value(of: 0, at: 7.213_475, bits: 4), 2.5))
        #expect(isNear(curve.value(of: 0, at: 7.213_475, bits: 0.5), 10))
    }

    @Test func equalBitRatesHaveOneLevel() throws {
        let curve = BufferCurve(try .moment([1, 1]))
        #expect(isNear(curve.maximumLevel(for: 0), 40) && isNear(curve.maximumLevel(for: 1), 40))
        #expect(curve.minimumLevel(for: 1) == 0)
    }

    // MARK: Rates

    @Test func gridOfRatesSurroundsTheLadder() throws {
        let model = RateModel(try makeLadder(fiveRungs))
        #expect(model.count == 22 && model.volatilityCount == 4 && RateModel.noisiestVolatility == 2)
        #expect(model.drifts.map(\.count) == [3, 7, 5, 3])
        #expect(model.drifts.allSatisfy { isNear($0.reduce(0, +), 1) } && isNear(model.jumpTargets.reduce(0, +), 1))
        // Three octaves below 500 kbit/s, in steps of 0.4 octaves.
        #expect(abs((model.rates.first ?? 0) / 62_500 - 1) < 1e-6)
        #expect(isNear(model.logarithms[1] - model.logarithms[0], 0.4))
        #expect(isNear(model.logarithms[21] - model.logarithms[0], 8.4))
    }

    @Test func gridOfRatesIsLimited() throws {
        let rates: [Int64] = [1, .max]
        let ladder = try #require(Ladder(rates.map { LadderRung(peakBitRate: BitRate(bitsPerSecond: $0)) }))
        let model = RateModel(ladder)
        // From three octaves below 1 bit/s to 1.3 octaves above 1 Tbit/s.
        #expect(model.count == 48 && isNear(model.logarithms[47], 41.163_137) && isNear(model.logarithms[0], -3))
    }
}
