/// A recorder that creates an error log from playback events.
public struct ErrorLogRecorder: Sendable {
    /// The limits of a recorder.
    public struct Options: Sendable, Hashable {
        /// The maximum number of errors in the log, at least 10; the default is 1,000.
        ///
        /// When it is reached, the oldest tenth is removed and counted (``ErrorLogRecorder/droppedEventCount``), so that
        /// memory remains bounded if a server fails every request for a day.
        public var maximumEventCount: Int

        /// Creates options.
        public init(maximumEventCount: Int = 1_000) {
            self.maximumEventCount = maximumEventCount
        }
    }

    /// The maximum total size of the stored header fields: 16 KiB, twice what servers usually send at most.
    private static let maximumHeaderSize = 16_384

    /// The log up to the last event that was added.
    public private(set) var log = ErrorLog()
    /// The number of errors that were removed from the log.
    public private(set) var droppedEventCount = 0

    private let session: PlaybackSession
    private let maximumEventCount: Int
    private var errorDeduplicator = ErrorDeduplicator()

    /// Creates a recorder with an empty log.
    public init(session: PlaybackSession, options: Options = Options()) {
        self.session = session
        maximumEventCount = max(10, options.maximumEventCount)
    }

    /// Adds an event; events other than errors are ignored.
    ///
    /// - Returns: The new entry (`AVPlayerItemNewErrorLogEntry`), or `nil` if there is none.
    public mutating func add(_ event: PlaybackEvent) -> ErrorLog.Event? {
        guard let record = errorDeduplicator.newError(in: event.kind) else { return nil }
        if log.events.count >= maximumEventCount {
            let excess = maximumEventCount / 10
            log.events.removeFirst(excess)
            droppedEventCount = droppedEventCount.addingClamped(excess)
        }
        let entry = ErrorLog.Event(
            date: session.date(at: event.time).clamped,
            uri: record.address?.limited,
            serverAddress: record.serverAddress?.limited,
            playbackSessionID: session.id.limited,
            errorStatusCode: record.statusCode,
            errorDomain: record.domain.limited,
            errorComment: record.comment.isEmpty ? nil : record.comment.limited,
            allHTTPResponseHeaderFields: Self.limitedHeaders(record.responseHeaders)
        )
        log.events.append(entry)
        return entry
    }

    /// Returns the header fields, those with the shortest names first, up to the maximum total size.
    private static func limitedHeaders(_ headers: [String: String]) -> [String: String] {
        var room = maximumHeaderSize
        var kept: [String: String] = [:]
        for (name, value) in headers.sorted(by: { ($0.key.utf8.count, $0.key) < ($1.key.utf8.count, $1.key) }) {
            room -= name.utf8.count + value.utf8.count
            guard room >= 0 else { break }
            kept[name] = value
        }
        return kept
    }
}
