public import MediaTiming

/// How a date lies to a timeline.
public enum DateRelation: Sendable, Hashable {
    /// There is media of that date.
    case inside
    /// The dates jump over it: what comes behind the jump stands for it.
    case betweenJumps
    /// All media is later: the beginning stands for it.
    case beforeStart
    /// All media is earlier: the end stands for it.
    case afterEnd
}

/// Where a date lies on a timeline.
public struct DatePosition: Sendable, Hashable {
    /// The presentation time that stands for the date.
    public let time: MediaTime
    /// Whether that is the date's own.
    public let relation: DateRelation
}
