/// The rungs of a ladder that may be chosen, and the reasons for which the others are excluded.
///
/// Caps narrow a restriction one after the other (``LadderCap``). The lowest allowed rung cannot be excluded, so that
/// there is always one to play.
public struct LadderRestriction: Sendable, Hashable {
    /// The reason for which a rung is excluded.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The video is larger than the view (``ViewSizeCap``).
        case viewSize
        /// The device dropped too many video frames of the rung (``DroppedFramesCap``).
        case droppedFrames
        /// The bit rate is above the preferred maximum (``PreferenceCap``).
        case preferredBitRate
        /// The resolution is above the preferred maximum (``PreferenceCap``).
        case preferredResolution
        /// The device cannot decode the rung, as determined by the caller.
        case codecs
        /// The screen does not support the dynamic range of the rung, as determined by the caller.
        case videoRange
        /// The output does not satisfy the content protection of the rung, as determined by the caller.
        case contentProtection
        /// A rung with a lower or equal bit rate has a higher score (``ScoreCap``).
        case score
        /// The rung failed to load recently, as determined by the caller.
        case failed
    }

    /// The reason for the exclusion of each rung; `nil` for an allowed rung.
    public private(set) var reasons: [Reason?]

    /// Creates a restriction that allows all rungs of a ladder.
    public init(_ ladder: Ladder) {
        reasons = Array(repeating: nil, count: ladder.count)
    }

    /// Returns whether a rung is allowed; invalid indexes are not.
    public func isAllowed(_ rung: Int) -> Bool { reasons.indices.contains(rung) && reasons[rung] == nil }

    /// The indexes of the allowed rungs, ascending and never empty.
    public var allowedRungs: [Int] { reasons.indices.filter { reasons[$0] == nil } }

    /// Excludes the rungs that satisfy a condition, but never all of them.
    ///
    /// If all allowed rungs satisfy the condition, the lowest of them remains allowed. A rung that is already excluded
    /// keeps its first reason.
    ///
    /// - Parameters:
    ///   - reason: The reason for the exclusion.
    ///   - isExcluded: The condition, which is called for each allowed rung in ascending order.
    public mutating func exclude(because reason: Reason, where isExcluded: (Int) -> Bool) {
        let excluded = allowedRungs.filter(isExcluded)
        let someRemain = excluded.count < allowedRungs.count
        for rung in someRemain ? excluded[...] : excluded.dropFirst() { reasons[rung] = reason }
    }

    /// Returns the highest allowed rung that is not above `rung`, or the lowest allowed rung if there is none.
    public func nearestAllowed(atOrBelow rung: Int) -> Int {
        let open = allowedRungs
        return open.last { $0 <= rung } ?? open.first ?? 0
    }
}
