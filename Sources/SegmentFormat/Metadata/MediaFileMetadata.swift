import MediaTiming

/// The title, the artist, the album and the artwork of a media file, as its container has them.
///
/// If a container has several values for one property, the first one is used; an image that is declared as the front
/// cover replaces other images.
package struct MediaFileMetadata: Sendable, Hashable {
    /// The title of the content; `nil` if the file has none.
    package private(set) var title: String?
    /// The artist; `nil` if the file has none.
    package private(set) var artist: String?
    /// The title of the album; `nil` if the file has none.
    package private(set) var albumTitle: String?
    /// The artwork; `nil` if the file has none, or none of at most ``maximumArtworkSize`` in a known format.
    package private(set) var artwork: Artwork?

    /// The maximum length of a text in UTF-8, in bytes; longer texts are shortened.
    package static let maximumTextLength = 1_024
    /// The maximum size of an artwork, 8 MiB; larger images are omitted.
    package static let maximumArtworkSize = 8 << 20
    /// The maximum number of bytes of a container's metadata that are loaded: the artwork and 1 MiB of other metadata.
    static let maximumSize = maximumArtworkSize + 1 << 20
    /// The maximum number of items, such as comments, that are read of a container's metadata.
    static let maximumItemCount = 10_000

    /// An image that represents the content, such as the cover of an album.
    package struct Artwork: Sendable, Hashable {
        /// The media type of the image: `image/jpeg`, `image/png`, `image/gif` or `image/webp`.
        ///
        /// It is determined by the first bytes of the image, because writers often declare another one.
        package let contentType: String
        /// The bytes of the image file.
        package let bytes: [UInt8]
        /// A Boolean value that indicates whether the file declares the image as the front cover.
        package let isFrontCover: Bool

        /// Creates an artwork; `nil` if the bytes are not those of an image in a known format, or exceed
        /// ``MediaFileMetadata/maximumArtworkSize``.
        package init?(_ bytes: [UInt8], isFrontCover: Bool = false) {
            guard bytes.count <= MediaFileMetadata.maximumArtworkSize, let type = Self.contentType(of: bytes) else {
                return nil
            }
            contentType = type
            self.bytes = bytes
            self.isFrontCover = isFrontCover
        }

        private static func contentType(of bytes: [UInt8]) -> String? {
            if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
            if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
            if bytes.starts(with: "GIF8".utf8) { return "image/gif" }
            if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return "image/webp" }
            return nil
        }
    }

    /// A property of the metadata that is a text.
    enum TextProperty {
        case title, artist, albumTitle
    }

    /// Creates metadata without any property.
    package init() {}

    /// A Boolean value that indicates whether there is no property.
    package var isEmpty: Bool { title == nil && artist == nil && albumTitle == nil && artwork == nil }

    /// Sets a text, unless the property has a value or the text is blank.
    ///
    /// Control characters, such as line breaks, are replaced by spaces.
    mutating func add(_ text: String, as property: TextProperty) {
        switch property {
        case .title where title == nil: title = Self.displayText(text)
        case .artist where artist == nil: artist = Self.displayText(text)
        case .albumTitle where albumTitle == nil: albumTitle = Self.displayText(text)
        case .title, .artist, .albumTitle: break
        }
    }

    /// Sets the artwork, unless there is one that takes precedence or the image has no known format.
    mutating func addArtwork(_ bytes: [UInt8], isFrontCover: Bool = false) {
        guard artwork == nil || isFrontCover && artwork?.isFrontCover == false else { return }
        artwork = Artwork(bytes, isFrontCover: isFrontCover) ?? artwork
    }

    /// Adds the properties of other metadata that are missing here.
    mutating func addMissing(from other: MediaFileMetadata) {
        title = title ?? other.title
        artist = artist ?? other.artist
        albumTitle = albumTitle ?? other.albumTitle
        if let image = other.artwork { addArtwork(image.bytes, isFrontCover: image.isFrontCover) }
    }

    /// Returns a text on one line, without surrounding white space and of at most ``maximumTextLength`` bytes; `nil` for a
    /// blank text.
    private static func displayText(_ text: String) -> String? {
        var shown = String.UnicodeScalarView()
        // White space is shown only if other characters follow.
        var spaces = String.UnicodeScalarView()
        var length = 0
        for scalar in text.unicodeScalars {
            let isControl = scalar.properties.generalCategory == .control
            let isSpace = isControl || scalar.properties.isWhitespace
            if isSpace, shown.isEmpty { continue }
            let character: Unicode.Scalar = isControl ? " " : scalar
            length += String(Character(character)).utf8.count
            guard length <= maximumTextLength else { break }
            if isSpace {
                spaces.append(character)
            } else {
                shown.append(contentsOf: spaces)
                shown.append(character)
                spaces = String.UnicodeScalarView()
            }
        }
        return shown.isEmpty ? nil : String(shown)
    }
}

extension Span<UInt8> {
    /// Returns the beginning of a text in UTF-8 that is long enough for a property of ``MediaFileMetadata``.
    func metadataText(_ range: Range<Int>) -> String {
        String(decoding: metadataBytes(range), as: UTF8.self)
    }

    /// Returns the beginning of a text that is in UTF-8 or in an older encoding, and long enough for a property of
    /// ``MediaFileMetadata``.
    ///
    /// - Parameters:
    ///   - range: The range of the text, which a zero byte can end.
    ///   - decode: A closure that returns the text of bytes that are not valid UTF-8.
    /// - Returns: The beginning of the text.
    func metadataText(_ range: Range<Int>, orDecodedBy decode: ([UInt8]) -> String) -> String {
        let bytes = metadataBytes(range)
        // A text in UTF-8 can be cut within its last character, which has at most four bytes.
        let isCut = bytes.count >= Self.metadataTextSize
        for count in 0...(isCut ? 3 : 0) {
            if let text = String(validating: bytes.dropLast(count), as: UTF8.self) { return text }
        }
        return decode(bytes)
    }

    /// The number of bytes of a text that are read; a text that is cut within a character is cut again to its maximum
    /// length.
    private static var metadataTextSize: Int { 2 *| MediaFileMetadata.maximumTextLength }

    private func metadataBytes(_ range: Range<Int>) -> [UInt8] {
        let end = Swift.min(range.upperBound, range.lowerBound +| Self.metadataTextSize)
        return Array(byteArray(in: range.lowerBound..<end).prefix { $0 != 0 })
    }
}
