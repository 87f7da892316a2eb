import Adaptation
import MediaTiming
import Testing

/// Tests of which rungs are open and why others are closed.
@Suite struct LadderRestrictionTests {
    @Test func allRungsAreInitiallyOpen() throws {
        let restriction = LadderRestriction(try makeLadder(fiveRungs))
        #expect(restriction.openRungs == [0, 1, 2, 3, 4])
        #expect(!restriction.isOpen(5) && !restriction.isOpen(-1))
    }

    @Test func closedRungsHaveReasons() throws {
        var restriction = LadderRestriction(try makeLadder(fiveRungs))
        restriction.close(because: .codecs) { $0 == 2 }
        restriction.close(because: .viewSize) { $0 >= 2 }
        #expect(restriction.reasons == [nil, nil, .codecs, .viewSize, .viewSize])
        #expect(restriction.openRungs == [0, 1])
    }

    @Test func lowestOpenRungIsNeverClosed() throws {
        var restriction = LadderRestriction(try makeLadder(fiveRungs))
        restriction.close(because: .failed) { $0 == 0 }
        restriction.close(because: .codecs) { _ in true }
        #expect(restriction.openRungs == [1])
        restriction.close(because: .contentProtection) { _ in true }
        #expect(restriction.openRungs == [1])
    }

    @Test func nearestOpenRungIsLowerOrElseLowest() throws {
        var restriction = LadderRestriction(try makeLadder(fiveRungs))
        restriction.close(because: .failed) { $0 == 0 || $0 == 2 }
        #expect([0, 1, 2, 3, 9].map { restriction.nearestOpen(below: $0) } == [1, 1, 1, 3, 4])
    }

    @Test func capsAreCumulative() throws {
        let ladder = try makeLadder(fiveRungs)
        let caps = [
            PreferenceCap(peakBitRate: BitRate(bitsPerSecond: 4_000_000)),
            PreferenceCap(peakBitRate: BitRate(bitsPerSecond: 1_500_000)),
        ]
        #expect(LadderRestriction(ladder, caps: caps).openRungs == [0, 1])
    }
}
