import MediaTiming

/// Who played, and since when: what all events of one item have in common.
public struct PlaybackSession: Sendable, Hashable {
    /// The session in logs and headers: a UUID in its usual spelling.
    public let id: String
    /// The clock of the session when it began.
    public let start: Duration
    /// The date when it began, as the time since 1970-01-01 00:00:00 UTC.
    public let startDate: Duration
    /// The address of what is played, which logs name until a variant is known; `nil` where there is none.
    public let address: String?

    /// Makes a session.
    public init(id: String, start: Duration, startDate: Duration, address: String? = nil) {
        self.id = id
        self.start = start
        self.startDate = startDate
        self.address = address
    }

    /// The date of a time on the clock of the session, as the time since 1970-01-01 00:00:00 UTC.
    public func date(at time: Duration) -> Duration { startDate + (time - start) }
}
