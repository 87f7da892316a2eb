import MediaTiming
import PlaybackReporting
import StreamingEngine

/// A recorder of the access log, the error log and the metrics of an item, which also derives notifications from
/// events.
struct ItemEventRecorder: Sendable {
    private(set) var session: PlaybackSession
    private var access: AccessLogRecorder
    private var errors: ErrorLogRecorder
    private var metrics: PlaybackMetricsRecorder
    /// The log entries of earlier sessions.
    private var earlier: (access: [AccessLog.Event], errors: [ErrorLog.Event]) = ([], [])

    init(_ session: PlaybackSession) {
        self.session = session
        access = AccessLogRecorder(session: session)
        errors = ErrorLogRecorder(session: session)
        metrics = PlaybackMetricsRecorder(creation: session.start)
    }

    /// Begins a new session of the item: the logs are continued, the metrics start again.
    mutating func begin(_ session: PlaybackSession) {
        var next = ItemEventRecorder(session)
        next.earlier = (earlier.access + access.log.events, earlier.errors + errors.log.events)
        self = next
    }

    /// Records an event.
    ///
    /// - Returns: The notifications that the event causes.
    mutating func add(_ event: PlaybackEvent) -> [PlayerItem.Notification] {
        var notifications: [PlayerItem.Notification] = []
        let notice = metrics.add(event)
        switch event.kind {
        case .playedToEnd: notifications.append(.didPlayToEnd)
        case .failedToPlayToEnd(let record): notifications.append(.failedToPlayToEnd(record))
        case .stalled: notifications.append(.playbackStalled)
        case .timeJumped: notifications.append(.timeJumped)
        case .selectionChanged: notifications.append(.mediaSelectionDidChange)
        case .statusChanged, .playbackTypeKnown, .rateChanged, .timeControlChanged, .resourceRequest, .segmentLoaded,
            .segmentSkipped, .likelyToKeepUp, .stallEnded, .seekStarted, .seekEnded, .variantSwitchStarted,
            .variantSwitched, .pathwayChanged, .tracksChanged, .seekableRangeChanged, .timedMetadata, .frames, .error,
            .ended:
            break
        }
        for case .newEntry(let entry) in access.add(event) { notifications.append(.newAccessLogEntry(entry)) }
        if let entry = errors.add(event) { notifications.append(.newErrorLogEntry(entry)) }
        if let notice { notifications.append(.playbackNotice(notice)) }
        return notifications
    }

    func accessLog(at now: Duration, _ position: MediaTime?) -> AccessLog {
        var recorder = access
        _ = recorder.advance(to: now, mediaTime: position)
        return AccessLog(events: earlier.access + recorder.log.events)
    }

    var errorLog: ErrorLog { ErrorLog(events: earlier.errors + errors.log.events) }

    func metrics(at now: Duration, _ position: MediaTime?) -> PlaybackMetrics {
        var recorder = metrics
        recorder.advance(to: now, mediaTime: position)
        return recorder.metrics(at: now)
    }

    func summary(at now: Duration, _ position: MediaTime?) -> PlaybackSummary {
        var recorder = metrics
        recorder.advance(to: now, mediaTime: position)
        return recorder.summary(at: now)
    }
}
