import Adaptation
import Foundation
import MediaTiming
import SharedCorpus
import Testing

/// The results of sessions on many traces.
struct SessionSummary {
    private(set) var results: [SessionModel.Result] = []

    mutating func append(_ result: SessionModel.Result) { results.append(result) }

    var count: Double { Double(max(1, results.count)) }
    var meanQuality: Double { results.reduce(0) { $0 + $1.quality } / count }
    var medianQuality: Double {
        let sorted = results.map(\.quality).sorted()
        guard !sorted.isEmpty else { return 0 }
        return (sorted[sorted.count / 2] + sorted[(sorted.count - 1) / 2]) / 2
    }
    var stallRatio: Double { results.reduce(0) { $0 + $1.stallRatio } / count }
    var stallSeconds: Double { results.reduce(0) { $0 + $1.stallSeconds } / count }
    var switches: Double { results.reduce(0) { $0 + Double($1.switches) } / count }
}

/// Compares the default selector with results of the rules of the `sabre` simulator on the same traces.
///
/// An optimized build plays all traces and checks the goals. An unoptimized build would take minutes, so it plays every
/// tenth trace and checks only that the default selector is better than the others.
@Suite(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
struct SessionGoalTests {
    #if DEBUG
    static let stride = 10
    #else
    static let stride = 1
    #endif

    /// The goals for a set of traces.
    struct Goal: Sendable, CustomTestStringConvertible {
        let name: String
        let ladder: String
        /// The minimum quality over all traces: the mean, or the median for 3G, where a few outages dominate the mean.
        let quality: Double
        let usesMedian: Bool
        let stallRatio: Double
        let switches: Double

        var testDescription: String { name }
    }

    /// The goals of the default selector.
    ///
    /// Quality: the quality of the best rule plus a third of its distance to a search that knows the future. Stalls:
    /// the ratio of the rule BOLA-E. Switches: half as many as with that rule.
    static let goals = [
        Goal(name: "3Glogs", ladder: "bbb", quality: 0.559, usesMedian: true, stallRatio: 0.087, switches: 42),
        Goal(name: "4Glogs", ladder: "bbb4k", quality: 24.48, usesMedian: false, stallRatio: 0.0018, switches: 27),
        Goal(name: "sd_fs", ladder: "bbb", quality: 3.80, usesMedian: false, stallRatio: 0.001, switches: 24),
        Goal(name: "hd_fs", ladder: "bbb4k", quality: 11.14, usesMedian: false, stallRatio: 0.001, switches: 27),
    ]

    private static func summary(
        _ selector: some VariantSelector,
        _ goal: Goal,
        knowsSizes: Bool = false
    ) throws -> SessionSummary {
        let video = try SessionVideo(SharedCorpus.url("abr/ladders/\(goal.ladder).json"))
        let files = try SharedCorpus.files(below: "abr/traces/\(goal.name)", extensions: ["json"])
        try #require(files.count >= 40)
        var summary = SessionSummary()
        for index in Swift.stride(from: 0, to: files.count, by: stride) {
            var model = SessionModel(video: video, trace: try BandwidthTrace(files[index]))
            model.knowsSizes = knowsSizes
            if stride > 1 { model.reviewInterval = 0.5 }
            var own = selector
            summary.append(model.run(&own))
        }
        return summary
    }

    @Test(arguments: goals)
    func defaultSelectorReachesGoalsAndOutperformsOthers(goal: Goal) throws {
        let summary = try Self.summary(BalancedSelector(), goal)
        if Self.stride == 1 {
            #expect((goal.usesMedian ? summary.medianQuality : summary.meanQuality) >= goal.quality)
            #expect(summary.stallRatio <= goal.stallRatio)
        }
        #expect(summary.switches <= goal.switches * (Self.stride == 1 ? 1 : 1.5))
        for name in [SelectorName.buffer, .throughput] {
            let other = try Self.summary(AnyVariantSelector(name), goal)
            #expect(summary.meanQuality > other.meanQuality)
            #expect(summary.stallRatio <= other.stallRatio + 0.01)
            #expect(other.switches < 45 && other.stallRatio < 0.25)
        }
    }

    #if !DEBUG
    @Test(arguments: goals)
    func defaultSelectorReachesGoalsWithKnownSizes(goal: Goal) throws {
        let summary = try Self.summary(BalancedSelector(), goal, knowsSizes: true)
        #expect((goal.usesMedian ? summary.medianQuality : summary.meanQuality) >= goal.quality)
        #expect(summary.stallRatio <= goal.stallRatio)
        #expect(summary.switches <= goal.switches)
    }
    #endif
}
