import Adaptation
import MediaTiming
import Testing

/// Tests of which rungs are open and why others are closed.
@Suite struct LadderRestrictionTests {
    @Test func allRungsAreInitiallyOpen() throws {
        let restriction = LadderRestriction(try makeLadder(fiveRungs))
        #expect(restriction.allowedRungs == [0, 1, 2, 3, 4])
        #expect(!restriction.isAllowed(5) && !restriction.isAllowed(-1))
    }

    @Test func closedRungsHaveReasons() throws {
        var restriction = LadderRestriction(try makeLadder(fiveRungs))
        restriction.exclude(because: .codecs) { $0 == 2 }
        restriction.exclude(because: .viewSize) { $0 >= 2 }
        #expect(restriction.reasons == [nil, nil, .codecs, .viewSize, .viewSize])
        #expect(restriction.allowedRungs == [0, 1])
    }

    @Test func lowestOpenRungIsNeverClosed() throws {
        var restriction = LadderRestriction(try makeLadder(fiveRungs))
        restriction.exclude(because: .failed) { $0 == 0 }
        restriction.exclude(because: .codecs) { _ in true }
        #expect(restriction.allowedRungs == [1])
        restriction.exclude(because: .contentProtection) { _ in true }
        #expect(restriction.allowedRungs == [1])
    }

    @Test func nearestOpenRungIsLowerOrElseLowest() throws {
        var restriction = LadderRestriction(try makeLadder(fiveRungs))
        restriction.exclude(because: .failed) { $0 == 0 || $0 == 2 }
        #expect([0, 1, 2, 3, 9].map { restriction.nearestAllowed(atOrBelow: $0) } == [1, 1, 1, 3, 4])
    }

    @Test func capsAreCumulative() throws {
        let ladder = try makeLadder(fiveRungs)
        let caps = [
            PreferenceCap(peakBitRate: BitRate(bitsPerSecond: 4_000_000)),
            PreferenceCap(peakBitRate: BitRate(bitsPerSecond: 1_500_000)),
        ]
        #expect(LadderRestriction(ladder, caps: caps).allowedRungs == [0, 1])
    }
}
