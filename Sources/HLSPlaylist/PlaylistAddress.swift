import MediaTiming
public import ResourceAddressing

/// An address that stands in a playlist, with what it is for.
public struct PlaylistAddress: Sendable {
    /// What an address in a playlist leads to.
    public enum Role: Sendable, Hashable {
        /// A media segment.
        case segment
        /// A part of one, or one that is announced.
        case part
        /// What a decoder needs before a segment.
        case initialization
        /// An encryption key.
        case key
        /// The media playlist of a variant.
        case variant
        /// The media playlist of an I-frame variant.
        case iFrameVariant
        /// The media playlist of a rendition; `nil` for a type that the standard does not know.
        case rendition(Rendition.MediaType?)
        /// The media playlist of another rendition, in a report.
        case renditionReport
        /// Data of the session or a steering manifest.
        case session
        /// An interstitial asset or a list of them.
        case interstitial
    }

    /// What it leads to.
    public let role: Role
    /// The address as written, with variables replaced.
    public let uri: String
    /// What it means: absolute where the playlist's own address is known.
    public let address: ResourceAddress
    /// Where it stands, without quotation marks.
    package let range: Range<Int>
    /// Whether quotation marks have to be put around a new value.
    package let needsQuotes: Bool
}

extension Playlist {
    /// All addresses in their order: those that a player would follow.
    public var addresses: [PlaylistAddress] {
        let (index, variables) =
            switch self {
            case .multivariant(let playlist): (playlist.index, playlist.definedVariables)
            case .media(let playlist): (playlist.index, playlist.header.variables)
            }
        var result: [PlaylistAddress] = []
        for record in index.tags {
            guard let tag = record.tag else { continue }
            var scanner = LineScanner(Int(record.lineStart)..<bytes.count)
            guard !Self.attributes(holdingAddressesOf: tag).isEmpty, let line = scanner.next(in: bytes.span),
                let tagLine = TagLine(line, in: bytes)
            else { continue }
            let attributes = AttributeList(bytes, in: tagLine.value)
            for name in Self.attributes(holdingAddressesOf: tag) {
                guard let attribute = attributes.attribute(name), !attribute.value.isEmpty,
                    let role = Self.role(of: tag, attributes)
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
                        needsQuotes: !attribute.isQuoted
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
                    needsQuotes: false
                )
            )
        }
        for record in index.segments { append(.segment, lineAt: record.uriStart) }
        for record in index.variants {
            if let uriStart = record.uriStart { append(.variant, lineAt: uriStart) }
        }
        return result.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    private static func attributes(holdingAddressesOf tag: TagName) -> [String] {
        switch tag {
        case .key, .map, .part, .preloadHint, .renditionReport, .media, .iFrameVariant, .sessionData, .sessionKey:
            ["URI"]
        case .contentSteering: ["SERVER-URI"]
        case .dateRange: ["X-ASSET-URI", "X-ASSET-LIST", "X-URI"]
        default: []
        }
    }

    private static func role(of tag: TagName, _ attributes: AttributeList) -> PlaylistAddress.Role? {
        switch tag {
        case .key, .sessionKey: attributes["METHOD"] == "NONE" ? nil : .key
        case .map: .initialization
        case .part: .part
        case .preloadHint: attributes["TYPE"] == "MAP" ? .initialization : .part
        case .renditionReport: .renditionReport
        case .media: .rendition(attributes["TYPE"].flatMap { Rendition.MediaType(rawValue: $0) })
        case .iFrameVariant: .iFrameVariant
        case .sessionData, .contentSteering: .session
        case .dateRange: .interstitial
        default: nil
        }
    }
}
