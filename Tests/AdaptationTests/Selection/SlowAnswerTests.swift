import Adaptation
import Testing

/// Links that answer late: the default selector plans with the time that requests wait.
@Suite struct SlowAnswerTests {
    @Test(arguments: [3.0, 8], [0.05, 1, 2, 2.9])
    func lateAnswersCauseNoStallsAndNoWorsePicture(megabits: Double, latency: Double) throws {
        // After 2.77 s of 3, not even the lowest rung comes in time at 3 Mbit/s.
        let latency = megabits < 8 ? min(latency, 2.7) : latency
        let trace = BandwidthTrace.constant(megabits * 1_000_000, latency: latency)
        let own = try SessionModel.Result.ofThreeSeconds(.default, OscillationTests.fine, trace)
        let others = try [SelectorName.throughput, .buffer].map {
            try SessionModel.Result.ofThreeSeconds($0, OscillationTests.fine, trace)
        }
        // Of ten minutes; a large segment may meet a buffer that has just run low.
        #expect(own.stallSeconds <= 0.3)
        #expect(others.allSatisfy { own.quality >= $0.quality - 0.02 })
        #expect(own.switches <= 8)
    }
}
