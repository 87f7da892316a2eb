import HLSPlaylist

/// A tag of an entire playlist with the value that it is given.
public struct TagAssignment: Sendable, Hashable {
    /// The name without the number sign, such as `EXT-X-START`.
    public let name: String
    /// The text after the colon, or `nil` for a tag without a value.
    public let value: String?

    /// The maximum length of a value in bytes.
    private static let maximumValueLength = 8_192

    /// Creates an assignment from text of the form `NAME=VALUE` or `NAME`, where the name may begin with a number sign.
    ///
    /// The result is `nil` if the name is not that of a tag, the value contains control characters, or the tag applies to
    /// segments, variants or renditions rather than to the playlist.
    public init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let name = TagNames.normalized(String(first)) else { return nil }
        let value = parts.count > 1 ? String(parts[1]) : nil
        if let value {
            guard !value.isEmpty, value.utf8.count <= Self.maximumValueLength,
                value.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
            else { return nil }
        }
        if let tag = TagName(name) {
            guard TagNames.concernsPlaylist(tag), tag.definition.accepts(value) else { return nil }
        }
        self.name = name
        self.value = value
    }

    /// Returns a Boolean value that indicates whether the tag may be in a playlist of the given kind.
    func applies(to kind: Playlist.Kind) -> Bool {
        switch TagName(name)?.scope {
        case nil, .any: true
        case .multivariant: kind == .multivariant
        case .mediaPlaylist, .segment, .metadata: kind == .media
        }
    }
}

extension TagAssignment: CustomStringConvertible {
    /// The assignment in the form `NAME=VALUE`.
    public var description: String { name + (value.map { "=" + $0 } ?? "") }
}

/// The names of tags in the values of edits.
enum TagNames {
    /// The tags without which the rest of a playlist, or its media, cannot be read.
    private static let indispensable: [TagName] = [
        .header, .define, .targetDuration, .mediaSequence, .segmentInformation, .byteRange, .key, .map, .media,
        .variant,
    ]

    /// The names of the tags that cannot be removed.
    static let indispensableNames = indispensable.map(\.name)

    /// Returns a name without its number sign, or `nil` if it is not the name of a tag: `EXT` and further uppercase letters,
    /// digits, hyphens and underscores.
    static func normalized(_ text: String) -> String? {
        let name = text.hasPrefix("#") ? String(text.dropFirst()) : text
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isName && name.hasPrefix("EXT") ? name : nil
    }

    /// Returns a name without its number sign, or `nil` if it is not that of a tag that can be removed.
    static func removable(_ text: String) -> String? {
        guard let name = normalized(text) else { return nil }
        if let tag = TagName(name), indispensable.contains(tag) { return nil }
        return name
    }

    /// Returns a Boolean value that indicates whether a playlist has a tag at most once, and the tag can be set.
    ///
    /// Implicit initialization vectors depend on the media sequence number (RFC 8216bis §5.2), so it cannot be set.
    static func concernsPlaylist(_ tag: TagName) -> Bool {
        switch tag.scope {
        case .any, .mediaPlaylist: ![.header, .define, .mediaSequence].contains(tag)
        case .multivariant: tag == .contentSteering
        case .segment, .metadata: false
        }
    }
}

extension PlaylistEdit {
    /// A Boolean value that indicates whether the edit of a multivariant playlist has to change its media playlists: edits of
    /// segments and their keys, of tags that only media playlists have, and those of an application.
    public var concernsMediaPlaylists: Bool {
        switch definition.target {
        case .media: true
        case .multivariant: false
        case .both:
            definition.parameter?.kind == .key || !Self.names.contains(definition.name)
                || value.split(separator: ",").contains { name in
                    switch TagName(String(name.prefix { $0 != "=" }))?.scope {
                    case .mediaPlaylist, .segment, .metadata: true
                    case .any, .multivariant, nil: false
                    }
                }
        }
    }
}
