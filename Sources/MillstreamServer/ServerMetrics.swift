import MediaTiming
import MediaTransport
import Synchronization

/// The counters of the server, for Prometheus.
final class ServerMetrics: Sendable {
    /// The ways in which a request for an edited playlist is answered.
    enum PlaylistSource: String, CaseIterable {
        /// The sources are fresh, and so is the edited playlist.
        case fresh
        /// The sources were requested again and have not changed.
        case validated
        /// The playlist was edited.
        case edited
    }

    private struct Key: Hashable {
        let area: String
        let status: Int
    }

    /// A histogram with the buckets that Prometheus uses by default.
    private struct Histogram {
        static let bounds: [(seconds: Double, text: String)] = [
            (0.005, "0.005"), (0.01, "0.01"), (0.025, "0.025"), (0.05, "0.05"), (0.1, "0.1"), (0.25, "0.25"),
            (0.5, "0.5"), (1, "1"), (2.5, "2.5"), (5, "5"), (10, "10"),
        ]

        private(set) var counts = [Int](repeating: 0, count: bounds.count)
        private(set) var count = 0
        private(set) var sum = 0.0

        mutating func add(_ seconds: Double) {
            if let bucket = Self.bounds.firstIndex(where: { seconds <= $0.seconds }) { counts[bucket] +|= 1 }
            count +|= 1
            sum += seconds
        }
    }

    private struct Counts {
        var requests: [Key: Int] = [:]
        var durations: [String: Histogram] = [:]
        var playlists: [PlaylistSource: Int] = [:]
        var sourceErrors: [String: Int] = [:]
    }

    private let counts = Mutex(Counts())

    /// The parts of the server: a fixed set, so that requested paths cannot add labels.
    private static let areas = ["play.m3u8", "segment", "offline", "api", "console", "health", "metrics"]

    /// Counts a response.
    ///
    /// - Parameters:
    ///   - path: The path of the request.
    ///   - status: The status of the response.
    ///   - duration: The time from the request to the head of the response.
    func count(path: String, status: Int, duration: Duration) {
        let first = path.split(separator: "/").first.map(String.init) ?? "console"
        let area = Self.areas.contains(first) ? first : "other"
        counts.withLock { counts in
            counts.requests[Key(area: area, status: status), default: 0] +|= 1
            counts.durations[area, default: Histogram()].add(duration / .seconds(1))
        }
    }

    /// Counts an answer to a request for an edited playlist.
    func countPlaylist(_ source: PlaylistSource) { counts.withLock { $0.playlists[source, default: 0] +|= 1 } }

    /// Counts a source that could not be loaded; the codes of errors are a fixed set.
    func countSourceError(_ code: TransportError.Code) {
        counts.withLock { $0.sourceErrors[code.rawValue, default: 0] +|= 1 }
    }

    /// Returns the metrics in the text exposition format of Prometheus.
    func text(downloads: Int, listeners: Int, connections: Int) -> String {
        let counts = counts.withLock { $0 }
        var text = Self.head("requests_total", "counter", "Responses, by part of the server and status.")
        let sorted = counts.requests.sorted { ($0.key.area, $0.key.status) < ($1.key.area, $1.key.status) }
        for (key, count) in sorted {
            text += "millstream_requests_total{area=\"\(key.area)\",status=\"\(key.status)\"} \(count)\n"
        }
        text += Self.head(
            "request_duration_seconds",
            "histogram",
            "Time from a request to the head of its response, by part of the server."
        )
        for (area, histogram) in counts.durations.sorted(by: { $0.key < $1.key }) {
            let name = "millstream_request_duration_seconds"
            var total = 0
            for (bound, count) in zip(Histogram.bounds, histogram.counts) {
                total +|= count
                text += "\(name)_bucket{area=\"\(area)\",le=\"\(bound.text)\"} \(total)\n"
            }
            text += "\(name)_bucket{area=\"\(area)\",le=\"+Inf\"} \(histogram.count)\n"
            text += "\(name)_sum{area=\"\(area)\"} \(histogram.sum)\n"
            text += "\(name)_count{area=\"\(area)\"} \(histogram.count)\n"
        }
        text += Self.head("edited_playlists_total", "counter", "Edited playlists, by the state of their sources.")
        for source in PlaylistSource.allCases {
            let count = counts.playlists[source] ?? 0
            text += "millstream_edited_playlists_total{sources=\"\(source.rawValue)\"} \(count)\n"
        }
        text += Self.head("source_errors_total", "counter", "Sources that could not be loaded, by error code.")
        for (code, count) in counts.sourceErrors.sorted(by: { $0.key < $1.key }) {
            text += "millstream_source_errors_total{code=\"\(code)\"} \(count)\n"
        }
        text += Self.gauge("downloads_running", downloads, "Running downloads.")
        text += Self.gauge("event_listeners", listeners, "Open streams of events.")
        return text + Self.gauge("connections", connections, "Open connections.")
    }

    private static func head(_ name: String, _ type: String, _ help: String) -> String {
        "# HELP millstream_\(name) \(help)\n# TYPE millstream_\(name) \(type)\n"
    }

    private static func gauge(_ name: String, _ value: Int, _ help: String) -> String {
        head(name, "gauge", help) + "millstream_\(name) \(value)\n"
    }
}
