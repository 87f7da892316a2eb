import Adaptation
import MediaTiming
import Testing

/// Tests of sessions on synthetic links with other ladders, segment durations and buffers than those that the selector
/// was tuned with.
@Suite struct SyntheticSessionTests {
    struct Setting: Sendable, CustomTestStringConvertible {
        let megabits: [Double]
        let segment: Double
        let capacity: Double
        /// The typical rate of the link, in Mbit/s.
        let rate: Double

        var testDescription: String { "\(megabits.count) rungs, \(segment) s, buffer \(capacity) s" }
    }

    static let settings = [
        Setting(megabits: [0.3, 0.6, 1.2, 2.4, 4.5], segment: 4, capacity: 30, rate: 1.8),
        Setting(megabits: [0.145, 0.365, 0.73, 1.1, 2, 3, 4.5, 6, 7.8], segment: 6, capacity: 40, rate: 2.5),
        Setting(megabits: [1.5, 3, 6, 12, 20], segment: 2, capacity: 16, rate: 7),
        Setting(megabits: [0.4, 0.8, 1.6, 3.2, 6.4], segment: 10, capacity: 60, rate: 2),
    ]

    private func summary(
        _ selector: some VariantSelector,
        _ setting: Setting,
        _ kind: SyntheticTraces.Kind
    ) throws -> SessionSummary {
        let video = try SessionVideo(
            megabits: setting.megabits,
            segmentDuration: setting.segment,
            segments: Int(300 / setting.segment),
            spread: 0.4
        )
        var summary = SessionSummary()
        for trace in SyntheticTraces.traces(kind, around: setting.rate * 1_000_000, count: 3, seed: 77) {
            var model = SessionModel(video: video, trace: trace)
            model.capacity = setting.capacity
            model.reviewInterval = 0.5
            var own = selector
            summary.append(model.run(&own))
        }
        return summary
    }

    @Test(arguments: settings)
    func defaultSelectorOutperformsBufferAndThroughputSelectors(setting: Setting) throws {
        let top = try #require(setting.megabits.last)
        var qualities = (own: 0.0, best: 0.0)
        for kind in SyntheticTraces.Kind.allCases {
            let own = try summary(BalancedSelector(), setting, kind)
            let others = try [SelectorName.buffer, .throughput].map {
                try summary(AnyVariantSelector($0), setting, kind)
            }
            let best = try #require(others.map(\.meanQuality).max())
            qualities.own += own.meanQuality
            qualities.best += best
            #expect(own.meanQuality > best - 0.1 * top)
            // Up to 2 % of additional stall time compared with the others is an acceptable trade-off.
            #expect(own.stallSeconds <= (others.map(\.stallSeconds).max() ?? 0) + 6)
        }
        #expect(qualities.own > 1.1 * qualities.best)
    }
}
