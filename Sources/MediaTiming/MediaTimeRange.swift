/// A half-open stretch of a media timeline: it holds its start and not its end.
public struct MediaTimeRange: Sendable, Hashable {
    /// Where it begins.
    public let start: MediaTime
    /// How long it is, never negative.
    public let duration: MediaTime

    /// The first time that is no longer inside.
    public var end: MediaTime { start + duration }
    /// Whether it holds no time at all.
    public var isEmpty: Bool { duration == .zero }

    /// Makes a range; a negative duration counts as zero.
    public init(start: MediaTime, duration: MediaTime) {
        self.start = start
        self.duration = max(duration, .zero)
    }

    /// Makes a range from its borders; an end before the start gives an empty range at the start.
    public init(start: MediaTime, end: MediaTime) {
        self.init(start: start, duration: end - start)
    }

    /// Whether `time` lies inside.
    public func contains(_ time: MediaTime) -> Bool { time >= start && time < end }

    /// What this range and another have in common, `nil` where they have nothing.
    public func intersection(_ other: MediaTimeRange) -> MediaTimeRange? {
        let low = max(start, other.start)
        let high = min(end, other.end)
        return low < high ? MediaTimeRange(start: low, end: high) : nil
    }
}

extension MediaTimeRange: CustomStringConvertible {
    /// The value as text, for people.
    public var description: String { "\(start)...\(end)" }
}
