/// The errors of an item since the start of the session.
///
/// ``extendedLogData`` writes the log as text, and ``init(extendedLogData:limits:)`` reads it.
public struct ErrorLog: Sendable, Hashable {
    /// The errors, oldest first.
    public var events: [Event]

    /// Creates a log with the given events.
    public init(events: [Event] = []) {
        self.events = events
    }

    /// An error during playback.
    ///
    /// The properties are those of `AVPlayerItemErrorLogEvent`; the name of the field in the text form is given in
    /// parentheses.
    public struct Event: Sendable, Hashable {
        /// The time of the error, since 1970-01-01 00:00:00 UTC (`date` and `time`).
        public var date: Duration?
        /// The URL of the resource (`uri`).
        public var uri: String?
        /// The IP address of the server (`s-ip`).
        public var serverAddress: String?
        /// The identifier of the playback session, as sent in request headers (`cs-guid`).
        public var playbackSessionID: String?
        /// The HTTP status code of a request, or else a negative error code (`status`).
        public var errorStatusCode: Int
        /// The domain of the error (`domain`).
        public var errorDomain: String
        /// A human-readable description of the error (`comment`).
        public var errorComment: String?
        /// The HTTP header fields of the response; not included in the text.
        public var allHTTPResponseHeaderFields: [String: String]

        /// Creates an event.
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
