public import MediaTiming

/// A closed range in which either bound may be missing: `LOW...HIGH`, `LOW...` or `...HIGH`.
public struct PartialRange<Bound: Comparable & Sendable & Hashable>: Sendable, Hashable {
    /// The least value in the range, or `nil` for no lower bound.
    public let low: Bound?
    /// The greatest value in the range, or `nil` for no upper bound.
    public let high: Bound?

    /// Creates a range.
    public init(low: Bound?, high: Bound?) {
        self.low = low
        self.high = high
    }

    /// Creates a range from text of the form `LOW...HIGH`.
    ///
    /// The result is `nil` if both bounds are missing, a bound cannot be parsed, or the lower bound exceeds the upper
    /// bound.
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

    /// Returns a Boolean value that indicates whether the range contains a value.
    public func contains(_ value: Bound) -> Bool {
        if let low, value < low { return false }
        if let high, value > high { return false }
        return true
    }
}

extension PartialRange<BitRate> {
    /// Creates a range of bit rates from text such as `900k...4M`.
    public init?(_ text: String) { self.init(text) { BitRate($0) } }
}

extension PartialRange<MediaTime> {
    /// Creates a range of times from text such as `90...120`, `0:01:30...` or `...2:00`; see ``ClockTime``.
    public init?(_ text: String) { self.init(text) { ClockTime.parse($0) } }
}
