/// Makes an error log of the events of playback.
public struct ErrorLogRecorder: Sendable {
    /// How much is kept.
    public struct Options: Sendable, Hashable {
        /// How many failures a log has at most, 10 or more; 1,000 by default.
        ///
        /// Where there would be more, the oldest tenth is dropped and counted (``ErrorLogRecorder/droppedEvents``): a server
        /// that fails every request for a day must not fill the memory with what it says.
        public var mostEvents: Int

        /// Makes options.
        public init(mostEvents: Int = 1_000) {
            self.mostEvents = mostEvents
        }
    }

    /// Header fields beyond this many bytes in all are not kept: 16 KiB, twice what servers send at most.
    private static let mostHeaderBytes = 16_384

    /// The log up to the last event of playback.
    public private(set) var log = ErrorLog()
    /// How many failures are no longer in the log.
    public private(set) var droppedEvents = 0

    private let session: PlaybackSession
    private let mostEvents: Int
    private var sieve = ErrorSieve()

    /// Makes a recorder without failures.
    public init(session: PlaybackSession, options: Options = Options()) {
        self.session = session
        mostEvents = max(10, options.mostEvents)
    }

    /// Takes an event; only those that report a failure count.
    ///
    /// - Returns: The new entry (`AVPlayerItemNewErrorLogEntry`), `nil` where there is none.
    public mutating func add(_ event: PlaybackEvent) -> ErrorLog.Event? {
        guard let record = sieve.record(of: event.kind) else { return nil }
        if log.events.count >= mostEvents {
            let excess = mostEvents / 10
            log.events.removeFirst(excess)
            droppedEvents = droppedEvents.addingClamped(excess)
        }
        let entry = ErrorLog.Event(
            date: session.date(at: event.time).clamped,
            uri: record.address?.limited,
            serverAddress: record.serverAddress?.limited,
            playbackSessionID: session.id.limited,
            errorStatusCode: record.statusCode,
            errorDomain: record.domain.limited,
            errorComment: record.comment.isEmpty ? nil : record.comment.limited,
            allHTTPResponseHeaderFields: Self.kept(record.responseHeaders)
        )
        log.events.append(entry)
        return entry
    }

    /// The header fields, the shortest names first, as long as there is room.
    private static func kept(_ headers: [String: String]) -> [String: String] {
        var room = mostHeaderBytes
        var kept: [String: String] = [:]
        for (name, value) in headers.sorted(by: { ($0.key.utf8.count, $0.key) < ($1.key.utf8.count, $1.key) }) {
            room -= name.utf8.count + value.utf8.count
            guard room >= 0 else { break }
            kept[name] = value
        }
        return kept
    }
}
