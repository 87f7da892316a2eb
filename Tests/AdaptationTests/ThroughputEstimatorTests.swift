import Adaptation
import MediaTiming
import Testing

@Suite struct ThroughputEstimatorTests {
    /// Returns consecutive requests for 4 s segments at 1 Mbit/s.
    private func segments(_ count: Int, gap: Double = 0, latency: Double = 0.05) -> [ConstantRateLink.Request] {
        Array(repeating: ConstantRateLink.Request(gap: gap, latency: latency, bytes: 500_000), count: count)
    }

    /// Returns samples of one link followed by samples of another.
    private func samples(
        _ first: Double,
        _ firstCount: Int,
        then second: Double,
        _ secondCount: Int
    ) -> ([ThroughputSample], [ThroughputSample]) {
        let before = ConstantRateLink(bitsPerSecond: first).samples(of: [segments(firstCount)])
        let after = ConstantRateLink(bitsPerSecond: second).samples(of: [segments(secondCount)])
        let shift = before.last?.end ?? .zero
        return (
            before,
            after.map {
                ThroughputSample(start: $0.start + shift, end: $0.end + shift, bytes: $0.bytes, latency: $0.latency)
            }
        )
    }

    @Test func estimateIsInitiallyUnknown() {
        let estimator = ThroughputEstimator()
        #expect(estimator.estimate == nil && estimator.latency == nil)
        #expect(estimator.confidence == 0 && estimator.sampleWeight == .zero)
    }

    @Test(arguments: [0.2, 1, 5, 40, 300])
    func steadyLinkIsMeasuredFromFirstSegment(megabits: Double) throws {
        var estimator = ThroughputEstimator()
        for sample in ConstantRateLink(bitsPerSecond: megabits * 1_000_000).samples(of: [segments(10, gap: 1)]) {
            estimator.add(sample)
            let estimate = try #require(estimator.megabits)
            #expect(abs(estimate / megabits - 1) < 0.001)
        }
    }

    @Test func confidenceGrowsWithTransferTime() {
        var estimator = ThroughputEstimator()
        var last = 0.0
        for sample in ConstantRateLink(bitsPerSecond: 8_000_000).samples(of: [segments(8)]) {
            estimator.add(sample)
            #expect(estimator.confidence > last)
            last = estimator.confidence
        }
        #expect(last > 0.85 && last < 1)
        #expect(estimator.sampleWeight > .seconds(3) && estimator.sampleWeight < .seconds(4))
    }

    @Test func throughputDropIsFollowedWithinThreeSegments() throws {
        let (before, after) = samples(10_000_000, 20, then: 1_000_000, 5)
        var estimator = ThroughputEstimator()
        estimator.add(before)
        estimator.add(after.prefix(1))
        #expect(try #require(estimator.megabits) < 5)
        estimator.add(after.dropFirst().prefix(2))
        #expect(try #require(estimator.megabits) < 2)
    }

    @Test func throughputRiseIsFollowedGradually() throws {
        let (before, after) = samples(1_000_000, 10, then: 10_000_000, 100)
        var estimator = ThroughputEstimator()
        estimator.add(before)
        estimator.add(after.prefix(1))
        #expect(try #require(estimator.megabits) < 1.5)
        estimator.add(after.dropFirst().prefix(20))
        #expect(try #require(estimator.megabits) > 4)
        estimator.add(after.dropFirst(21))
        #expect(try #require(estimator.megabits) > 9)
    }

    @Test func estimateNeverExceedsTheFastestSample() throws {
        var generator = SeededGenerator(seed: 5)
        var estimator = ThroughputEstimator()
        var now = 0.0
        for _ in 0..<200 {
            let duration = Double.random(in: 0.01...5, using: &generator)
            let megabits = Double.random(in: 1...20, using: &generator)
            estimator.add(ThroughputSample(now, now + duration, bytes: Int64(megabits * duration * 125_000)))
            now += duration + 0.1
            #expect(try #require(estimator.megabits) > 0.9 && estimator.megabits ?? 0 < 20.1)
        }
    }

    @Test func latencyDoesNotLowerTheEstimate() throws {
        var near = ThroughputEstimator()
        var far = ThroughputEstimator()
        let link = ConstantRateLink(bitsPerSecond: 6_000_000)
        near.add(link.samples(of: [segments(10, latency: 0.01)]))
        far.add(link.samples(of: [segments(10, latency: 0.5)]))
        let (first, second) = (try #require(near.megabits), try #require(far.megabits))
        #expect(abs(first - second) < 0.001)
        let latency = try #require(far.latency)
        #expect(abs(latency / .seconds(0.5) - 1) < 0.001)
    }

    @Test func latencyFollowsRecentRequests() throws {
        var estimator = ThroughputEstimator()
        for index in 0..<15 {
            let start = Double(index)
            estimator.add(ThroughputSample(start, start + 0.5, bytes: 1, latency: index < 10 ? 0.1 : 0.3))
        }
        let latency = try #require(estimator.latency)
        #expect(latency > .milliseconds(200) && latency < .milliseconds(250))
        estimator.add(ThroughputSample(15, 15.5, bytes: 1, latency: 0))
        #expect(estimator.latency == latency)
    }

    @Test func cachedResponsesDoNotCount() {
        var estimator = ThroughputEstimator()
        estimator.add(ThroughputSample(0, 0.01, bytes: 10_000_000, latency: 0.001, isCached: true))
        #expect(estimator.estimate == nil && estimator.latency == nil)
        estimator.add(ThroughputSample(1, 2, bytes: 250_000, latency: 0.2))
        let (estimate, latency) = (estimator.estimate, estimator.latency)
        for index in 2..<50 {
            let start = Double(index)
            estimator.add(ThroughputSample(start, start + 0.01, bytes: 1_000_000, latency: 9, isCached: true))
        }
        #expect(estimator.estimate == estimate && estimator.latency == latency)
    }

    @Test func initialEstimateLosesWeight() throws {
        let start = BitRate(bitsPerSecond: 5_000_000)
        var estimator = ThroughputEstimator(initial: start)
        #expect(estimator.estimate == start && estimator.confidence == 0)
        let samples = ConstantRateLink(bitsPerSecond: 1_000_000).samples(of: [segments(3)])
        estimator.add(samples.prefix(1))
        let first = try #require(estimator.megabits)
        #expect(first > 1.01 && first < 1.5)
        estimator.add(samples.dropFirst())
        #expect(try #require(estimator.megabits) < 1.05)

        var upwards = ThroughputEstimator(initial: start)
        upwards.add(ConstantRateLink(bitsPerSecond: 50_000_000).samples(of: [segments(1)]))
        let risen = try #require(upwards.megabits)
        #expect(risen > 7 && risen < 20)
    }

    @Test func samplesWithoutBytesLowerEstimate() throws {
        var estimator = ThroughputEstimator()
        estimator.add(ThroughputSample(0, 2, bytes: 1_000_000, latency: 0.1))
        for index in 2..<8 { estimator.add(ThroughputSample(Double(index), Double(index) + 1, bytes: 0)) }
        let estimate = try #require(estimator.megabits)
        #expect(estimate < 0.8)
    }
}
