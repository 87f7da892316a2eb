import MediaTiming
import Testing

@testable import Adaptation

/// Tests of the probability distribution of the rate of a link.
@Suite struct LinkStateDistributionTests {
    private func belief() throws -> LinkStateDistribution {
        LinkStateDistribution(RateModel(try makeLadder(fiveRungs)))
    }

    private func sum(_ linkState: LinkStateDistribution) -> Double {
        (linkState.workingProbabilities + linkState.outageProbabilities).reduce(0, +)
    }

    @Test func probabilitiesSumToOne() throws {
        var linkState = try belief()
        for rate in [3e6, 0, 1e12, 2e6, 0, 0, .infinity, .nan, 1] {
            linkState.observe(bitsPerSecond: rate)
            #expect(abs(sum(linkState) - 1) < 1e-7)
            linkState.advance()
            #expect(abs(sum(linkState) - 1) < 1e-7)
        }
    }

    @Test func measurementsConcentrateDistribution() throws {
        var linkState = try belief()
        for _ in 0..<8 {
            linkState.advance()
            linkState.observe(bitsPerSecond: 3_000_000)
        }
        #expect(abs(linkState.quantile(0.5) / 3_000_000 - 1) < 0.15)
        #expect(linkState.quantile(0.1) > 2_000_000 && linkState.quantile(0.9) < 4_500_000)
        #expect(linkState.probability(below: 1_000_000) < 0.05)
        #expect(linkState.probability(below: 6_000_000) > 0.95)
    }

    @Test func noisyLinkHasWiderDistribution() throws {
        var steady = try belief()
        var noisy = steady
        for index in 0..<20 {
            steady.advance()
            noisy.advance()
            steady.observe(bitsPerSecond: 3_000_000)
            noisy.observe(bitsPerSecond: index % 2 == 0 ? 1_500_000 : 6_000_000)
        }
        let spreads = [noisy, steady].map { $0.quantile(0.9) / $0.quantile(0.1) }
        #expect(spreads[0] > 1.1 * spreads[1])
    }

    @Test func missingDataIndicatesOutageNotSlowLink() throws {
        var linkState = try belief()
        for _ in 0..<10 {
            linkState.advance()
            linkState.observe(bitsPerSecond: 6_000_000)
        }
        linkState.advance()
        linkState.observe(bitsPerSecond: 0)
        #expect(linkState.outageProbabilities.reduce(0, +) > 0.5)
        #expect(linkState.quantile(0.5) > 3_000_000)
    }

    @Test func smallTransfersHaveLittleWeight() throws {
        var trusted = try belief()
        for _ in 0..<8 { trusted.observe(bitsPerSecond: 6_000_000) }
        var doubted = trusted
        // A single measurement could be an outlier, however large it is.
        for _ in 0..<3 {
            trusted.advance()
            doubted.advance()
            trusted.observe(bitsPerSecond: 1_000_000)
            doubted.observe(bitsPerSecond: 1_000_000, weight: 0.02)
        }
        #expect(doubted.quantile(0.5) > 2 * trusted.quantile(0.5))
        var ignored = trusted
        ignored.observe(bitsPerSecond: 1_000_000, weight: 0)
        #expect(ignored.workingProbabilities == trusted.workingProbabilities)
    }

    @Test func instantaneousTransferIsALowerBound() throws {
        var linkState = try belief()
        for _ in 0..<4 { linkState.observe(bitsPerSecond: 1_000_000) }
        let before = linkState.quantile(0.5)
        for _ in 0..<4 { linkState.observe(atLeast: 8_000_000) }
        #expect(linkState.quantile(0.5) > 1.8 * before)
        for _ in 0..<4 { linkState.observe(atLeast: 100_000) }
        #expect(linkState.quantile(0.5) > 1.8 * before)
    }
}
