extension MediaFileMetadata {
    /// Adds a `Tags` element (RFC 9559 §5.1.8).
    ///
    /// The tags of a song take precedence over those of its album. The title of an album is the title of the content if
    /// no song has one, as in the file of a movie.
    mutating func addTags(matroska content: Range<Int>, _ bytes: Span<UInt8>) {
        var hasSongTitle = false
        var songs = MatroskaElementIterator(content, in: bytes)
        while let child = songs.next(bytes) {
            guard child.id == 0x7373, Self.level(ofTag: child.content, bytes) == .song else { continue }
            if addTag(child.content, titleProperty: .title, bytes) { hasSongTitle = true }
        }
        var albums = MatroskaElementIterator(content, in: bytes)
        while let child = albums.next(bytes) {
            guard child.id == 0x7373, Self.level(ofTag: child.content, bytes) == .album else { continue }
            addTag(child.content, titleProperty: hasSongTitle ? .albumTitle : .title, bytes)
        }
    }

    /// The object that a tag describes.
    private enum TargetLevel {
        case song, album
        /// A part of a song or a collection of albums.
        case other
    }

    /// Returns the object that a `Tag` element describes; `nil` if that is a track, a chapter or an attachment
    /// (RFC 9559 §5.1.8.1.1).
    private static func level(ofTag content: Range<Int>, _ bytes: Span<UInt8>) -> TargetLevel? {
        // The default value is that of an album, but writers omit the element for songs.
        var level = TargetLevel.song
        var tag = MatroskaElementIterator(content, in: bytes)
        while let child = tag.next(bytes) {
            guard child.id == 0x63C0 else { continue }
            var targets = MatroskaElementIterator(child.content, in: bytes)
            while let target = targets.next(bytes) {
                switch target.id {
                case 0x63C4, 0x63C5, 0x63C6, 0x63C9:
                    if bytes.matroskaUnsigned(target.content) != 0 { return nil }
                case 0x68CA:
                    switch bytes.matroskaUnsigned(target.content) {
                    case 30: level = .song
                    case 50: level = .album
                    default: level = .other
                    }
                default: break
                }
            }
        }
        return level
    }

    /// Adds a `Tag` element (RFC 9559 §5.1.8.1).
    ///
    /// - Parameters:
    ///   - content: The content of the element.
    ///   - titleProperty: The property to which the title belongs.
    ///   - bytes: The bytes with the element.
    /// - Returns: A Boolean value that indicates whether the tag has a title.
    @discardableResult
    private mutating func addTag(
        _ content: Range<Int>,
        titleProperty: TextProperty,
        _ bytes: Span<UInt8>
    ) -> Bool {
        var walker = MatroskaElementIterator(content, in: bytes)
        var count = 0
        var hasTitle = false
        while count < Self.maximumItemCount, let child = walker.next(bytes) {
            count += 1
            guard child.id == 0x67C8 else { continue }
            if addSimpleTag(child.content, titleProperty: titleProperty, bytes) { hasTitle = true }
        }
        return hasTitle
    }

    /// Adds a `SimpleTag` element.
    ///
    /// - Returns: A Boolean value that indicates whether it is a title.
    private mutating func addSimpleTag(
        _ content: Range<Int>,
        titleProperty: TextProperty,
        _ bytes: Span<UInt8>
    ) -> Bool {
        var walker = MatroskaElementIterator(content, in: bytes)
        var (name, value) = ("", "")
        while let child = walker.next(bytes) {
            if child.id == 0x45A3 { name = bytes.matroskaText(child.content.prefix(16)) }
            if child.id == 0x4487 { value = bytes.metadataText(child.content) }
        }
        switch name.uppercased() {
        case "TITLE":
            add(value, as: titleProperty)
            return !value.isEmpty
        case "ARTIST": add(value, as: .artist)
        case "ALBUM": add(value, as: .albumTitle)
        default: break
        }
        return false
    }

    /// Returns a Boolean value that indicates whether the fields of an `AttachedFile` element before its data declare
    /// an image (RFC 9559 §5.1.6.1).
    ///
    /// - Parameters:
    ///   - content: The beginning of the content of the element.
    ///   - bytes: The bytes with the element.
    /// - Returns: `false` if the media type is missing, or follows the data.
    static func isImage(matroskaAttachment content: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        var walker = MatroskaElementIterator(content, in: bytes)
        while let child = walker.next(bytes), child.id != 0x465C {
            guard child.id == 0x4660 else { continue }
            return bytes.matroskaText(child.content.prefix(64)).lowercased().hasPrefix("image/")
        }
        return false
    }

    /// Adds an `AttachedFile` element if it is an image (RFC 9559 §5.1.6.1); the name of the front cover is `cover`.
    mutating func addAttachment(matroska content: Range<Int>, _ bytes: Span<UInt8>) {
        var walker = MatroskaElementIterator(content, in: bytes)
        var (name, type, data) = ("", "", 0..<0)
        while let child = walker.next(bytes) {
            switch child.id {
            case 0x466E: name = bytes.matroskaText(child.content.prefix(64)).lowercased()
            case 0x4660: type = bytes.matroskaText(child.content.prefix(64)).lowercased()
            case 0x465C: data = child.content
            default: break
            }
        }
        guard type.hasPrefix("image/"), data.count <= Self.maximumArtworkSize else { return }
        addArtwork(bytes.byteArray(in: data), isFrontCover: name.hasPrefix("cover."))
    }
}
