import MediaTiming

extension MediaFileMetadata {
    /// Creates the metadata of a movie box: that of its item list (`moov/udta/meta/ilst`), and the texts of QuickTime's
    /// user data (`moov/udta/©nam`).
    ///
    /// - Parameters:
    ///   - bytes: The bytes with the movie box.
    ///   - offset: The offset of the movie box.
    package init(movieBoxIn bytes: Span<UInt8>, at offset: Int = 0) {
        self.init()
        var walker = BoxIterator(max(0, offset)..<max(0, offset, bytes.count), in: bytes)
        guard let movie = walker.next(bytes), movie.type == .moov,
            let userData = movie.firstChild(.udta, in: bytes)
        else { return }
        var children = BoxIterator(userData.payload, in: bytes)
        var texts: [(property: TextProperty, text: String)] = []
        var count = 0
        while count < Self.maximumItemCount, let child = children.next(bytes) {
            count += 1
            if child.type == .meta {
                addItems(ofMetadata: child, bytes)
            } else if let property = TextProperty(child.type) {
                texts.append((property, Self.userDataText(child.payload, bytes)))
            }
        }
        // The item list takes precedence over the older form.
        for (property, text) in texts { add(text, as: property) }
    }

    private mutating func addItems(ofMetadata metadata: Box, _ bytes: Span<UInt8>) {
        // In ISO base media files this is a full box; in QuickTime files it has neither version nor flags.
        let isFullBox = !bytes.hasBytes("hdlr", at: metadata.payload.lowerBound + 4)
        let content = isFullBox ? metadata.payload.dropFirst(4) : metadata.payload
        var children = BoxIterator(content, in: bytes)
        while let child = children.next(bytes) {
            guard child.type == .ilst else { continue }
            var items = BoxIterator(child.payload, in: bytes)
            var count = 0
            while count < Self.maximumItemCount, let item = items.next(bytes) {
                count += 1
                if let property = TextProperty(item.type) {
                    addText(of: item, as: property, bytes)
                } else if item.type == .covr {
                    addArtwork(of: item, bytes)
                }
            }
            return
        }
    }

    private mutating func addText(of item: Box, as property: TextProperty, _ bytes: Span<UInt8>) {
        guard let data = item.firstChild(.data, in: bytes), data.payload.count > 8 else { return }
        let value = data.payload.dropFirst(8)
        // The well-known types of texts are 1 for UTF-8 and 2 for UTF-16; some writers leave the type unset.
        switch bytes.uint32(at: data.payload.lowerBound) {
        case 0, 1: add(bytes.metadataText(value), as: property)
        case 2:
            let units = stride(from: value.lowerBound, to: value.upperBound - 1, by: 2).prefix(Self.maximumTextLength)
                .map { UInt16(truncatingIfNeeded: bytes.unsigned(2, at: $0)) }
            add(String(decoding: units, as: UTF16.self), as: property)
        default: break
        }
    }

    /// Adds the first image of an item that has a known format, whether or not its declared type (13 for JPEG, 14 for
    /// PNG) is correct.
    private mutating func addArtwork(of item: Box, _ bytes: Span<UInt8>) {
        var values = BoxIterator(item.payload, in: bytes)
        while artwork == nil, let data = values.next(bytes) {
            guard data.type == .data, !data.isTruncated, data.payload.count > 8,
                data.payload.count <= Self.maximumArtworkSize + 8
            else { continue }
            addArtwork(bytes.byteArray(in: data.payload.dropFirst(8)), isFrontCover: true)
        }
    }

    /// Returns a text of QuickTime's user data: a length and a language of two bytes each precede it.
    ///
    /// Languages below 0x400 are those of Macintosh, whose texts are in Mac OS Roman or another encoding of Macintosh,
    /// although many writers use UTF-8. Characters of these encodings other than those of ASCII are left out.
    private static func userDataText(_ payload: Range<Int>, _ bytes: Span<UInt8>) -> String {
        guard payload.count > 4 else { return "" }
        let length = Int(UInt16(truncatingIfNeeded: bytes.unsigned(2, at: payload.lowerBound)))
        let language = bytes.unsigned(2, at: payload.lowerBound + 2)
        let text = payload.dropFirst(4).prefix(length)
        guard language < 0x400 else { return bytes.metadataText(text) }
        return bytes.metadataText(text, orDecodedBy: { String(decoding: $0.filter { $0 < 0x80 }, as: UTF8.self) })
    }
}

extension MediaFileMetadata.TextProperty {
    /// Creates the property of an item; `nil` for other items.
    fileprivate init?(_ type: FourCharacterCode) {
        switch type {
        case .itemName: self = .title
        case .itemArtist: self = .artist
        case .itemAlbum: self = .albumTitle
        default: return nil
        }
    }
}

/// The boxes and items of metadata (QuickTime File Format, Metadata; iTunes metadata).
///
/// The names of items begin with the byte 0xA9, the copyright sign in the Mac OS Roman encoding.
extension FourCharacterCode {
    fileprivate static let meta: Self = "meta"
    fileprivate static let ilst: Self = "ilst"
    fileprivate static let data: Self = "data"
    fileprivate static let covr: Self = "covr"
    fileprivate static let itemName = Self(0xA96E_616D)
    fileprivate static let itemArtist = Self(0xA941_5254)
    fileprivate static let itemAlbum = Self(0xA961_6C62)
}
