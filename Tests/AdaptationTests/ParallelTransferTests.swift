import Adaptation
import MediaTiming
import Testing

/// Tests of concurrent transfers, which share the link.
@Suite struct ParallelTransferTests {
    @Test func concurrentTransfersAddUpToLinkRate() throws {
        var estimator = ThroughputEstimator()
        for index in 0..<5 {
            estimator.add(ThroughputSample(Double(index) * 4, Double(index) * 4 + 4, bytes: 500_000))
            estimator.add(ThroughputSample(Double(index) * 4, Double(index) * 4 + 4, bytes: 500_000))
            #expect(abs(try #require(estimator.megabits) - 2) < 0.001)
        }
    }

    @Test(arguments: [0.5, 1, 2, 3])
    func overlappingTransfersAddUpToAboutLinkRate(shift: Double) throws {
        var estimator = ThroughputEstimator()
        var estimates: [Double] = []
        for index in 0..<40 {
            let start = Double(index) * 4
            estimator.add(ThroughputSample(start, start + 4, bytes: 500_000))
            estimates.append(try #require(estimator.megabits))
            estimator.add(ThroughputSample(start + shift, start + shift + 4, bytes: 500_000))
            estimates.append(try #require(estimator.megabits))
        }
        // The bytes that the other transfer has received so far are unknown until it ends.
        for estimate in estimates.dropFirst(8) { #expect(estimate > 1.3 && estimate < 2.2) }
        let mean = estimates.dropFirst(8).reduce(0, +) / Double(estimates.count - 8)
        #expect(mean > 1.6)
    }

    @Test func audioConcurrentWithVideoDoesNotLowerEstimate() throws {
        let video = Array(repeating: ConstantRateLink.Request(gap: 2, latency: 0.05, bytes: 1_000_000), count: 20)
        let audio = Array(repeating: ConstantRateLink.Request(gap: 2, latency: 0.05, bytes: 64_000), count: 20)
        var estimator = ThroughputEstimator()
        estimator.add(ConstantRateLink(bitsPerSecond: 5_000_000).samples(of: [video, audio]))
        #expect(abs(try #require(estimator.megabits) - 5) < 0.01)
    }

    @Test func longTransferConcurrentWithShortOnesDoesNotRaiseEstimate() throws {
        var estimator = ThroughputEstimator()
        for index in 0..<99 {
            estimator.add(ThroughputSample(Double(index) * 0.1, Double(index + 1) * 0.1, bytes: 1_250))
        }
        estimator.add(ThroughputSample(0, 10, bytes: 1_250_000))
        #expect(abs(try #require(estimator.megabits) - 1.1) < 0.01)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func estimateOfRandomTransfersIsWithinTenPercent(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed + 1)
        let rate = 250_000 * halvings(0...9, &generator)
        let workers = (0..<Int.random(in: 1...8, using: &generator)).map { _ in
            (0..<Int.random(in: 5...40, using: &generator)).map { _ in
                ConstantRateLink.Request(
                    gap: Bool.random(using: &generator) ? 0 : Double.random(in: 0...3, using: &generator),
                    latency: Double.random(in: 0.001...0.5, using: &generator),
                    bytes: Int64(1_024 * halvings(0...13, &generator))
                )
            }
        }
        var estimator = ThroughputEstimator()
        let samples = ConstantRateLink(bitsPerSecond: rate).samples(of: workers)
        for sample in samples {
            estimator.add(sample)
            // While other transfers are running, the estimate misses their part of the rate; it never exceeds the rate
            // by much.
            if let megabits = estimator.megabits { #expect(megabits * 1_000_000 < rate * 1.5) }
        }
        let estimate = Double(try #require(estimator.estimate).bitsPerSecond)
        #expect(abs(estimate / rate - 1) < 0.1, "\(workers.count) workers, \(samples.count) samples")
    }

    /// Returns 2 to the power of a random number in the range, so that small and large values are equally frequent.
    private func halvings(_ range: ClosedRange<Double>, _ generator: inout SeededGenerator) -> Double {
        let power = Double.random(in: range, using: &generator)
        let whole = power.rounded(.down)
        return Double(sign: .plus, exponent: Int(whole), significand: 1 + (power - whole))
    }
}
