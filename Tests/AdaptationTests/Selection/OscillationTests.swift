import Adaptation
import Testing

/// On a link that does not change, the picture comes to rest.
@Suite struct OscillationTests {
    static let fine = [0.23, 0.331, 0.477, 0.688, 0.991, 1.427, 2.056, 2.962, 5.027, 6]
    static let coarse = [1.0, 2.5, 5, 8, 16, 35]

    /// Half an hour of segments of 4 s.
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
    func pictureRestsOnAFineLadder(megabits: Double) throws {
        for name in [SelectorName.default, .throughput, .buffer] {
            let result = try halfAnHour(name, Self.fine, megabits, spread: 0)
            #expect(result.switches <= 8)
            #expect(result.stallSeconds == 0)
            #expect(result.megabits > 0.5 * megabits)
        }
    }

    @Test(arguments: [12, 30])
    func pictureRestsOnACoarseLadderWithSegmentsOfAllSizes(megabits: Double) throws {
        for name in [SelectorName.default, .throughput, .buffer] {
            let result = try halfAnHour(name, Self.coarse, megabits, spread: 0.3)
            #expect(result.switches <= 8)
            #expect(result.stallSeconds == 0)
        }
    }

    @Test func linkThatChangesIsFollowedAfterARest() throws {
        // Twenty minutes between two rungs, where rises become dear, and then a faster link.
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
