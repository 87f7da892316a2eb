public import MediaTiming

/// What a reload of a live playlist changed.
public struct TimelineUpdate: Sendable, Hashable {
    /// The numbers of the segments that are new; empty where none is.
    public internal(set) var added: Range<Int64> = 0..<0
    /// How many segments went at the beginning.
    public internal(set) var forgottenCount = 0
    /// Whether there is anything new: segments, parts, or the end.
    public internal(set) var hasNews = false
    /// What was odd, in the order in which it was noticed; none of it keeps a player from going on.
    public internal(set) var faults: [TimelineFault] = []

    /// Whether the playlist began to count anew.
    public var hasRestarted: Bool {
        faults.contains { if case .restarted = $0 { true } else { false } }
    }
}

/// What is odd about a reloaded playlist.
public enum TimelineFault: Sendable, Hashable {
    /// There is nothing new: no segment, no part, no end.
    case unchanged
    /// It is older than the one before, as a cache may have it; it is not used.
    case staleCopy
    /// It lists no segments any more; what is known stays.
    case becameEmpty
    /// It counts anew, as an encoder does that was started again: its segments follow behind what is known, in a new
    /// ``DiscontinuityDomain/epoch``.
    case restarted(from: Int64, to: Int64)
    /// Segments came and went between two loads; the time they took is left open.
    case segmentsMissed(count: Int64, lost: MediaTime, Evidence)
    /// It lists earlier segments than before.
    case earlierSegments(count: Int64)
    /// A segment that was known has another address, other bytes or another date now; the new one counts.
    case segmentChanged(sequence: Int64)
    /// The target duration is another, which the standard forbids (RFC 8216bis §6.2.1).
    case targetDurationChanged(from: MediaTime?, to: MediaTime?)
    /// Discontinuities left the playlist, and their number was not raised: it is counted on here (§6.2.2).
    case discontinuitySequenceWrong(by: Int64)
    /// It has new segments behind the last one.
    case reopened

    /// How the time that missed segments took is known.
    public enum Evidence: Sendable, Hashable {
        /// From the dates before and behind them.
        case dates
        /// From how long segments last on average.
        case averageDuration
    }
}
