public import MediaTiming

extension MediaTime: ExpressibleByIntegerLiteral {
    /// Creates a time of whole seconds.
    public init(integerLiteral value: Int64) { self.init(seconds: value) }
}
