import Adaptation
import MediaTiming
import Testing

/// Tests of the cap by the author's score.
@Suite struct ScoreCapTests {
    private static func ladder(_ rungs: [(megabits: Int64, score: Double?)]) throws -> Ladder {
        try #require(
            Ladder(
                rungs.map { rung in
                    LadderRung(peakBitRate: BitRate(bitsPerSecond: rung.megabits * 1_000_000), score: rung.score)
                }
            )
        )
    }

    @Test(
        arguments: [
            ([(1, 1), (2, 2), (3, 3)], [0, 1, 2]),
            ([(1, 1), (2, 3), (3, 2), (4, 3), (5, 4)], [0, 1, 3, 4]),
            ([(1, 5), (2, 4), (3, 3)], [0]),
            ([(1, 1), (2, 2), (2, 1), (3, 2)], [0, 1, 3]),
            ([(1, 1), (2, 1), (3, 1)], [0, 1, 2]),
            ([(1, 3), (2, 2), (3, nil)], [0, 1, 2]),
            ([(1, nil), (2, nil)], [0, 1]),
            ([(1, 1)], [0]),
        ] as [([(Int64, Double?)], [Int])]
    )
    func higherRungOfALowerScoreIsExcluded(rungs: [(Int64, Double?)], allowed: [Int]) throws {
        let ladder = try Self.ladder(rungs.map { (megabits: $0.0, score: $0.1) })
        let restriction = LadderRestriction(ladder, caps: [ScoreCap()])
        #expect(restriction.allowedRungs == allowed)
        #expect(restriction.reasons.compactMap { $0 }.allSatisfy { $0 == .score })
    }

    @Test func scoreOfAnExcludedRungExcludesNoOther() throws {
        let ladder = try Self.ladder([(megabits: 1, score: 1), (megabits: 2, score: 3), (megabits: 3, score: 2)])
        var restriction = LadderRestriction(ladder)
        restriction.exclude(because: .failed) { $0 == 1 }
        ScoreCap().restrict(&restriction, of: ladder)
        #expect(restriction.reasons == [nil, .failed, nil])
    }

    @Test func averageBitRateDecidesWhichRungIsLower() throws {
        let costly = LadderRung(
            variantIndex: 0,
            peakBitRate: BitRate(bitsPerSecond: 2_000_000),
            averageBitRate: BitRate(bitsPerSecond: 1_900_000),
            score: 1
        )
        let efficient = LadderRung(
            variantIndex: 1,
            peakBitRate: BitRate(bitsPerSecond: 3_000_000),
            averageBitRate: BitRate(bitsPerSecond: 1_000_000),
            score: 2
        )
        let ladder = try #require(Ladder([costly, efficient]))
        let restriction = LadderRestriction(ladder, caps: [ScoreCap()])
        #expect(restriction.allowedRungs.map { ladder.rungs[$0].variantIndex } == [1])
    }
}
