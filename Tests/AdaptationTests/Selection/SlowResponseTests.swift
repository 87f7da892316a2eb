import Adaptation
import Testing

/// Tests on links with high latency, which the default selector takes into account.
@Suite struct SlowResponseTests {
    @Test(arguments: [3.0, 8], [0.05, 1, 2, 2.9])
    func highLatencyCausesNeitherStallsNorLowerQuality(megabits: Double, latency: Double) throws {
        // With a latency above 2.77 s, not even a segment of 3 s of the lowest rung arrives in time at 3 Mbit/s.
        let latency = megabits < 8 ? min(latency, 2.7) : latency
        let trace = BandwidthTrace.constant(megabits * 1_000_000, latency: latency)
        let own = try SessionModel.Result.withThreeSecondSegments(.default, OscillationTests.fine, trace)
        let others = try [SelectorName.throughput, .buffer].map {
            try SessionModel.Result.withThreeSecondSegments($0, OscillationTests.fine, trace)
        }
        // The stall time of ten minutes: a large segment may coincide with a low buffer.
        #expect(own.stallSeconds <= 0.3)
        #expect(others.allSatisfy { own.quality >= $0.quality - 0.02 })
        #expect(own.switches <= 8)
    }
}
