import MediaTransport
import Metrics
import Synchronization

/// The metrics of the server: for `/metrics`, and for the metrics system that the application has chosen.
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

    /// The labels of a response.
    private struct Response: Hashable {
        let area: String
        let status: Int
    }

    private let prometheus = PrometheusMetrics([
        .init(
            name: "millstream_requests_total",
            type: .counter,
            help: "Responses, by part of the server and status."
        ),
        .init(
            name: "millstream_request_duration_seconds",
            type: .histogram,
            help: "Time from a request to the head of its response, by part of the server."
        ),
        .init(
            name: "millstream_edited_playlists_total",
            type: .counter,
            help: "Edited playlists, by the state of their sources."
        ),
        .init(
            name: "millstream_source_errors_total",
            type: .counter,
            help: "Sources that could not be loaded, by error code."
        ),
        .init(name: "millstream_downloads_running", type: .gauge, help: "Running downloads."),
        .init(name: "millstream_event_listeners", type: .gauge, help: "Open streams of events."),
        .init(name: "millstream_connections", type: .gauge, help: "Open connections."),
    ])
    private let factory: any MetricsFactory

    private let responses = Mutex<[Response: Counter]>([:])
    private let durations: [String: Timer]
    private let playlists: [PlaylistSource: Counter]
    private let downloads: Meter
    private let listeners: Meter
    private let connections: Meter

    /// The parts of the server: a fixed set, so that requested paths cannot add labels.
    private static let areas = ["play.m3u8", "play.mpd", "segment", "offline", "api", "console", "health", "metrics"]
    private static let otherArea = "other"

    /// Creates the metrics.
    ///
    /// - Parameter system: The metrics system that receives the metrics as well.
    init(system: any MetricsFactory = MetricsSystem.factory) {
        let factory = MultiplexMetricsHandler(factories: [prometheus, system])
        self.factory = factory
        playlists = Dictionary(
            uniqueKeysWithValues: PlaylistSource.allCases.map { source in
                (
                    source,
                    Counter(
                        label: "millstream_edited_playlists_total",
                        dimensions: [("sources", source.rawValue)],
                        factory: factory
                    )
                )
            }
        )
        durations = Dictionary(
            uniqueKeysWithValues: (Self.areas + [Self.otherArea]).map { area in
                (
                    area,
                    Timer(
                        label: "millstream_request_duration_seconds",
                        dimensions: [("area", area)],
                        factory: factory
                    )
                )
            }
        )
        downloads = Meter(label: "millstream_downloads_running", dimensions: [], factory: factory)
        listeners = Meter(label: "millstream_event_listeners", dimensions: [], factory: factory)
        connections = Meter(label: "millstream_connections", dimensions: [], factory: factory)
    }

    /// Counts a response.
    ///
    /// - Parameters:
    ///   - path: The path of the request.
    ///   - status: The status of the response.
    ///   - duration: The time from the request to the head of the response.
    func count(path: String, status: Int, duration: Duration) {
        let first = path.drop { $0 == "/" }.prefix { $0 != "/" }
        let area = first.isEmpty ? "console" : durations[String(first)] == nil ? Self.otherArea : String(first)
        let key = Response(area: area, status: status)
        let counter = responses.withLock { known in
            if let counter = known[key] { return counter }
            let counter = Counter(
                label: "millstream_requests_total",
                dimensions: [("area", area), ("status", String(status))],
                factory: factory
            )
            known[key] = counter
            return counter
        }
        counter.increment()
        durations[area]?.record(duration: duration)
    }

    /// Counts a response to a request for an edited playlist.
    func countPlaylist(_ source: PlaylistSource) { playlists[source]?.increment() }

    /// Counts a source that could not be loaded; the codes of errors are a fixed set.
    func countSourceError(_ code: TransportError.Code) {
        Counter(
            label: "millstream_source_errors_total",
            dimensions: [("code", code.rawValue)],
            factory: factory
        ).increment()
    }

    /// Returns the metrics in the text exposition format of Prometheus.
    func text(downloads: Int, listeners: Int, connections: Int) -> String {
        self.downloads.set(downloads)
        self.listeners.set(listeners)
        self.connections.set(connections)
        return prometheus.text
    }
}
