/// A selector that always chooses the same rung, for tests, comparisons and a quality that the viewer has set.
public struct FixedSelector: VariantSelector, Hashable {
    /// The rung that a fixed selector chooses.
    public enum Choice: Sendable, Hashable {
        /// The lowest allowed rung.
        case lowest
        /// The highest allowed rung.
        case highest
        /// The rung with the given index, or the nearest lower one that is allowed, or else the lowest allowed rung.
        case index(Int)
    }

    /// The rung that is chosen.
    public let choice: Choice

    /// Creates a selector for the given choice.
    public init(_ choice: Choice) {
        self.choice = choice
    }

    /// Does nothing, because the choice does not depend on measurements.
    public mutating func add(_ measurement: SegmentMeasurement) {}

    /// Returns the chosen rung.
    public mutating func decide(_ context: SelectionContext) -> SwitchDecision {
        let open = context.allowedRungs
        let wanted: Int =
            switch choice {
            case .lowest: open.first ?? 0
            case .highest: open.last ?? 0
            case .index(let index): context.ladder.clamped(index)
            }
        let rung = open.last { $0 <= wanted } ?? open.first ?? 0
        return SwitchDecision(
            rung: rung,
            cause: rung == wanted ? .fixed : .restriction,
            evidence: .init(bufferLevel: context.bufferLevel)
        )
    }

    /// Returns ``TransferDecision/wait``.
    public mutating func review(
        _ transfer: TransferInFlight,
        in context: SelectionContext
    ) -> TransferDecision { .wait }

    /// Does nothing, because the choice does not depend on the position.
    public mutating func resetAfterSeek() {}
}
