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

    @Test func everyNameCreatesASelector() throws {
        #expect(
            SelectorName.allCases.map(\.rawValue).sorted() == [
                "buffer", "default", "fixed-highest", "fixed-lowest", "throughput",
            ]
        )
        for name in SelectorName.allCases {
            var selector = AnyVariantSelector(name, initialEstimate: BitRate(bitsPerSecond: 3_000_000))
            #expect(selector.name == name)
            selector.learn(3)
            selector.resetAfterSeek()
            let rung = selector.decide(try .moment(current: 2)).rung
            #expect(name == .fixedHighest ? rung == 4 : name == .fixedLowest ? rung == 0 : (1...2).contains(rung))
        }
    }

    @Test func customSelectorIsUsed() throws {
        var selector = AnyVariantSelector(FixedSelector(.index(3)))
        #expect(selector.name == nil)
        #expect(selector.decide(try .moment()).rung == 3)
    }
}
