/// The variants among which a selector chooses, called rungs, in ascending order of their expected bit rates; never
/// empty.
public struct Ladder: Sendable, Hashable {
    /// The maximum number of rungs, 64.
    ///
    /// Multivariant playlists usually have about ten variants, and twice as many with several codecs.
    public static let maximumRungCount = 64

    /// The rungs in ascending order of ``LadderRung/expectedBitRate``; equal ones are in their original order.
    public let rungs: [LadderRung]

    /// Creates a ladder of the given rungs.
    ///
    /// - Parameter rungs: The rungs in any order. The result is `nil` if there are none or more than ``maximumRungCount``.
    public init?(_ rungs: [LadderRung]) {
        guard !rungs.isEmpty, rungs.count <= Self.maximumRungCount else { return nil }
        self.rungs = rungs.enumerated()
            .sorted { ($0.element.expectedBitRate, $0.offset) < ($1.element.expectedBitRate, $1.offset) }
            .map(\.element)
    }

    /// The number of rungs, 1 to ``maximumRungCount``.
    public var count: Int { rungs.count }
    /// The index of the highest rung.
    public var highest: Int { rungs.count - 1 }

    /// Returns the nearest valid index.
    public func clamped(_ index: Int) -> Int { min(max(index, 0), highest) }

    /// Returns the index of the rung for a variant (``LadderRung/variantIndex``), or `nil` if there is none.
    public func index(ofVariant variantIndex: Int) -> Int? { rungs.firstIndex { $0.variantIndex == variantIndex } }
}
