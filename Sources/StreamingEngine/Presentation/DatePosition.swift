package import MediaTiming

/// The relation of a date to a timeline.
package enum DateRelation: Sendable, Hashable {
    /// The timeline has media with the date.
    case inside
    /// The dates of the timeline skip the date; the position is after the jump.
    case skipped
    /// All media is later; the position is the start of the timeline.
    case beforeStart
    /// All media is earlier; the position is the end of the timeline.
    case afterEnd
}

/// The position of a date on a timeline.
package struct DatePosition: Sendable, Hashable {
    /// The presentation time for the date.
    package let time: MediaTime
    /// The relation of the date to the timeline, which tells whether ``time`` is exact.
    package let relation: DateRelation
}
