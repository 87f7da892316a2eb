/// The size of video as it is shown, in square pixels.
package struct VideoSize: Sendable, Hashable {
    /// The width in pixels.
    package let width: Int
    /// The height in pixels.
    package let height: Int

    /// Creates a size.
    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}
