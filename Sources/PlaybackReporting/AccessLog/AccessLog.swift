/// The network activity of an item during playback, with one event for each uninterrupted period.
///
/// The last event is updated until its period ends; the others do not change. ``extendedLogData`` writes the log as
/// text, and ``init(extendedLogData:limits:)`` reads it.
public struct AccessLog: Sendable, Hashable {
    /// The periods, oldest first.
    public var events: [Event]

    /// Creates a log with the given events.
    public init(events: [Event] = []) {
        self.events = events
    }

    /// A change to an access log as a result of a playback event.
    public enum Change: Sendable, Hashable {
        /// A period began, and its event was appended (`AVPlayerItemNewAccessLogEntry`).
        case newEntry(Event)
        /// The last event was updated.
        case updated(Event)
        /// The period ended, and its event does not change any more.
        case finished(Event)
    }
}
