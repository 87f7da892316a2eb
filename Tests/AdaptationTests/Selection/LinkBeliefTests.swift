import MediaTiming
import Testing

@testable import Adaptation

/// Tests of the probability distribution of the rate of a link.
@Suite struct LinkBeliefTests {
    private func belief() throws -> LinkBelief { LinkBelief(LinkModel(try makeLadder(fiveRungs))) }

    private func sum(_ belief: LinkBelief) -> Double { (belief.working + belief.inOutage).reduce(0, +) }

    @Test func probabilitiesSumToOne() throws {
        var belief = try belief()
        for rate in [3e6, 0, 1e12, 2e6, 0, 0, .infinity, .nan, 1] {
            belief.observe(bitsPerSecond: rate)
            #expect(abs(sum(belief) - 1) < 1e-7)
            belief.pass()
            #expect(abs(sum(belief) - 1) < 1e-7)
        }
    }

    @Test func measurementsConcentrateDistribution() throws {
        var belief = try belief()
        for _ in 0..<8 {
            belief.pass()
            belief.observe(bitsPerSecond: 3_000_000)
        }
        #expect(abs(belief.quantile(0.5) / 3_000_000 - 1) < 0.15)
        #expect(belief.quantile(0.1) > 2_000_000 && belief.quantile(0.9) < 4_500_000)
        #expect(belief.probability(below: 1_000_000) < 0.05)
        #expect(belief.probability(below: 6_000_000) > 0.95)
    }

    @Test func noisyLinkHasWiderDistribution() throws {
        var steady = try belief()
        var noisy = steady
        for index in 0..<20 {
            steady.pass()
            noisy.pass()
            steady.observe(bitsPerSecond: 3_000_000)
            noisy.observe(bitsPerSecond: index % 2 == 0 ? 1_500_000 : 6_000_000)
        }
        let spreads = [noisy, steady].map { $0.quantile(0.9) / $0.quantile(0.1) }
        #expect(spreads[0] > 1.1 * spreads[1])
    }

    @Test func missingDataIndicatesOutageNotSlowLink() throws {
        var belief = try belief()
        for _ in 0..<10 {
            belief.pass()
            belief.observe(bitsPerSecond: 6_000_000)
        }
        belief.pass()
        belief.observe(bitsPerSecond: 0)
        #expect(belief.inOutage.reduce(0, +) > 0.5)
        #expect(belief.quantile(0.5) > 3_000_000)
    }

    @Test func smallTransfersHaveLittleWeight() throws {
        var trusted = try belief()
        for _ in 0..<8 { trusted.observe(bitsPerSecond: 6_000_000) }
        var doubted = trusted
        // A single measurement could be an outlier, however large it is.
        for _ in 0..<3 {
            trusted.pass()
            doubted.pass()
            trusted.observe(bitsPerSecond: 1_000_000)
            doubted.observe(bitsPerSecond: 1_000_000, trust: 0.02)
        }
        #expect(doubted.quantile(0.5) > 2 * trusted.quantile(0.5))
        var ignored = trusted
        ignored.observe(bitsPerSecond: 1_000_000, trust: 0)
        #expect(ignored.working == trusted.working)
    }

    @Test func instantaneousTransferIsALowerBound() throws {
        var belief = try belief()
        for _ in 0..<4 { belief.observe(bitsPerSecond: 1_000_000) }
        let before = belief.quantile(0.5)
        for _ in 0..<4 { belief.observe(atLeast: 8_000_000) }
        #expect(belief.quantile(0.5) > 1.8 * before)
        for _ in 0..<4 { belief.observe(atLeast: 100_000) }
        #expect(belief.quantile(0.5) > 1.8 * before)
    }
}
