/// The ratio of the width of a pixel to its height.
public struct PixelAspectRatio: Sendable, Hashable {
    /// The relative width.
    public let horizontal: Int
    /// The relative height.
    public let vertical: Int

    /// The ratio of square pixels, 1:1.
    public static let square = PixelAspectRatio(horizontal: 1, vertical: 1)

    /// Creates a ratio; it is square if a number is not positive.
    public init(horizontal: Int, vertical: Int) {
        let isKnown = horizontal > 0 && vertical > 0
        self.horizontal = isKnown ? horizontal : 1
        self.vertical = isKnown ? vertical : 1
    }
}
