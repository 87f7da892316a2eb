import Adaptation
import MediaTiming
import Testing

/// Tests of selectors with a fixed choice, and of the creation of selectors by name.
@Suite struct FixedSelectorTests {
    @Test(
        arguments: [(.lowest, 0), (.highest, 4), (.index(2), 2), (.index(-3), 0), (.index(99), 4)]
            as [(FixedSelector.Choice, Int)]
    )
    func fixedChoiceIsKept(choice: FixedSelector.Choice, rung: Int) throws {
        var selector = FixedSelector(choice)
        for megabits in [0.1, 50, 1] {
            selector.learn(megabits)
            let decision = selector.decide(try .moment(current: 3, buffer: 0))
            #expect(decision.rung == rung && decision.cause == .fixed && decision.delay == nil)
        }
    }

    @Test func closedRungIsReplacedByNextLowerOpenRung() throws {
        var context = try SelectionContext.moment()
        context.restriction.exclude(because: .codecs) { $0 > 2 }
        var selector = FixedSelector(.highest)
        #expect(selector.decide(context).rung == 2)
        selector = FixedSelector(.index(4))
        let decision = selector.decide(context)
        #expect(decision.rung == 2 && decision.cause == .restriction)
    }

    @Test(arguments: [(.fixedLowest, 0), (.fixedHighest, 4)] as [(SelectorName, Int)])
    func fixedSelectorsAreCreatedByName(name: SelectorName, rung: Int) throws {
        var selector = AnyVariantSelector(name, initialEstimate: BitRate(bitsPerSecond: 3_000_000))
        selector.learn(3)
        selector.resetAfterSeek()
        #expect(selector.decide(try .moment(current: 2)).rung == rung)
    }

    @Test func customSelectorIsUsed() throws {
        var selector = AnyVariantSelector(FixedSelector(.index(3)))
        #expect(selector.name == nil)
        #expect(selector.decide(try .moment()).rung == 3)
    }
}
