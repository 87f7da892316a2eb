/// Always the same rung: for tests, comparisons, and viewers who chose a quality by hand.
public struct FixedSelector: VariantSelector, Hashable {
    /// Which one.
    public enum Choice: Sendable, Hashable {
        /// The lowest open rung.
        case lowest
        /// The highest open rung.
        case highest
        /// The rung at an index of the ladder, or the nearest open one below it.
        case index(Int)
    }

    /// Which one.
    public let choice: Choice

    /// Makes a selector that keeps to a choice.
    public init(_ choice: Choice) {
        self.choice = choice
    }

    /// Does nothing: a fixed choice learns nothing.
    public mutating func add(_ measurement: SegmentMeasurement) {}

    /// The chosen rung.
    public mutating func decide(_ situation: SelectionSituation) -> SwitchDecision {
        let open = situation.openRungs
        let wanted: Int =
            switch choice {
            case .lowest: open.first ?? 0
            case .highest: open.last ?? 0
            case .index(let index): situation.ladder.clamped(index)
            }
        let rung = open.last { $0 <= wanted } ?? open.first ?? 0
        return SwitchDecision(
            rung: rung,
            cause: rung == wanted ? .fixed : .cap,
            evidence: .init(bufferLevel: situation.bufferLevel)
        )
    }

    /// Always to wait.
    public mutating func review(
        _ transfer: TransferInFlight,
        in situation: SelectionSituation
    ) -> TransferVerdict { .keepGoing }

    /// Does nothing.
    public mutating func seeked() {}
}
