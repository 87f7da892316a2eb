/// Which rungs of a ladder are open, and why the others are not.
///
/// Caps narrow it one after the other (``LadderCap``). The lowest open rung cannot be closed, so that there is always
/// one to play.
public struct LadderRestriction: Sendable, Hashable {
    /// Why a rung is closed.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// Larger than the view needs (``ViewSizeCap``).
        case viewSize
        /// The device dropped too many of its pictures (``DroppedFramesCap``).
        case droppedFrames
        /// Above the bit rate that was asked for (``PreferenceCap``).
        case preferredBitRate
        /// Above the picture size that was asked for (``PreferenceCap``).
        case preferredResolution
        /// The device cannot decode it; found by the caller.
        case codecs
        /// The screen cannot show its range of brightness and colour; found by the caller.
        case videoRange
        /// Its content protection is above what the output allows; found by the caller.
        case contentProtection
        /// It failed to load not long ago; found by the caller.
        case failed
    }

    /// One entry a rung: why it is closed, `nil` where it is open.
    public private(set) var reasons: [Reason?]

    /// Opens all rungs of a ladder.
    public init(_ ladder: Ladder) {
        reasons = Array(repeating: nil, count: ladder.count)
    }

    /// Whether a rung is open; a rung that the ladder does not have is not.
    public func isOpen(_ rung: Int) -> Bool { reasons.indices.contains(rung) && reasons[rung] == nil }

    /// The open rungs, ascending; never empty.
    public var openRungs: [Int] { reasons.indices.filter { reasons[$0] == nil } }

    /// Closes the rungs for which `isClosed` is true, unless none would be left.
    ///
    /// Where all would be closed, the lowest of them stays open. A rung that is closed already keeps its first reason.
    ///
    /// - Parameters:
    ///   - reason: Why.
    ///   - isClosed: Asked for each open rung, ascending.
    public mutating func close(because reason: Reason, where isClosed: (Int) -> Bool) {
        let closing = openRungs.filter(isClosed)
        let keepsOne = closing.count < openRungs.count
        for rung in keepsOne ? closing[...] : closing.dropFirst() { reasons[rung] = reason }
    }

    /// The highest open rung that is not above `rung`, or else the lowest open one.
    public func nearestOpen(below rung: Int) -> Int {
        let open = openRungs
        return open.last { $0 <= rung } ?? open.first ?? 0
    }
}
