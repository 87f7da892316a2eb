public import MediaTiming

/// How far from the asked time a seek may land.
///
/// A seek is faster the more it may miss: a picture that stands alone can be shown at once, any other needs those before.
public struct SeekTolerance: Sendable, Hashable {
    /// How much earlier; `nil` for as much as suits.
    public let before: MediaTime?
    /// How much later; `nil` for as much as suits.
    public let after: MediaTime?

    /// Makes a tolerance; negative times count as zero.
    public init(before: MediaTime?, after: MediaTime?) {
        self.before = before.map { max(.zero, $0) }
        self.after = after.map { max(.zero, $0) }
    }

    /// The exact frame.
    public static let exact = SeekTolerance(before: .zero, after: .zero)
    /// The nearest picture that can be shown at once.
    public static let any = SeekTolerance(before: nil, after: nil)

    /// Whether a landing is close enough.
    public func permits(_ landed: MediaTime, for target: MediaTime) -> Bool {
        if let before, landed < target - before { return false }
        if let after, landed > target + after { return false }
        return true
    }
}
