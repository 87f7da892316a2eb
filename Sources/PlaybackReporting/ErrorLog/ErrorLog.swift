/// What failed while an item was played, from the start of the session.
///
/// ``extendedLogData`` writes it as text, ``init(extendedLogData:limits:)`` reads it again.
public struct ErrorLog: Sendable, Hashable {
    /// The failures, the oldest first.
    public var events: [Event]

    /// Makes a log.
    public init(events: [Event] = []) {
        self.events = events
    }

    /// One failure: the properties of `AVPlayerItemErrorLogEvent`, with the field of the text of each.
    public struct Event: Sendable, Hashable {
        /// When it happened, as the time since 1970-01-01 00:00:00 UTC (`date` and `time`).
        public var date: Duration?
        /// The address that it is about (`uri`).
        public var uri: String?
        /// The numeric address of the server (`s-ip`).
        public var serverAddress: String?
        /// The session, as headers name it (`cs-guid`).
        public var playbackSessionID: String?
        /// The status or code (`status`): that of HTTP where it was a request, else one below zero.
        public var errorStatusCode: Int
        /// Who says so (`domain`).
        public var errorDomain: String
        /// What happened, for a person (`comment`).
        public var errorComment: String?
        /// The header fields of the answer; not part of the text.
        public var allHTTPResponseHeaderFields: [String: String]

        /// Makes an event.
        public init(
            date: Duration? = nil,
            uri: String? = nil,
            serverAddress: String? = nil,
            playbackSessionID: String? = nil,
            errorStatusCode: Int,
            errorDomain: String,
            errorComment: String? = nil,
            allHTTPResponseHeaderFields: [String: String] = [:]
        ) {
            self.date = date
            self.uri = uri
            self.serverAddress = serverAddress
            self.playbackSessionID = playbackSessionID
            self.errorStatusCode = errorStatusCode
            self.errorDomain = errorDomain
            self.errorComment = errorComment
            self.allHTTPResponseHeaderFields = allHTTPResponseHeaderFields
        }
    }
}
