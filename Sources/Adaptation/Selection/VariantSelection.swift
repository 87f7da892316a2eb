public import MediaTiming

/// The choice of an adaptation algorithm: one of the built-in selectors, or one of the application.
///
/// A value creates a new selector for each player item, so that the selector has measurements of that item only.
///
/// ```swift
/// item.variantSelection = VariantSelection(.buffer)
/// item.variantSelection = VariantSelection { HalfThroughputSelector($0) }
/// ```
public struct VariantSelection: Sendable {
    /// A closure that creates a selector.
    ///
    /// Its argument is the throughput estimate of an earlier session; `nil` if there is none.
    public typealias SelectorFactory = @Sendable (_ initialEstimate: BitRate?) -> any VariantSelector

    private enum Algorithm: Sendable {
        case builtIn(SelectorName)
        case custom(CustomSelector)
    }

    private let algorithm: Algorithm
    /// The weights and thresholds of the throughput estimator, for a selector that uses one and for the throughput that
    /// the player reports.
    ///
    /// ``BalancedSelector`` and ``FixedSelector`` do not use an estimator, and an application's selector has its own.
    public let estimatorOptions: ThroughputEstimator.Options

    /// The selection by the default selector.
    public static let `default` = VariantSelection(.default)

    /// Creates a selection by a built-in selector.
    ///
    /// - Parameters:
    ///   - name: The name of the selector.
    ///   - estimatorOptions: See ``estimatorOptions``.
    public init(_ name: SelectorName, estimatorOptions: ThroughputEstimator.Options = .init()) {
        algorithm = .builtIn(name)
        self.estimatorOptions = estimatorOptions
    }

    /// Creates a selection by a selector of the application.
    ///
    /// - Parameters:
    ///   - estimatorOptions: The options of the estimator of the throughput that the player reports.
    ///   - makeSelector: Creates the selector; called at least once for each item, and again when another selection is
    ///     replaced by this one during playback.
    public init(
        estimatorOptions: ThroughputEstimator.Options = .init(),
        _ makeSelector: @escaping SelectorFactory
    ) {
        algorithm = .custom(CustomSelector(makeSelector))
        self.estimatorOptions = estimatorOptions
    }

    /// The name of the built-in selector; `nil` for a selector of the application.
    public var name: SelectorName? { if case .builtIn(let name) = algorithm { name } else { nil } }

    /// Creates a selector without measurements.
    ///
    /// - Parameter initialEstimate: The throughput estimate of an earlier session (``ThroughputMemory``), if there is
    ///   one.
    /// - Returns: The selector.
    public func makeSelector(initialEstimate: BitRate? = nil) -> AnyVariantSelector {
        switch algorithm {
        case .custom(let custom): AnyVariantSelector(custom.makeSelector(initialEstimate))
        case .builtIn(let name):
            AnyVariantSelector(name, initialEstimate: initialEstimate, estimatorOptions: estimatorOptions)
        }
    }

    /// The factory of an application's selector, with an identity.
    private final class CustomSelector: Sendable {
        let makeSelector: SelectorFactory

        init(_ makeSelector: @escaping SelectorFactory) { self.makeSelector = makeSelector }
    }
}

extension VariantSelection: Hashable {
    /// Returns a Boolean value that indicates whether both select with the same selector and options.
    ///
    /// Selections with a selector of the application are equal if one is a copy of the other.
    public static func == (left: VariantSelection, right: VariantSelection) -> Bool {
        guard left.estimatorOptions == right.estimatorOptions else { return false }
        return switch (left.algorithm, right.algorithm) {
        case (.builtIn(let left), .builtIn(let right)): left == right
        case (.custom(let left), .custom(let right)): left === right
        case (.builtIn, .custom), (.custom, .builtIn): false
        }
    }

    /// Hashes the name of the selector or the identity of the application's selector, and the options.
    public func hash(into hasher: inout Hasher) {
        switch algorithm {
        case .builtIn(let name): hasher.combine(name)
        case .custom(let custom): hasher.combine(ObjectIdentifier(custom))
        }
        hasher.combine(estimatorOptions)
    }
}
