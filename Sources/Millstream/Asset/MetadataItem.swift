import SegmentFormat

/// An item of metadata, such as the title of a media file (`AVMetadataItem`).
public struct MetadataItem: Sendable, Hashable {
    /// A key that identifies a kind of metadata independently of the format of the file (`AVMetadataKey`).
    public struct CommonKey: RawRepresentable, Sendable, Hashable {
        /// The name of the key, as in AVFoundation.
        public let rawValue: String

        /// Creates a key from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The title of the content.
        public static let title = CommonKey(rawValue: "title")
        /// The artist.
        public static let artist = CommonKey(rawValue: "artist")
        /// The title of the album.
        public static let albumName = CommonKey(rawValue: "albumName")
        /// An image that represents the content, such as the cover of an album.
        public static let artwork = CommonKey(rawValue: "artwork")
    }

    /// The kind of metadata.
    public let commonKey: CommonKey
    /// The value as a text; `nil` if the value is no text.
    ///
    /// A text that was read from a media file has at most 1,024 bytes on one line.
    public let stringValue: String?
    /// The value as the bytes of a file, such as an image; `nil` if the value is a text.
    ///
    /// An image that was read from a media file has at most 8 MiB.
    public let dataValue: [UInt8]?
    /// The media type of ``dataValue``, such as `image/png`; `nil` for a text.
    ///
    /// That of an image that was read from a media file is `image/jpeg`, `image/png`, `image/gif` or `image/webp`.
    public let contentType: String?

    /// Creates an item whose value is a text.
    ///
    /// - Parameters:
    ///   - commonKey: The kind of metadata.
    ///   - stringValue: The text.
    public init(_ commonKey: CommonKey, stringValue: String) {
        self.commonKey = commonKey
        self.stringValue = stringValue
        dataValue = nil
        contentType = nil
    }

    /// Creates an item whose value is the bytes of a file.
    ///
    /// - Parameters:
    ///   - commonKey: The kind of metadata.
    ///   - dataValue: The bytes of the file.
    ///   - contentType: The media type of the file, such as `image/png`.
    public init(_ commonKey: CommonKey, dataValue: [UInt8], contentType: String) {
        self.commonKey = commonKey
        stringValue = nil
        self.dataValue = dataValue
        self.contentType = contentType
    }

    /// Returns the items with a key, in their order (`metadataItems(from:filteredByIdentifier:)`).
    ///
    /// - Parameters:
    ///   - items: The items, such as those of ``PlayerItem/State/commonMetadata``.
    ///   - commonKey: The key.
    /// - Returns: The items.
    public static func metadataItems(from items: [MetadataItem], withKey commonKey: CommonKey) -> [MetadataItem] {
        items.filter { $0.commonKey == commonKey }
    }

    /// Returns the items of the metadata of a file.
    static func items(of metadata: MediaFileMetadata) -> [MetadataItem] {
        let texts: [(key: CommonKey, text: String?)] = [
            (.title, metadata.title), (.artist, metadata.artist), (.albumName, metadata.albumTitle),
        ]
        let items = texts.compactMap { key, text in text.map { MetadataItem(key, stringValue: $0) } }
        guard let artwork = metadata.artwork else { return items }
        return items + [MetadataItem(.artwork, dataValue: artwork.bytes, contentType: artwork.contentType)]
    }
}
