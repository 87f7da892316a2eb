import MediaTiming
import Testing

@testable import Adaptation

/// Tests of samples that no network produces, and of samples in any order.
@Suite struct HostileSampleTests {
    private static let moments: [Duration] = [
        .zero, .nanoseconds(1), .seconds(1), .seconds(-1), .seconds(1e9), .seconds(Int64.max), .seconds(Int64.min),
        Duration(attoseconds: .max), Duration(attoseconds: .min), .seconds(2),
    ]

    @Test func extremeSamplesDoNotTrap() {
        for first in Self.moments {
            var estimator = ThroughputEstimator(initial: BitRate(bitsPerSecond: .max))
            for start in [first] + Self.moments {
                for end in Self.moments {
                    for bytes in [0, 1, 1_000_000, Int64.max] {
                        let latency = start > end ? end : start
                        estimator.add(
                            ThroughputSample(start: start, end: end, bytes: ByteCount(bytes), latency: latency)
                        )
                    }
                }
            }
            #expect(estimator.estimate != nil && estimator.latency != nil)
            #expect(estimator.confidence >= 0 && estimator.confidence <= 1)
            #expect(estimator.sampleWeight >= .zero && estimator.sampleWeight < .seconds(14))
        }
    }

    @Test func extremeEstimatorOptionsDoNotTrap() {
        for moment in Self.moments {
            let options = ThroughputEstimator.Options(
                fastHalfLife: moment,
                slowHalfLife: moment,
                fullWeightSize: ByteCount(moment > .seconds(1) ? .max : 0),
                minimumTransferDuration: moment,
                maximumGap: moment,
                initialWeight: moment,
                latencyHalfLife: .min
            )
            var estimator = ThroughputEstimator(initial: BitRate(bitsPerSecond: 0), options: options)
            for start in Self.moments {
                for end in Self.moments {
                    estimator.add(ThroughputSample(start: start, end: end, bytes: ByteCount(9_999), latency: end))
                }
            }
            #expect(estimator.estimate != nil)
            #expect(estimator.confidence >= 0 && estimator.confidence <= 1)
        }
    }

    @Test func sampleWithFutureTimeDoesNotBlockOtherSamples() throws {
        var estimator = ThroughputEstimator()
        estimator.add(ThroughputSample(start: .seconds(0), end: .seconds(Int64.max), bytes: ByteCount(1)))
        for index in 0..<20 { estimator.add(ThroughputSample(Double(index), Double(index) + 1, bytes: 250_000)) }
        #expect(try #require(estimator.megabits) > 1)
    }

    @Test func hugeSampleIsEventuallyForgotten() throws {
        var estimator = ThroughputEstimator()
        estimator.add(ThroughputSample(0, 1, bytes: .max))
        #expect(estimator.estimate == BitRate(bitsPerSecond: 100_000_000_000))
        for index in 1..<60 { estimator.add(ThroughputSample(Double(index), Double(index) + 1, bytes: 250_000)) }
        #expect(abs(try #require(estimator.megabits) - 2) < 0.5)
    }

    @Test func endBeforeStartCountsAsZeroDuration() {
        var estimator = ThroughputEstimator()
        estimator.add(ThroughputSample(5, 3, bytes: 1_000_000))
        #expect(estimator.estimate == nil)
    }

    @Test(arguments: 1..<20 as Range<UInt64>)
    func estimateHardlyDependsOnOrderOfSamples(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let requests = (0..<30).map { _ in
            ConstantRateLink.Request(
                gap: 0.5,
                latency: 0.1,
                bytes: Int64.random(in: 50_000...900_000, using: &generator)
            )
        }
        let samples = ConstantRateLink(bitsPerSecond: 4_000_000).samples(of: [requests, Array(requests.reversed())])
        var estimator = ThroughputEstimator()
        estimator.add(samples.shuffled(using: &generator))
        #expect(abs(try #require(estimator.megabits) / 4 - 1) < 0.02)
    }

    @Test func numberOfStoredPiecesIsLimited() {
        var generator = SeededGenerator(seed: 3)
        var timeline = BusyTimeline()
        for _ in 0..<20_000 {
            let start = Int64.random(in: 0..<800_000_000_000, using: &generator)
            timeline.addTransfer(
                bits: 1_000,
                from: start,
                to: start + .random(in: 1...5_000_000_000, using: &generator)
            )
            _ = timeline.removeExcess(fullWeightBits: 0)
            #expect(timeline.pieces.count <= BusyTimeline.maximumPieceCount)
        }
        var instants = InstantArrivals()
        for moment in 0..<1_000 { instants.insert(.init(request: 0, time: Int64(moment), bits: 1)) }
        #expect(instants.arrivals.count == InstantArrivals.maximumCount)
    }
}
