import Adaptation
import Testing

/// Tests of the cap on rungs that the device cannot decode in time.
@Suite struct DroppedFramesCapTests {
    private func open(_ cap: DroppedFramesCap) throws -> [Int] {
        LadderRestriction(try makeLadder(fiveRungs), caps: [cap]).allowedRungs
    }

    @Test func rungWithManyDroppedFramesIsClosedWithAllHigherRungs() throws {
        var cap = DroppedFramesCap(ladder: try makeLadder(fiveRungs))
        cap.add(rung: 3, displayed: 90, dropped: 40, now: .seconds(10))
        #expect(try open(cap) == [0, 1, 2])
        #expect(LadderRestriction(try makeLadder(fiveRungs), caps: [cap]).reasons[4] == .droppedFrames)
    }

    @Test(arguments: [(80, 20), (5, 100), (1_000, 240), (0, 0), (-5, -5)])
    func fewFramesOrFewDropsCloseNoRung(shown: Int, dropped: Int) throws {
        var cap = DroppedFramesCap(ladder: try makeLadder(fiveRungs))
        cap.add(rung: 3, displayed: shown, dropped: dropped, now: .seconds(10))
        #expect(try open(cap) == [0, 1, 2, 3, 4])
    }

    @Test func closureExpiresAndDoublesEachTime() throws {
        var cap = DroppedFramesCap(ladder: try makeLadder(fiveRungs))
        var now = 0.0
        for seconds in [60.0, 120, 240] {
            cap.add(rung: 4, displayed: 0, dropped: 200, now: .seconds(now))
            cap.advance(to: .seconds(now + seconds - 1))
            #expect(try open(cap) == [0, 1, 2, 3])
            now += seconds
            cap.advance(to: .seconds(now))
            #expect(try open(cap) == [0, 1, 2, 3, 4])
        }
        cap.add(rung: 4, displayed: 0, dropped: 200, now: .seconds(now))
        cap.advance(to: .seconds(now + 1e6))
        #expect(try open(cap) == [0, 1, 2, 3])
    }

    @Test func recentDroppedFramesOutweighOldReports() throws {
        var cap = DroppedFramesCap(ladder: try makeLadder(fiveRungs))
        for second in 0..<600 { cap.add(rung: 4, displayed: 30, dropped: 0, now: .seconds(second)) }
        for second in 600..<630 { cap.add(rung: 4, displayed: 10, dropped: 20, now: .seconds(second)) }
        #expect(try open(cap) == [0, 1, 2, 3])
    }

    @Test func lowestRungIsNeverClosed() throws {
        var cap = DroppedFramesCap(ladder: try makeLadder(fiveRungs))
        cap.add(rung: 0, displayed: 0, dropped: 500, now: .zero)
        #expect(try open(cap) == [0])
    }

    @Test func extremeFrameReportsDoNotTrap() throws {
        let ladder = try makeLadder(fiveRungs)
        let moments: [Duration] = [.zero, .seconds(-1), .seconds(Int64.max), .seconds(Int64.min), .seconds(5)]
        for moment in moments {
            let options = DroppedFramesCap.Options(
                maximumDroppedFraction: moment == .zero ? .nan : 0.1,
                minimumFrameCount: .min,
                initialExclusionDuration: moment,
                maximumTemporaryExclusions: .max
            )
            var cap = DroppedFramesCap(ladder: ladder, options: options)
            for now in moments {
                for rung in [-1, 0, 4, 5, .max, .min] {
                    cap.add(rung: rung, displayed: .max, dropped: .max, now: now)
                    cap.add(rung: rung, displayed: .min, dropped: 1_000, now: now)
                }
                cap.advance(to: now)
            }
            #expect(try !open(cap).isEmpty)
        }
    }
}
