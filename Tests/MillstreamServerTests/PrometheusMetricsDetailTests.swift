import Metrics
import Testing

@testable import MillstreamServer

/// Tests the text of metrics of all kinds, apart from those of the server.
@Suite struct PrometheusMetricsDetailTests {
    private let metrics = PrometheusMetrics([
        .init(name: "counts", type: .counter, help: "Counts."), .init(name: "none", type: .gauge, help: "None."),
        .init(name: "levels", type: .gauge, help: "Levels."), .init(name: "records", type: .gauge, help: "Records."),
        .init(name: "times", type: .histogram, help: "Times."),
    ])

    @Test func seriesAreSortedByTheirLabels() {
        metrics.makeCounter(label: "counts", dimensions: [("a", "2")]).increment(by: 3)
        metrics.makeCounter(label: "counts", dimensions: [("a", "1")]).increment(by: 1)
        // The same series as before.
        metrics.makeCounter(label: "counts", dimensions: [("a", "2")]).increment(by: 4)
        metrics.makeCounter(label: "unknown", dimensions: []).increment(by: 1)
        let text = "# HELP counts Counts.\n# TYPE counts counter\ncounts{a=\"1\"} 1\ncounts{a=\"2\"} 7\n"
        #expect(metrics.text == text)
        metrics.makeCounter(label: "counts", dimensions: [("a", "2")]).reset()
        #expect(metrics.text == text.replacing("7", with: "0"))
    }

    @Test func counterDoesNotOverflow() {
        let counter = metrics.makeCounter(label: "counts", dimensions: [])
        counter.increment(by: .max)
        counter.increment(by: 1)
        #expect(metrics.text.hasSuffix("\ncounts \(Int64.max)\n"))
    }

    @Test func gaugesHaveTheirLastValues() {
        let level = metrics.makeMeter(label: "levels", dimensions: [])
        let record = metrics.makeRecorder(label: "records", dimensions: [("b", "x")], aggregate: true)
        func values() -> [String] {
            metrics.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0) }
        }
        level.set(Int64(7))
        record.record(Int64(4))
        #expect(values() == ["levels 7", "records{b=\"x\"} 4"])
        level.increment(by: 2.5)
        record.record(0.25)
        #expect(values() == ["levels 9.5", "records{b=\"x\"} 0.25"])
        level.decrement(by: 1.5)
        #expect(values().first == "levels 8")
        level.set(-0.5)
        #expect(values().first == "levels -0.5")
    }

    @Test func histogramHasBuckets() {
        let times = metrics.makeTimer(label: "times", dimensions: [])
        times.recordNanoseconds(5_000_000)
        times.recordNanoseconds(20_000_000_000)
        let lines = metrics.text.split(separator: "\n")
        let start = ["# HELP times Times.", "# TYPE times histogram", "times_bucket{le=\"0.005\"} 1"]
        #expect(lines.prefix(3).map { String($0) } == start)
        let end = ["times_bucket{le=\"10\"} 1", "times_bucket{le=\"+Inf\"} 2", "times_sum 20.005", "times_count 2"]
        #expect(lines.suffix(4).map { String($0) } == end)
        #expect(lines.count == 16)
    }
}
