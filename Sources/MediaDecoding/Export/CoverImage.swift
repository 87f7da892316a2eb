/// An image that players show for a media file, in a format that all types of media files can have.
package struct CoverImage: Sendable, Hashable {
    /// A format of covers.
    package enum Format: Sendable, Hashable {
        /// Portable Network Graphics.
        case png
        /// JPEG.
        case jpeg
    }

    /// The bytes of the image.
    let bytes: [UInt8]
    /// The format of the image.
    let format: Format

    /// Creates a cover.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the image.
    ///   - format: The format of the image.
    package init(_ bytes: [UInt8], format: Format) {
        self.bytes = bytes
        self.format = format
    }

    /// The name of the attachment of a Matroska file, by which players recognize the cover (RFC 9559 §21.1).
    var fileName: String {
        switch format {
        case .png: "cover.png"
        case .jpeg: "cover.jpg"
        }
    }

    /// The media type of the image.
    var contentType: String {
        switch format {
        case .png: "image/png"
        case .jpeg: "image/jpeg"
        }
    }
}
