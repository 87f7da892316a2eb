/// What the network did for an item while it was played: one event for each uninterrupted period of play.
///
/// The last event grows until the period ends; the others stay as they are. ``extendedLogData`` writes all of it as
/// text, ``init(extendedLogData:limits:)`` reads it again.
public struct AccessLog: Sendable, Hashable {
    /// The periods, the oldest first.
    public var events: [Event]

    /// Makes a log.
    public init(events: [Event] = []) {
        self.events = events
    }

    /// What became of a log by an event of playback.
    public enum Change: Sendable, Hashable {
        /// A period began: there is one more event at the end (`AVPlayerItemNewAccessLogEntry`).
        case newEntry(Event)
        /// The last event has other figures.
        case updated(Event)
        /// The period ended; its event stays as it is.
        case finished(Event)
    }
}
