import MediaTiming

/// The properties that all events of one playback session share.
public struct PlaybackSession: Sendable, Hashable {
    /// The identifier of the session in logs and request headers: a UUID in text form.
    public let id: String
    /// The time at the start of the session, on the clock of the session.
    public let start: Duration
    /// The date at the start of the session, as the time since 1970-01-01 00:00:00 UTC.
    public let startDate: Duration
    /// The URL of the item, which logs contain until a variant is known; `nil` if there is none.
    public let address: String?

    /// Creates a session.
    public init(id: String, start: Duration, startDate: Duration, address: String? = nil) {
        self.id = id
        self.start = start
        self.startDate = startDate
        self.address = address
    }

    /// Converts a time on the clock of the session to the time since 1970-01-01 00:00:00 UTC, in whole nanoseconds.
    ///
    /// A time that was computed, such as that of a repeated request, has more digits than any clock.
    public func date(at time: Duration) -> Duration {
        let date = (startDate + (time - start)).attoseconds
        return Duration(attoseconds: date -| date % 1_000_000_000)
    }
}
