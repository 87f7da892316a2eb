/// A half-open range of a media timeline, which contains its start but not its end.
public struct MediaTimeRange: Sendable, Hashable {
    /// The first time in the range.
    public let start: MediaTime
    /// The length of the range, never negative.
    public let duration: MediaTime

    /// The first time after the range.
    public var end: MediaTime { start + duration }
    /// A Boolean value that indicates whether the duration is zero.
    public var isEmpty: Bool { duration == .zero }

    /// Creates a range from a start and a duration; a negative duration becomes zero.
    public init(start: MediaTime, duration: MediaTime) {
        self.start = start
        self.duration = max(duration, .zero)
    }

    /// Creates a range from a start and an end; an end before the start gives an empty range at the start.
    public init(start: MediaTime, end: MediaTime) {
        self.init(start: start, duration: end - start)
    }

    /// Returns a Boolean value that indicates whether the range contains `time`.
    public func contains(_ time: MediaTime) -> Bool { time >= start && time < end }

    /// Returns the overlap of this range and another, or `nil` if they do not overlap.
    public func intersection(_ other: MediaTimeRange) -> MediaTimeRange? {
        let low = max(start, other.start)
        let high = min(end, other.end)
        return low < high ? MediaTimeRange(start: low, end: high) : nil
    }
}

extension MediaTimeRange: CustomStringConvertible {
    /// The start and end in seconds, for display: `4...10.5`.
    public var description: String { "\(start)...\(end)" }
}
