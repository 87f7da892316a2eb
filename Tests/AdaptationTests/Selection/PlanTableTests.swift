import MediaTiming
import Testing

@testable import Adaptation

/// Tests of the long-term values of choices.
@Suite struct PlanTableTests {
    private func plan(_ megabits: [Double] = fiveRungs) throws -> PlanTable {
        let situation = try SelectionSituation.moment(megabits)
        return PlanShelf.plan(
            PlanKey(situation, latency: PlanKey.leastLatency),
            ladder: situation.ladder,
            model: LinkModel(situation.ladder),
            weights: BalancedSelector.Options().weights
        )
    }

    private func key(_ situation: SelectionSituation) -> PlanKey { PlanKey(situation, latency: 0.1) }

    private func belief(_ plan: PlanTable, _ megabits: Double) -> LinkBelief {
        LinkBelief(plan.model, around: megabits * 1_000_000, octaves: 0.3)
    }

    @Test func fullerBufferHasHigherValue() throws {
        let plan = try plan()
        for megabits in [0.3, 1, 3, 9] {
            let worths = [0.0, 1, 2, 4, 8, 16, 26].map {
                plan.worth(ofTypical: 2, belief(plan, megabits), at: plan.level($0))
            }
            #expect(worths == worths.sorted())
        }
    }

    @Test func fasterLinkHasHigherValue() throws {
        let plan = try plan()
        let worths = [0.3, 0.6, 1.2, 2.4, 5, 10].map {
            plan.worth(ofTypical: 2, belief(plan, $0), at: plan.level(8))
        }
        #expect(worths == worths.sorted())
    }

    @Test(arguments: [0.7, 2, 6])
    func transferOfExpectedSizeHasValueOfTypicalOne(megabits: Double) throws {
        let plan = try plan()
        for rung in 0..<plan.rungs {
            let transfer = PlanTable.Transfer(
                rung: rung,
                bits: fiveRungs[rung] * 4_000_000,
                latency: plan.key.latency,
                isSizeKnown: false,
                mayBeAbandoned: true
            )
            let one = plan.worth(of: transfer, belief(plan, megabits), buffer: 9)
            let typical = plan.worth(ofTypical: rung, belief(plan, megabits), at: plan.level(9))
            // The plan is interpolated between its levels, and this value looks one step further ahead.
            #expect(abs(one - typical) < 0.3)
        }
    }

    @Test func bufferLevelsAreMonotonic() throws {
        let plan = try plan()
        #expect(plan.level(-5).index == 0 && plan.level(-5).fraction == 0)
        #expect(plan.level(1e9).index == PlanTable.levels - 2 && plan.level(1e9).fraction == 1)
        var last = -1.0
        for step in 0...260 {
            let level = plan.level(Double(step) / 10)
            #expect((0...1).contains(level.fraction))
            let position = Double(level.index) + level.fraction
            #expect(position > last)
            last = position
        }
    }

    @Test func smallChangesReuseThePlan() throws {
        let usual = key(try .moment())
        #expect(usual.serves(key(try .moment(capacity: 33, segment: 4.5))))
        #expect(!usual.serves(key(try .moment(segment: 6))))
        #expect(!usual.serves(key(try .moment(capacity: 60))))
        #expect(!usual.serves(key(try .moment([1, 2]))))
        var faster = try SelectionSituation.moment(capacity: 60, segment: 8)
        faster.rate = 2
        #expect(!usual.serves(key(faster)))
        faster = try .moment()
        faster.rate = 1.05
        #expect(usual.serves(key(faster)))
    }

    @Test func longLaddersAreReducedInPlanKey() throws {
        let long = key(try .moment((1...60).map { 0.1 * Double($0) }))
        #expect(long.rungs.count == PlanKey.mostRungs)
        #expect(long.rungs.first == 0 && long.rungs.suffix(1).allSatisfy { $0 > 56 })
        #expect(long.rungs == long.rungs.sorted())
    }

    @Test func latencyIsPartOfThePlanKey() throws {
        func key(_ latency: Double) throws -> PlanKey { PlanKey(try .moment(), latency: latency) }
        #expect(try key(0) == key(0.2) && key(1) == key(1.01))
        #expect(try key(1).serves(key(1.15)) && !key(1).serves(key(1.5)) && !key(0.1).serves(key(1)))
        #expect(try key(60) == key(1e9))
        #expect(try abs(key(1.23).latency - 1.23) <= 0.05)
    }
}
