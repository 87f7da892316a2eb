public import MediaTiming

/// A range with both borders inside, either of which may be missing: `LOW...HIGH`, `LOW...`, `...HIGH`.
public struct OpenRange<Bound: Comparable & Sendable & Hashable>: Sendable, Hashable {
    /// The least value inside; `nil` for no limit.
    public let low: Bound?
    /// The greatest value inside; `nil` for no limit.
    public let high: Bound?

    /// Makes a range.
    public init(low: Bound?, high: Bound?) {
        self.low = low
        self.high = high
    }

    /// Reads `LOW...HIGH`; `nil` where both borders are missing, one cannot be read, or they stand the wrong way round.
    public init?(_ text: String, bound: (Substring) -> Bound?) {
        guard let dots = text.firstRange(of: "...") else { return nil }
        let (first, last) = (text[..<dots.lowerBound], text[dots.upperBound...])
        guard !first.isEmpty || !last.isEmpty else { return nil }
        let low = first.isEmpty ? nil : bound(first)
        let high = last.isEmpty ? nil : bound(last)
        guard first.isEmpty || low != nil, last.isEmpty || high != nil else { return nil }
        if let low, let high, low > high { return nil }
        self.init(low: low, high: high)
    }

    /// Whether a value lies inside.
    public func contains(_ value: Bound) -> Bool {
        if let low, value < low { return false }
        if let high, value > high { return false }
        return true
    }
}

extension OpenRange<BitRate> {
    /// Reads `900k...4M`.
    public init?(_ text: String) { self.init(text) { BitRate($0) } }
}
