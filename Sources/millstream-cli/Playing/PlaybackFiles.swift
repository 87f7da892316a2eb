import PlaybackReporting
import ReportFormat
import Synchronization

/// The report files of `play`.
struct PlaybackFiles: Sendable {
    let accessLog: LineFile?
    let errorLog: LineFile?
    let metrics: LineFile?
    let events: LineFile?

    /// Creates the files before playback, so that an invalid path is reported immediately.
    init(accessLog: String?, errorLog: String?, metrics: String?, events: String?) throws {
        self.accessLog = try accessLog.map { try LineFile($0) }
        self.errorLog = try errorLog.map { try LineFile($0) }
        self.metrics = try metrics.map { try LineFile($0) }
        self.events = try events.map { try LineFile($0) }
    }

    /// Closes all files.
    func close() throws {
        for file in [accessLog, errorLog, metrics, events] { try file?.close() }
    }
}

/// A recorder that derives logs and metrics from playback events and writes them as they occur.
final class PlaybackRecord: Sendable {
    private struct State {
        var accessLog: AccessLogRecorder
        var errorLog: ErrorLogRecorder
        var metrics: PlaybackMetricsRecorder
        var skippedSegments = SkippedSegmentCounts()
        var playhead = ObservedPlayhead()

        func currentMetrics(at now: Duration) -> PlaybackMetrics {
            var metrics = metrics.metrics(at: now)
            metrics.liveLatency = playhead.liveLatency
            metrics.programDateTime = playhead.date
            return metrics
        }
    }

    private let state: Mutex<State>
    private let files: PlaybackFiles
    private let logs = ExtendedLogWriter(addresses: .shortened)
    private let lines: PlaybackEventWriter

    /// Creates a recorder, and writes the headers of the logs.
    init(_ session: PlaybackSession, _ files: PlaybackFiles) {
        self.files = files
        lines = PlaybackEventWriter(session: session, addresses: .shortened)
        state = Mutex(
            State(
                accessLog: AccessLogRecorder(session: session),
                errorLog: ErrorLogRecorder(session: session),
                metrics: PlaybackMetricsRecorder(creation: session.start)
            )
        )
        files.accessLog?.write(logs.accessLogHeader(startingAt: session.startDate))
        files.errorLog?.write(logs.errorLogHeader(startingAt: session.startDate))
    }

    /// Records an event.
    ///
    /// - Returns: The notice for the viewer that results from the event; `nil` if there is none.
    @discardableResult
    func add(_ event: PlaybackEvent) -> PlaybackNotice? {
        state.withLock { state in
            files.events?.write(lines.line(event) + "\n")
            for change in state.accessLog.add(event) {
                // A written line cannot be changed, so an entry is written when its period has ended.
                if case .finished(let entry) = change { files.accessLog?.write(logs.line(entry)) }
            }
            if let entry = state.errorLog.add(event) { files.errorLog?.write(logs.line(entry)) }
            if case .segmentSkipped(let segment) = event.kind { state.skippedSegments.add(segment) }
            let notice = state.metrics.add(event)
            if event.kind == .ended { files.metrics?.write(state.currentMetrics(at: event.time).json + "\n") }
            return notice
        }
    }

    /// Returns the current metrics.
    func metrics(at now: Duration) -> PlaybackMetrics {
        state.withLock { $0.currentMetrics(at: now) }
    }

    /// The numbers of segments that were skipped.
    var skippedSegments: SkippedSegmentCounts { state.withLock { $0.skippedSegments } }

    /// Records where the playhead is; it is in the metrics.
    func observe(_ playhead: ObservedPlayhead) { state.withLock { $0.playhead = playhead } }
}

/// The last observation of the playhead of a live stream, or of one with dates.
struct ObservedPlayhead: Sendable, Hashable {
    /// The distance from the live edge; `nil` if the stream is not live.
    var liveLatency: Duration?
    /// The date of the media; `nil` if the stream has no dates.
    var date: String?
}
