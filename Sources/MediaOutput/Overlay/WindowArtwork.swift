public import MediaDecoding

/// An image that represents media without video, such as the cover of an album, which a window shows.
public struct WindowArtwork: Sendable, Hashable {
    /// The maximum width and height of the image in pixels; larger images are reduced, because the memory of a renderer is
    /// limited.
    private static let maximumLength = 2_048

    /// The image, whose pixels are square.
    let pixelBuffer: PixelBuffer

    /// Creates an artwork from an image.
    ///
    /// - Parameter image: The image in any pixel format.
    /// - Throws: ``OutputError`` with ``OutputError/Code/notConvertible``.
    public init(_ image: PixelBuffer) throws(OutputError) {
        var size = VideoGeometry.displaySize(of: image)
        if size.width > Self.maximumLength || size.height > Self.maximumLength {
            let rect = VideoGeometry.fit(size, in: PixelSize(Self.maximumLength, Self.maximumLength))
            size = PixelSize(rect.width, rect.height)
        }
        do {
            pixelBuffer = try image.converted(to: .bgra, width: size.width, height: size.height)
        } catch {
            throw OutputError(.notConvertible, "An artwork could not be converted for the screen: \(error)")
        }
    }

    /// The size of the image.
    var size: PixelSize { PixelSize(pixelBuffer.width, pixelBuffer.height) }

    /// Returns whether two values are the same image.
    public static func == (left: WindowArtwork, right: WindowArtwork) -> Bool { left.pixelBuffer === right.pixelBuffer }

    /// Hashes the identity of the image.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(pixelBuffer)) }
}
