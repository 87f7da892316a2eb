import MediaTiming

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

    /// Returns the width of a picture in square pixels; ratios of 10 or more in either direction count as square.
    ///
    /// They can only come from a damaged header, which must not cause an allocation of gigabytes.
    package func displayWidth(ofPixelWidth width: Int) -> Int {
        let (across, down) = (Double(horizontal), Double(vertical))
        guard across > 0, down > 0, across / down < 10, down / across < 10 else { return width }
        return max(1, Int(saturating: (Double(width) * across / down).rounded()))
    }
}
