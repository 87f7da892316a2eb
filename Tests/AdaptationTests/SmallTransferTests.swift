import Adaptation
import MediaTiming
import Testing

/// Tests of responses that are too small to measure a rate, and of responses that arrive in one piece.
@Suite struct SmallTransferTests {
    /// Returns the sample of a transfer on a link of 50 Mbit/s with a round-trip time of 100 ms under slow start (RFC
    /// 6928): 14.6 kB, then twice as much each round trip.
    private func slowStart(bytes: Int64, at start: Double) -> ThroughputSample {
        var (window, left, seconds) = (14_600.0, Double(bytes), 0.0)
        while left > window {
            left -= window
            window *= 2
            seconds += 0.1
        }
        return ThroughputSample(start, start + seconds + left / 6_250_000, bytes: bytes, latency: 0.1)
    }

    @Test func smallSegmentsBetweenLargeOnesHardlyLowerEstimate() throws {
        var large = ThroughputEstimator()
        var mixed = ThroughputEstimator()
        for index in 0..<20 {
            let video = slowStart(bytes: 2_000_000, at: Double(index) * 4)
            large.add(video)
            mixed.add(video)
            // Audio of 18 kB, and a playlist of 4 kB whose body was sent some time after its header.
            mixed.add(slowStart(bytes: 18_000, at: Double(index) * 4 + 2))
            mixed.add(ThroughputSample(Double(index) * 4 + 3, Double(index) * 4 + 3.1, bytes: 4_000, latency: 0.1))
        }
        let (alone, together) = (try #require(large.megabits), try #require(mixed.megabits))
        #expect(together > 0.93 * alone && together <= alone)
    }

    @Test(arguments: [4_096, 18_000])
    func streamOfSmallSegmentsEventuallyReachesLinkRate(bytes: Int64) throws {
        let requests = Array(repeating: ConstantRateLink.Request(gap: 2, latency: 0.05, bytes: bytes), count: 200)
        var estimator = ThroughputEstimator()
        estimator.add(ConstantRateLink(bitsPerSecond: 3_000_000).samples(of: [requests]))
        #expect(abs(try #require(estimator.megabits) - 3) < 0.01)
        #expect(estimator.confidence > 0.1)

        var wrong = ThroughputEstimator(initial: BitRate(bitsPerSecond: 300_000))
        wrong.add(ConstantRateLink(bitsPerSecond: 3_000_000).samples(of: [requests]))
        #expect(try #require(wrong.megabits) > (bytes > 10_000 ? 2.4 : 0.5))
    }

    @Test func slowStartLimitsEstimateOfSmallSegments() throws {
        var estimator = ThroughputEstimator()
        for index in 0..<100 { estimator.add(slowStart(bytes: 18_000, at: Double(index) * 2)) }
        let estimate = try #require(estimator.megabits)
        #expect(estimate > 1.3 && estimate < 1.6)
    }

    @Test func instantaneousResponseGivesOnlyLowerBound() throws {
        var estimator = ThroughputEstimator()
        estimator.add(ThroughputSample(5, 5, bytes: 4_096))
        #expect(estimator.estimate == nil)
        estimator.add(ThroughputSample(6, 6, bytes: 4_096, latency: 0.05))
        #expect(abs(try #require(estimator.megabits) - 0.655) < 0.001)
        #expect(estimator.confidence == 0)
        // An actual measurement replaces the lower bound completely.
        estimator.add(ThroughputSample(7, 8, bytes: 1_000_000, latency: 0.05))
        #expect(abs(try #require(estimator.megabits) - 8) < 0.001)
    }

    @Test func instantaneousResponsesDoNotInflateEstimate() throws {
        var estimator = ThroughputEstimator()
        estimator.add(ThroughputSample(0, 1, bytes: 500_000, latency: 0.05))
        for index in 1..<50 {
            let start = Double(index) * 2
            estimator.add(ThroughputSample(start, start + 0.000_05, bytes: 18_000, latency: 0.05))
        }
        #expect(abs(try #require(estimator.megabits) - 4) < 0.01)
    }

    @Test func lowerBoundNeverLowersInitialEstimate() {
        let initial = BitRate(bitsPerSecond: 5_000_000)
        var estimator = ThroughputEstimator(initial: initial)
        for index in 1..<50 { estimator.add(ThroughputSample(Double(index), Double(index), bytes: 500, latency: 0.2)) }
        #expect(estimator.estimate == initial)
        estimator.add(ThroughputSample(100, 100, bytes: 10_000_000, latency: 1))
        #expect((estimator.estimate ?? initial) > initial)
    }

    @Test(arguments: [0.0004, 0.004, 0.04])
    func consecutiveInstantaneousResponsesAreMeasuredOverBusyTime(spacing: Double) throws {
        // Forty requests are sent at the same time over one connection; each response arrives in one buffer.
        var estimator = ThroughputEstimator()
        for index in 0..<40 {
            let moment = 0.1 + Double(index) * spacing
            estimator.add(ThroughputSample(moment, moment, bytes: 4_096, latency: moment))
        }
        let expected = 4_096 * 8 / spacing / 1_000_000
        #expect(abs(try #require(estimator.megabits) / expected - 1) < 0.05)
        #expect(estimator.confidence > 0)
    }

    @Test func idleTimeBetweenResponsesIsNotBusyTime() throws {
        var estimator = ThroughputEstimator()
        estimator.add(ThroughputSample(0.1, 0.1, bytes: 4_096, latency: 0.1))
        // Requested at the same time, received half a second later: the delay is processing time of the server.
        estimator.add(ThroughputSample(0.6, 0.6, bytes: 4_096, latency: 0.6))
        // Requested after the previous response arrived: the time between them is latency.
        estimator.add(ThroughputSample(0.64, 0.64, bytes: 4_096, latency: 0.03))
        #expect(estimator.confidence == 0)
    }

    @Test func instantaneousResponseDuringTransferAddsItsBytes() throws {
        var first = ThroughputEstimator()
        first.add(ThroughputSample(0, 1, bytes: 100_000))
        first.add(ThroughputSample(0.5, 0.5, bytes: 25_000))
        var last = ThroughputEstimator()
        last.add(ThroughputSample(0.5, 0.5, bytes: 25_000))
        last.add(ThroughputSample(0, 1, bytes: 100_000))
        #expect(abs(try #require(last.megabits) - 1) < 0.001)
        // Without a latency, the time in which its bytes arrived is unknown as well.
        #expect(abs(try #require(first.megabits) - 0.8) < 0.001)
        var known = ThroughputEstimator()
        known.add(ThroughputSample(0, 1, bytes: 100_000))
        known.add(ThroughputSample(0.5, 0.5, bytes: 25_000, latency: 0.5))
        #expect(abs(try #require(known.megabits) - 1) < 0.05)
    }
}
