import MediaTiming
import Metrics
import Synchronization

/// A factory of metrics that writes their values in the text exposition format of Prometheus.
///
/// A counter is written as a counter, a timer as a histogram in seconds, and a meter or recorder as a gauge.
final class PrometheusMetrics: MetricsFactory {
    /// The description of a metric.
    struct Definition: Sendable {
        let name: String
        let type: MetricType
        let help: String
    }

    enum MetricType: String, Sendable {
        case counter, gauge, histogram
    }

    /// The labels of a series.
    private struct Labels: Hashable, Comparable {
        let values: [String]
        let text: String

        init(_ dimensions: [(String, String)]) {
            values = dimensions.map(\.1)
            text = dimensions.map { "\($0.0)=\"\($0.1.escapedForLabel)\"" }.joined(separator: ",")
        }

        static func < (left: Labels, right: Labels) -> Bool { left.values.lexicographicallyPrecedes(right.values) }
    }

    private let definitions: [Definition]
    private let series = Mutex<[String: [Labels: any MetricSeries]]>([:])

    /// Creates a factory.
    ///
    /// - Parameter definitions: The metrics in the order in which they are written. Metrics with other names are not written.
    init(_ definitions: [Definition]) {
        self.definitions = definitions
    }

    /// The metrics in the text exposition format.
    var text: String {
        let series = series.withLock { $0 }
        var text = ""
        for definition in definitions {
            guard let known = series[definition.name], !known.isEmpty else { continue }
            text +=
                "# HELP \(definition.name) \(definition.help)\n# TYPE \(definition.name) \(definition.type.rawValue)\n"
            for (labels, metric) in known.sorted(by: { $0.key < $1.key }) {
                metric.write(definition.name, labels: labels.text, to: &text)
            }
        }
        return text
    }

    /// Returns the series with the given labels, which is created at the first call.
    private func metric<Metric: MetricSeries>(
        _ label: String,
        _ dimensions: [(String, String)],
        _ create: () -> Metric
    ) -> Metric {
        let labels = Labels(dimensions)
        return series.withLock { series in
            if let known = series[label]?[labels] as? Metric { return known }
            let metric = create()
            series[label, default: [:]][labels] = metric
            return metric
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        metric(label, dimensions) { CounterSeries() }
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        metric(label, dimensions) { GaugeSeries() }
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        metric(label, dimensions) { GaugeSeries() }
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        metric(label, dimensions) { HistogramSeries() }
    }

    // A counter that is no longer updated keeps its value, so that sums over time remain correct.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}

/// The values of a metric with certain labels.
private protocol MetricSeries: Sendable {
    /// Writes the values.
    func write(_ name: String, labels: String, to text: inout String)
}

private final class CounterSeries: MetricSeries, CounterHandler {
    private let value = Mutex<Int64>(0)

    func increment(by amount: Int64) { value.withLock { $0 +|= amount } }

    func reset() { value.withLock { $0 = 0 } }

    func write(_ name: String, labels: String, to text: inout String) {
        text += "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(value.withLock { $0 })\n"
    }
}

private final class GaugeSeries: MetricSeries, MeterHandler, RecorderHandler {
    private let value = Mutex(0.0)

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) { self.value.withLock { $0 = value } }

    func increment(by amount: Double) { value.withLock { $0 += amount } }

    func decrement(by amount: Double) { value.withLock { $0 -= amount } }

    func record(_ value: Int64) { set(value) }

    func record(_ value: Double) { set(value) }

    func write(_ name: String, labels: String, to text: inout String) {
        let value = value.withLock { $0 }
        let number = value.rounded() == value ? String(Int64(saturating: value)) : String(value)
        text += "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(number)\n"
    }
}

/// A histogram with the buckets that Prometheus uses by default.
private final class HistogramSeries: MetricSeries, TimerHandler {
    private static let bounds: [(nanoseconds: Int64, text: String)] = [
        (5_000_000, "0.005"), (10_000_000, "0.01"), (25_000_000, "0.025"), (50_000_000, "0.05"), (100_000_000, "0.1"),
        (250_000_000, "0.25"), (500_000_000, "0.5"), (1_000_000_000, "1"), (2_500_000_000, "2.5"),
        (5_000_000_000, "5"), (10_000_000_000, "10"),
    ]

    private struct Values {
        var counts = [Int](repeating: 0, count: bounds.count)
        var count = 0
        var sum = 0.0
    }

    private let values = Mutex(Values())

    func recordNanoseconds(_ duration: Int64) {
        values.withLock { values in
            if let bucket = Self.bounds.firstIndex(where: { duration <= $0.nanoseconds }) {
                values.counts[bucket] +|= 1
            }
            values.count +|= 1
            values.sum += Double(duration) / 1e9
        }
    }

    func write(_ name: String, labels: String, to text: inout String) {
        let values = values.withLock { $0 }
        let separator = labels.isEmpty ? "" : ","
        var total = 0
        for (bound, count) in zip(Self.bounds, values.counts) {
            total +|= count
            text += "\(name)_bucket{\(labels)\(separator)le=\"\(bound.text)\"} \(total)\n"
        }
        let suffix = labels.isEmpty ? "" : "{\(labels)}"
        text += "\(name)_bucket{\(labels)\(separator)le=\"+Inf\"} \(values.count)\n"
        text += "\(name)_sum\(suffix) \(values.sum)\n\(name)_count\(suffix) \(values.count)\n"
    }
}

extension String {
    /// The text as the value of a label.
    fileprivate var escapedForLabel: String {
        replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
