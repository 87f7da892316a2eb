public import MediaTiming

/// The permitted distance between the requested and the actual position of a seek.
///
/// A larger tolerance makes a seek faster: a key frame can be shown immediately, while any other frame requires
/// decoding the frames before it.
public struct SeekTolerance: Sendable, Hashable {
    /// The maximum distance before the requested time, or `nil` for any distance.
    public let before: MediaTime?
    /// The maximum distance after the requested time, or `nil` for any distance.
    public let after: MediaTime?

    /// Creates a tolerance; negative distances count as zero.
    public init(before: MediaTime?, after: MediaTime?) {
        self.before = before.map { max(.zero, $0) }
        self.after = after.map { max(.zero, $0) }
    }

    /// A tolerance of zero, for the exact frame.
    public static let exact = SeekTolerance(before: .zero, after: .zero)
    /// An unlimited tolerance, for the nearest key frame.
    public static let any = SeekTolerance(before: nil, after: nil)

    /// Returns whether an actual position is within the tolerance of the requested one.
    public func permits(_ landed: MediaTime, for target: MediaTime) -> Bool {
        if let before, landed < target - before { return false }
        if let after, landed > target + after { return false }
        return true
    }
}
