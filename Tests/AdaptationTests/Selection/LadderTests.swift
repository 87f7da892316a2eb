import Adaptation
import MediaTiming
import Testing

/// Tests of the order of rungs and of the mapping to the variants of the playlist.
@Suite struct LadderTests {
    private static func rung(_ index: Int, peak: Int64, average: Int64? = nil) -> LadderRung {
        LadderRung(
            variantIndex: index,
            peakBitRate: BitRate(bitsPerSecond: peak),
            averageBitRate: average.map { BitRate(bitsPerSecond: $0) }
        )
    }

    @Test func rungsAreSortedByExpectedBitRate() throws {
        let ladder = try #require(
            Ladder([
                Self.rung(0, peak: 5_000_000),
                Self.rung(1, peak: 9_000_000, average: 3_000_000),
                Self.rung(2, peak: 1_000_000),
            ])
        )
        #expect(ladder.rungs.map(\.variantIndex) == [2, 1, 0])
        #expect(ladder.index(ofVariant: 1) == 1)
        #expect(ladder.index(ofVariant: 7) == nil)
    }

    @Test func equalRungsKeepPlaylistOrder() throws {
        let ladder = try #require(Ladder((0..<5).map { Self.rung($0, peak: 1_000_000) }))
        #expect(ladder.rungs.map(\.variantIndex) == [0, 1, 2, 3, 4])
    }

    @Test func ladderHasOneTo64Rungs() {
        #expect(Ladder([]) == nil)
        #expect(Ladder((0..<64).map { Self.rung($0, peak: 1) }) != nil)
        #expect(Ladder((0..<65).map { Self.rung($0, peak: 1) }) == nil)
    }

    @Test func indicesAreClamped() throws {
        let ladder = try makeLadder(fiveRungs)
        #expect([-1, 0, 4, 5, .max, .min].map(ladder.clamped) == [0, 0, 4, 4, 4, 0])
        #expect(ladder.highest == 4 && ladder.count == 5)
    }

    @Test(arguments: [(nil, 5), (3, 3), (8, 5), (0, 5), (-1, 5)] as [(Int64?, Int64)])
    func averageBitRateIsUsedUnlessInvalid(average: Int64?, expected: Int64) {
        #expect(Self.rung(0, peak: 5, average: average).expectedBitRate == BitRate(bitsPerSecond: expected))
    }
}
