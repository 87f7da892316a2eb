public import HLSPlaylist

/// A closed range of resolutions in which either bound may be missing: `WxH...WxH`, `WxH...` or `...WxH`.
///
/// A resolution is in the range if both its width and its height are.
public struct ResolutionRange: Sendable, Hashable {
    /// The least width and height, or `nil` for no lower bound.
    public let low: Resolution?
    /// The greatest width and height, or `nil` for no upper bound.
    public let high: Resolution?

    /// The greatest width and height in pixels that text can specify.
    static let maximum = 65_535

    /// Creates a range.
    public init(low: Resolution?, high: Resolution?) {
        self.low = low
        self.high = high
    }

    /// Creates a range from text such as `640x360...1280x720`.
    ///
    /// The result is `nil` if both bounds are missing, a bound cannot be parsed, or the lower bound exceeds the upper bound
    /// in width or height.
    public init?(_ text: String) {
        guard let dots = text.firstRange(of: "...") else { return nil }
        let (first, last) = (text[..<dots.lowerBound], text[dots.upperBound...])
        guard !first.isEmpty || !last.isEmpty else { return nil }
        low = Self.bound(first)
        high = Self.bound(last)
        guard first.isEmpty || low != nil, last.isEmpty || high != nil else { return nil }
        if let low, let high, low.width > high.width || low.height > high.height { return nil }
    }

    private static func bound(_ text: Substring) -> Resolution? {
        guard let size = Resolution(text) else { return nil }
        let valid = 1...maximum
        return valid.contains(size.width) && valid.contains(size.height) ? size : nil
    }

    /// Returns a Boolean value that indicates whether a resolution is in the range.
    public func contains(_ size: Resolution) -> Bool {
        if let low, size.width < low.width || size.height < low.height { return false }
        if let high, size.width > high.width || size.height > high.height { return false }
        return true
    }
}

extension ResolutionRange: CustomStringConvertible {
    /// The range in the form `640x360...1280x720`.
    public var description: String { "\(low?.description ?? "")...\(high?.description ?? "")" }
}
