import MediaTiming
import Testing

@testable import Adaptation

/// Tests of the long-term values of choices.
@Suite struct PlanTableTests {
    private func plan(_ megabits: [Double] = fiveRungs) throws -> PlanTable {
        let context = try SelectionContext.moment(megabits)
        return PlanCache.plan(
            for: PlanKey(context, latency: PlanKey.minimumLatency),
            ladder: context.ladder,
            model: RateModel(context.ladder),
            weights: BalancedSelector.Options().weights
        )
    }

    private func key(_ context: SelectionContext) -> PlanKey { PlanKey(context, latency: 0.1) }

    private func belief(_ plan: PlanTable, _ megabits: Double) -> LinkStateDistribution {
        LinkStateDistribution(plan.model, around: megabits * 1_000_000, octaves: 0.3)
    }

    @Test func fullerBufferHasHigherValue() throws {
        let plan = try plan()
        for megabits in [0.3, 1, 3, 9] {
            let values = [0.0, 1, 2, 4, 8, 16, 26].map {
                plan.value(ofTypicalSegment: 2, linkState: belief(plan, megabits), at: plan.level($0))
            }
            #expect(values == values.sorted())
        }
    }

    @Test func fasterLinkHasHigherValue() throws {
        let plan = try plan()
        let values = [0.3, 0.6, 1.2, 2.4, 5, 10].map {
            plan.value(ofTypicalSegment: 2, linkState: belief(plan, $0), at: plan.level(8))
        }
        #expect(values == values.sorted())
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
            let one = plan.value(of: transfer, linkState: belief(plan, megabits), bufferSeconds: 9)
            let typical = plan.value(ofTypicalSegment: rung, linkState: belief(plan, megabits), at: plan.level(9))
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
        #expect(usual.isValid(for: key(try .moment(capacity: 33, segment: 4.5))))
        #expect(!usual.isValid(for: key(try .moment(segment: 6))))
        #expect(!usual.isValid(for: key(try .moment(capacity: 60))))
        #expect(!usual.isValid(for: key(try .moment([1, 2]))))
        var faster = try SelectionContext.moment(capacity: 60, segment: 8)
        faster.playbackRate = 2
        #expect(!usual.isValid(for: key(faster)))
        faster = try .moment()
        faster.playbackRate = 1.05
        #expect(usual.isValid(for: key(faster)))
    }

    @Test func longLaddersAreReducedInPlanKey() throws {
        let long = key(try .moment((1...60).map { 0.1 * Double($0) }))
        #expect(long.rungs.count == PlanKey.maximumRungCount)
        #expect(long.rungs.first == 0 && long.rungs.suffix(1).allSatisfy { $0 > 56 })
        #expect(long.rungs == long.rungs.sorted())
    }

    @Test func latencyIsPartOfThePlanKey() throws {
        func key(_ latency: Double) throws -> PlanKey { PlanKey(try .moment(), latency: latency) }
        #expect(try key(0) == key(0.2) && key(1) == key(1.01))
        #expect(try key(1).isValid(for: key(1.15)) && !key(1).isValid(for: key(1.5)) && !key(0.1).isValid(for: key(1)))
        #expect(try key(60) == key(1e9))
        #expect(try abs(key(1.23).latency - 1.23) <= 0.05)
    }
}
