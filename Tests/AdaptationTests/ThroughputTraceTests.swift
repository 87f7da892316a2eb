import Adaptation
import Foundation
import MediaTiming
import SharedCorpus
import Testing

/// Tests with measured traces: on trains and trams (3G, 4G) and at home (sd, hd).
@Suite(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder")) struct ThroughputTraceTests {
    /// The errors of estimates relative to the rate of the next segment.
    struct Errors {
        var relative: [Double] = []
        var overestimates = 0

        var count: Int { relative.count }
        var mean: Double { relative.reduce(0, +) / Double(count) }
        var median: Double { relative.sorted()[count / 2] }
        var overestimateShare: Double { Double(overestimates) / Double(count) }
    }

    /// The bounds are about 15 % above the errors that were measured when the estimator was written.
    @Test(
        arguments: [
            ("3Glogs", 0, 0.37, 0.21, 0.085), ("4Glogs", 0, 0.32, 0.25, 0.065),
            ("sd_fs", 0, 0.21, 0.12, 0.01), ("hd_fs", 0, 0.42, 0.38, 0.01),
            ("3Glogs", 4, 0.48, 0.26, 0.11), ("4Glogs", 4, 0.63, 0.44, 0.13),
            ("sd_fs", 4, 0.53, 0.55, 0.01), ("hd_fs", 4, 0.65, 0.8, 0.01),
        ] as [(String, Double, Double, Double, Double)]
    )
    func estimatesAreCloseToRateOfNextSegment(
        set: String,
        interval: Double,
        mean: Double,
        median: Double,
        overestimateShare: Double
    ) throws {
        var errors = Errors()
        for url in try SharedCorpus.files(below: "abr/traces/\(set)", extensions: ["json"]) {
            try download(TracedLink(url), every: interval, into: &errors)
        }
        #expect(errors.mean < mean)
        #expect(errors.median < median)
        #expect(errors.overestimateShare < overestimateShare)
    }

    /// Downloads 4 s segments at 1 Mbit/s until the trace ends, at most one every `interval` seconds.
    private func download(_ link: TracedLink, every interval: Double, into errors: inout Errors) throws {
        var estimator = ThroughputEstimator()
        var link = link
        // 200 segments are 13 minutes of video, which is fast to simulate even on a fast link.
        for _ in 0..<200 where link.now < link.length {
            let sample = link.download(bytes: 500_000)
            let rate = 4_000_000 / ((sample.end - sample.start) / .seconds(1))
            if let estimate = estimator.estimate {
                let error = Double(estimate.bitsPerSecond) / rate - 1
                errors.relative.append(abs(error))
                if error > 0.5 { errors.overestimates += 1 }
            }
            estimator.add(sample)
            let sent = (sample.start - sample.latency) / .seconds(1)
            link.wait(until: sent + interval)
        }
    }
}
