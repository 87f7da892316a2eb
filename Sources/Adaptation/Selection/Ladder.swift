/// The rungs of one content, in ascending order of the bit rate that they are expected to need; never empty.
public struct Ladder: Sendable, Hashable {
    /// How many rungs a ladder can have: 64.
    ///
    /// Authors write about ten, and twice that with several codecs.
    public static let mostRungs = 64

    /// The rungs, ascending by ``LadderRung/expectedBitRate``; of equal ones, the one written first comes first.
    public let rungs: [LadderRung]

    /// Sorts rungs into a ladder.
    ///
    /// - Parameter rungs: In any order; `nil` results where there is none, or more than ``mostRungs``.
    public init?(_ rungs: [LadderRung]) {
        guard !rungs.isEmpty, rungs.count <= Self.mostRungs else { return nil }
        self.rungs = rungs.enumerated()
            .sorted { ($0.element.expectedBitRate, $0.offset) < ($1.element.expectedBitRate, $1.offset) }
            .map(\.element)
    }

    /// How many rungs there are, 1 to ``mostRungs``.
    public var count: Int { rungs.count }
    /// The index of the highest rung.
    public var highest: Int { rungs.count - 1 }

    /// The nearest index that there is a rung for.
    public func clamped(_ index: Int) -> Int { min(max(index, 0), highest) }

    /// The index of the rung that stands for a variant of the caller; `nil` where none does.
    public func index(ofVariant variantIndex: Int) -> Int? { rungs.firstIndex { $0.variantIndex == variantIndex } }
}
