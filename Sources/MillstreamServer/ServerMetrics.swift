import Synchronization

/// The counters of the server, for Prometheus.
final class ServerMetrics: Sendable {
    private struct Key: Hashable {
        let area: String
        let status: Int
    }

    private let counts = Mutex<[Key: Int]>([:])

    /// The parts of the server: a fixed set, so that requested paths cannot add labels.
    private static let areas = ["play.m3u8", "segment", "offline", "api", "console", "health", "metrics"]

    func count(path: String, status: Int) {
        let first = path.split(separator: "/").first.map(String.init) ?? "console"
        let area = Self.areas.contains(first) ? first : "other"
        counts.withLock { $0[Key(area: area, status: status), default: 0] += 1 }
    }

    /// Returns the metrics in the text exposition format of Prometheus.
    func text(downloads: Int, listeners: Int, connections: Int) -> String {
        var text = "# HELP millstream_requests_total Responses, by part of the server and status.\n"
        text += "# TYPE millstream_requests_total counter\n"
        let sorted = counts.withLock { $0 }.sorted { ($0.key.area, $0.key.status) < ($1.key.area, $1.key.status) }
        for (key, count) in sorted {
            text += "millstream_requests_total{area=\"\(key.area)\",status=\"\(key.status)\"} \(count)\n"
        }
        text += "# HELP millstream_downloads_running Running downloads.\n# TYPE millstream_downloads_running gauge\n"
        text += "millstream_downloads_running \(downloads)\n"
        text += "# HELP millstream_event_listeners Open streams of events.\n# TYPE millstream_event_listeners gauge\n"
        text += "millstream_event_listeners \(listeners)\n"
        text += "# HELP millstream_connections Open connections.\n# TYPE millstream_connections gauge\n"
        text += "millstream_connections \(connections)\n"
        return text
    }
}
