public import MediaTiming

/// The selectors that can be asked for by name.
public enum SelectorName: String, Sendable, Hashable, CaseIterable {
    /// ``BalancedSelector``: for viewers.
    case `default`
    /// ``ThroughputSelector``.
    case throughput
    /// ``BufferSelector``.
    case buffer
    /// ``FixedSelector`` on the lowest rung.
    case fixedLowest = "fixed-lowest"
    /// ``FixedSelector`` on the highest rung.
    case fixedHighest = "fixed-highest"
}

/// Any of the selectors, by name.
public struct AnyVariantSelector: VariantSelector {
    private var selector: any VariantSelector
    /// The name it was made by; `nil` for a selector of one's own.
    public let name: SelectorName?

    /// Makes a selector by name.
    ///
    /// - Parameters:
    ///   - name: Which one.
    ///   - initialEstimate: What is known of the network from an earlier time (``ThroughputMemory``), if anything.
    public init(_ name: SelectorName, initialEstimate: BitRate? = nil) {
        self.name = name
        selector =
            switch name {
            case .default: BalancedSelector(initialEstimate: initialEstimate)
            case .throughput: ThroughputSelector(initialEstimate: initialEstimate)
            case .buffer: BufferSelector(initialEstimate: initialEstimate)
            case .fixedLowest: FixedSelector(.lowest)
            case .fixedHighest: FixedSelector(.highest)
            }
    }

    /// Wraps a selector of one's own.
    public init(_ selector: any VariantSelector) {
        self.selector = selector
        name = nil
    }

    /// Hands the measurement on.
    public mutating func add(_ measurement: SegmentMeasurement) { selector.add(measurement) }

    /// What the selector decides.
    public mutating func decide(_ situation: SelectionSituation) -> SwitchDecision { selector.decide(situation) }

    /// What the selector says.
    public mutating func review(
        _ transfer: TransferInFlight,
        in situation: SelectionSituation
    ) -> TransferVerdict { selector.review(transfer, in: situation) }

    /// Hands it on.
    public mutating func seeked() { selector.seeked() }
}
