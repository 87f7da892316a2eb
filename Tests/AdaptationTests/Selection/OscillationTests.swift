import Adaptation
import Testing

/// Tests that the rung becomes stable on a link with a constant rate.
@Suite struct OscillationTests {
    static let fine = [0.23, 0.331, 0.477, 0.688, 0.991, 1.427, 2.056, 2.962, 5.027, 6]
    static let coarse = [1.0, 2.5, 5, 8, 16, 35]

    /// Plays half an hour of 4 s segments.
    private func halfAnHour(
        _ name: SelectorName,
        _ ladder: [Double],
        _ megabits: Double,
        spread: Double
    ) throws -> SessionModel.Result {
        var model = SessionModel(
            video: try SessionVideo(megabits: ladder, segmentDuration: 4, segments: 450, spread: spread),
            trace: .constant(megabits * 1_000_000)
        )
        model.capacity = 30
        model.reviewInterval = 1
        var selector = AnyVariantSelector(name)
        return model.run(&selector)
    }

    @Test(arguments: [1.7, 5.5])
    func rungIsStableOnFineLadder(megabits: Double) throws {
        for name in [SelectorName.default, .throughput, .buffer] {
            let result = try halfAnHour(name, Self.fine, megabits, spread: 0)
            #expect(result.switches <= 8)
            #expect(result.stallSeconds == 0)
            #expect(result.megabits > 0.5 * megabits)
        }
    }

    @Test(arguments: [12, 30])
    func rungIsStableOnCoarseLadderWithVaryingSegmentSizes(megabits: Double) throws {
        for name in [SelectorName.default, .throughput, .buffer] {
            let result = try halfAnHour(name, Self.coarse, megabits, spread: 0.3)
            #expect(result.switches <= 8)
            #expect(result.stallSeconds == 0)
        }
    }

    @Test func rateChangeIsFollowedAfterStablePeriod() throws {
        // Twenty minutes at a rate between two rungs, during which the switch penalty grows, and then a faster link.
        let trace = BandwidthTrace.steps([(1_200, 12_000_000), (600, 60_000_000)])
        var model = SessionModel(
            video: try SessionVideo(megabits: Self.coarse, segmentDuration: 4, segments: 400),
            trace: trace
        )
        model.capacity = 30
        model.reviewInterval = 1
        var selector = BalancedSelector()
        let result = model.run(&selector)
        let after = result.rungs[320..<390]
        #expect(after.allSatisfy { $0 == 5 })
    }
}
