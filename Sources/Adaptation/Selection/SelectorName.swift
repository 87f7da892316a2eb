public import MediaTiming

/// The names of the built-in selectors.
public enum SelectorName: String, Sendable, Hashable, CaseIterable {
    /// ``BalancedSelector``, the default.
    case `default`
    /// ``ThroughputSelector``, by measured throughput.
    case throughput
    /// ``BufferSelector``, by buffer level.
    case buffer
    /// ``FixedSelector`` on the lowest rung.
    case fixedLowest = "fixed-lowest"
    /// ``FixedSelector`` on the highest rung.
    case fixedHighest = "fixed-highest"

    /// A Boolean value that indicates whether the selector chooses the same rung at all times, as a ``FixedSelector`` does.
    ///
    /// A simulation starts such a selector on its own rung. All other selectors start on one common rung.
    package var isFixed: Bool {
        switch self {
        case .default, .throughput, .buffer: false
        case .fixedLowest, .fixedHighest: true
        }
    }

    /// A Boolean value that indicates whether the options of a ``ThroughputEstimator`` configure the selector.
    package var hasEstimatorOptions: Bool {
        switch self {
        case .throughput, .buffer: true
        case .default, .fixedLowest, .fixedHighest: false
        }
    }
}

/// A type-erased selector, created by name or from any other selector.
public struct AnyVariantSelector: VariantSelector {
    private var selector: any VariantSelector
    /// The name with which the selector was created; `nil` for a custom selector.
    public let name: SelectorName?

    /// Creates a built-in selector by name.
    ///
    /// - Parameters:
    ///   - name: The name of the selector.
    ///   - initialEstimate: The throughput estimate of an earlier session (``ThroughputMemory``), if there is one.
    ///   - estimatorOptions: The weights and thresholds of the throughput estimator, for a selector that uses one.
    public init(
        _ name: SelectorName,
        initialEstimate: BitRate? = nil,
        estimatorOptions: ThroughputEstimator.Options = .init()
    ) {
        self.name = name
        selector =
            switch name {
            case .default: BalancedSelector(initialEstimate: initialEstimate)
            case .throughput: ThroughputSelector(initialEstimate: initialEstimate, options: estimatorOptions)
            case .buffer: BufferSelector(initialEstimate: initialEstimate, options: estimatorOptions)
            case .fixedLowest: FixedSelector(.lowest)
            case .fixedHighest: FixedSelector(.highest)
            }
    }

    /// Creates a type-erased selector from a custom one.
    public init(_ selector: any VariantSelector) {
        self.selector = selector
        name = nil
    }

    /// Adds a measurement to the wrapped selector.
    public mutating func add(_ measurement: SegmentMeasurement) { selector.add(measurement) }

    /// Returns the decision of the wrapped selector.
    public mutating func decide(_ context: SelectionContext) -> SwitchDecision { selector.decide(context) }

    /// Returns the decision of the wrapped selector about a running transfer.
    public mutating func review(
        _ transfer: TransferInFlight,
        in context: SelectionContext
    ) -> TransferDecision { selector.review(transfer, in: context) }

    /// Resets the wrapped selector after a seek.
    public mutating func resetAfterSeek() { selector.resetAfterSeek() }
}
