import MediaTiming

/// The width and height of video in pixels (RFC 8216bis §4.2, decimal-resolution).
public struct Resolution: Sendable, Hashable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int

    /// Creates a resolution.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Creates a resolution from text such as `1280x720`; the result is `nil` for any other form.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "x" || $0 == "X" }
        guard parts.count == 2, let width = UInt32(parts[0]), let height = UInt32(parts[1]) else { return nil }
        self.init(width: Int(width), height: Int(height))
    }
}

extension Resolution: CustomStringConvertible {
    /// The resolution in the form `1280x720`.
    public var description: String { "\(width)x\(height)" }
}
