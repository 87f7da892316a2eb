import PlaybackReporting
import ReportFormat
import Synchronization

/// What `play` writes besides what it shows.
struct PlaybackFiles: Sendable {
    let accessLog: LineFile?
    let errorLog: LineFile?
    let metrics: LineFile?
    let events: LineFile?

    /// Opens the files before anything is played: a name that is wrong is told at once.
    init(accessLog: String?, errorLog: String?, metrics: String?, events: String?) throws {
        self.accessLog = try accessLog.map { try LineFile($0) }
        self.errorLog = try errorLog.map { try LineFile($0) }
        self.metrics = try metrics.map { try LineFile($0) }
        self.events = try events.map { try LineFile($0) }
    }

    /// Ends all of them.
    func close() throws {
        for file in [accessLog, errorLog, metrics, events] { try file?.close() }
    }
}

/// Makes logs and indicators of what happens, and writes them as it does.
final class PlaybackRecord: Sendable {
    private struct State {
        var accessLog: AccessLogRecorder
        var errorLog: ErrorLogRecorder
        var metrics: PlaybackMetricsRecorder
    }

    private let state: Mutex<State>
    private let files: PlaybackFiles
    private let logs = ExtendedLogWriter()
    private let lines: PlaybackEventWriter
    private let header: (access: String, errors: String)

    init(_ session: PlaybackSession, _ files: PlaybackFiles) {
        self.files = files
        lines = PlaybackEventWriter(session: session)
        state = Mutex(
            State(
                accessLog: AccessLogRecorder(session: session),
                errorLog: ErrorLogRecorder(session: session),
                metrics: PlaybackMetricsRecorder(creation: session.start)
            )
        )
        header = (
            logs.accessLogHeader(startingAt: session.startDate), logs.errorLogHeader(startingAt: session.startDate)
        )
    }

    /// Begins the logs; once, before anything is added.
    func begin() {
        files.accessLog?.write(header.access)
        files.errorLog?.write(header.errors)
    }

    /// Something happened.
    ///
    /// - Returns: What a viewer notices of it.
    @discardableResult
    func add(_ event: PlaybackEvent) -> PlaybackNotice? {
        state.withLock { state in
            files.events?.write(lines.line(event) + "\n")
            for change in state.accessLog.add(event) {
                // A line that was written cannot be changed: it waits until its period is over.
                if case .finished(let entry) = change { files.accessLog?.write(logs.line(entry)) }
            }
            if let entry = state.errorLog.add(event) { files.errorLog?.write(logs.line(entry)) }
            let notice = state.metrics.add(event)
            if event.kind == .ended { files.metrics?.write(state.metrics.metrics(at: event.time).json + "\n") }
            return notice
        }
    }

    /// The indicators so far.
    func metrics(at now: Duration) -> PlaybackMetrics {
        state.withLock { $0.metrics.metrics(at: now) }
    }
}
