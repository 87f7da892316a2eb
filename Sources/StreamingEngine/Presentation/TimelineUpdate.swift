package import MediaTiming

/// The changes of a timeline after a reload of a live playlist.
package struct TimelineUpdate: Sendable, Hashable {
    /// The media sequence numbers of the new segments; empty if there are none.
    package internal(set) var added: Range<Int64> = 0..<0
    /// The number of segments that were removed at the beginning.
    package internal(set) var removedCount = 0
    /// A Boolean value that indicates whether there are new segments, partial segments or an end marker.
    package internal(set) var hasUpdates = false
    /// The inconsistencies in the order of their detection; none of them prevents playback.
    package internal(set) var inconsistencies: [TimelineInconsistency] = []

    /// A Boolean value that indicates whether the media sequence numbers restarted.
    package var hasRestarted: Bool {
        inconsistencies.contains { if case .restarted = $0 { true } else { false } }
    }
}

/// An inconsistency in a reloaded playlist.
package enum TimelineInconsistency: Sendable, Hashable {
    /// The playlist has no new segments, partial segments or end marker.
    case unchanged
    /// The playlist is older than the previous one, for example from a cache; it is ignored.
    case staleCopy
    /// The playlist contains no segments any more; the known segments remain.
    case becameEmpty
    /// The media sequence numbers restarted, as after a restart of the encoder.
    ///
    /// The new segments follow the known ones, in a new ``DiscontinuityDomain/epoch``.
    case restarted(from: Int64, to: Int64)
    /// Segments were added and removed between two loads; the timeline has a gap in their place.
    case segmentsMissed(count: Int64, lost: MediaTime, Evidence)
    /// The playlist contains segments before the first known one.
    case earlierSegments(count: Int64)
    /// A known segment has another URL, byte range or date; the new one is used.
    case segmentChanged(sequence: Int64)
    /// The target duration changed, which is not allowed (RFC 8216bis §6.2.1).
    case targetDurationChanged(from: MediaTime?, to: MediaTime?)
    /// The discontinuity sequence number was not incremented when discontinuities were removed; it is corrected
    /// (§6.2.2).
    case discontinuitySequenceWrong(by: Int64)
    /// The playlist has new segments after it had ended.
    case reopened

    /// The evidence for the duration of missed segments.
    package enum Evidence: Sendable, Hashable {
        /// The dates before and after the missed segments.
        case dates
        /// The average duration of the segments.
        case averageDuration
    }
}
