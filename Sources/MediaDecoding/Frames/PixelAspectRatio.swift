/// How wide a pixel is to how high.
public struct PixelAspectRatio: Sendable, Hashable {
    /// The width.
    public let horizontal: Int
    /// The height.
    public let vertical: Int

    /// Pixels as wide as high.
    public static let square = PixelAspectRatio(horizontal: 1, vertical: 1)

    /// Makes a ratio; square where a number is not positive.
    public init(horizontal: Int, vertical: Int) {
        let isKnown = horizontal > 0 && vertical > 0
        self.horizontal = isKnown ? horizontal : 1
        self.vertical = isKnown ? vertical : 1
    }
}
