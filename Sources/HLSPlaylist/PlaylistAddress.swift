import MediaTiming
public import ResourceAddressing

/// A URI in a playlist and its role.
public struct PlaylistAddress: Sendable {
    /// The type of resource that a URI in a playlist identifies.
    public enum Role: Sendable, Hashable {
        /// A media segment.
        case segment
        /// A partial segment, which may be announced by a preload hint.
        case part
        /// A media initialization section.
        case initialization
        /// An encryption key.
        case key
        /// The media playlist of a variant.
        case variant
        /// The media playlist of an I-frame variant.
        case iFrameVariant
        /// The media playlist of a rendition, with its media type, or `nil` for a type that the standard does not
        /// define.
        case rendition(Rendition.MediaType?)
        /// The media playlist of another rendition, from a rendition report.
        case renditionReport
        /// Session data or a steering manifest.
        case session
        /// An interstitial asset, a list of such assets, or a resource to preload for a date range.
        case interstitial
    }

    /// The type of resource that the URI identifies.
    public let role: Role
    /// The URI as written, with variables replaced.
    public let uri: String
    /// The resolved URI, which is absolute if the URL of the playlist is known.
    public let address: ResourceAddress
    /// The range of the URI in the bytes of the playlist, without quotation marks.
    package let range: Range<Int>
    /// A Boolean value that indicates whether a replacement value must be put in quotation marks.
    package let needsQuotes: Bool
    /// A Boolean value that indicates whether the URI is the value of an attribute rather than a separate line.
    package let isAttribute: Bool
}

extension Playlist {
    /// The URIs that a player may request, in the order in which they appear in the playlist.
    public var addresses: [PlaylistAddress] {
        let (index, variables) =
            switch self {
            case .multivariant(let playlist): (playlist.index, playlist.definedVariables)
            case .media(let playlist): (playlist.index, playlist.header.variables)
            }
        var result: [PlaylistAddress] = []
        for record in index.tags {
            guard let tag = record.tag, !tag.addresses.isEmpty,
                let tagLine = bytes.tagLine(at: Int(record.lineStart))
            else { continue }
            let attributes = AttributeList(bytes, in: tagLine.value)
            for definition in tag.addresses {
                guard let attribute = attributes.attribute(definition.name), !attribute.value.isEmpty,
                    let role = definition.role?(attributes)
                else {
                    continue
                }
                let uri = variables.substitute(attribute.value)
                result.append(
                    PlaylistAddress(
                        role: role,
                        uri: uri,
                        address: context.resolve(uri),
                        range: attribute.range,
                        needsQuotes: !attribute.isQuoted,
                        isAttribute: true
                    )
                )
            }
        }
        func append(_ role: PlaylistAddress.Role, lineAt offset: UInt32) {
            var scanner = LineScanner(Int(offset)..<bytes.count)
            guard let line = scanner.next(in: bytes.span) else { return }
            let text = line.trimmed(in: bytes.span)
            let uri = variables.substitute(bytes.text(text))
            result.append(
                PlaylistAddress(
                    role: role,
                    uri: uri,
                    address: context.resolve(uri),
                    range: text,
                    needsQuotes: false,
                    isAttribute: false
                )
            )
        }
        for record in index.segments { append(.segment, lineAt: record.uriStart) }
        for record in index.variants {
            if let uriStart = record.uriStart { append(.variant, lineAt: uriStart) }
        }
        return result.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }
}
