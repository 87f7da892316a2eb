import MediaTiming
import ResourceAddressing
import Synchronization

/// A list of variants and renditions (RFC 8216bis §4.4.6), every byte of it kept.
public struct MultivariantPlaylist: Sendable {
    /// The bytes of the playlist.
    public let bytes: [UInt8]
    /// Where it came from.
    public let context: PlaylistContext
    let index: PlaylistIndex
    let definedVariables: PlaylistVariables

    /// Its variants in their order, those with an address only.
    public let variants: [Variant]
    /// Its I-frame variants in their order (§4.4.6.3).
    public let iFrameVariants: [Variant]
    /// Its renditions in their order (§4.4.6.1).
    public let renditions: [Rendition]
    /// The protocol version it declares, `nil` where it declares none (§4.4.1.2).
    public let declaredVersion: Int?
    /// Whether every segment can be decoded by itself (§4.4.2.1).
    public let hasIndependentSegments: Bool
    /// Where to begin (§4.4.2.2).
    public let start: PlaylistStart?

    private let groups: RenditionGroups

    /// Parses a multivariant playlist as a lenient player would; see ``Playlist/parse(_:context:limits:)``.
    ///
    /// - Throws: ``PlaylistParsingError`` where nothing can be made of the bytes or they are a media playlist.
    public init(
        parsing bytes: [UInt8],
        context: PlaylistContext = PlaylistContext(),
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistParsingError) {
        guard case .multivariant(let playlist) = try Playlist.parse(bytes, context: context, limits: limits) else {
            throw .unexpectedKind(found: .media)
        }
        self = playlist
    }

    init(bytes: [UInt8], index: PlaylistIndex, context: PlaylistContext) {
        self.bytes = bytes
        self.index = index
        self.context = context
        var reader = EntryReader(bytes: bytes)
        for record in index.tags { reader.read(record) }
        definedVariables = PlaylistVariables(
            reader.definitions,
            context: context,
            mostGrowth: PlaylistVariables.mostGrowth(
                byteCount: bytes.count,
                entryCount: index.tags.count + index.variants.count
            )
        )
        let source = PlaylistText(bytes: bytes, context: context, variables: definedVariables)
        variants = index.variants.compactMap { record in
            record.uriStart.map { Variant(source, tagStart: record.tagStart, uriStart: $0) }
        }
        iFrameVariants = reader.iFrameVariants.filter { source.attributes(at: $0)["URI"] != nil }.map {
            Variant(source, tagStart: $0, uriStart: nil)
        }
        renditions = reader.renditions.map { Rendition(source, tagStart: $0) }
        groups = RenditionGroups(renditions)
        declaredVersion = reader.version
        hasIndependentSegments = reader.hasIndependentSegments
        start = reader.start
    }

    /// Its variables with their values (§4.4.2.3).
    public var variables: [String: String] { definedVariables.values }
    /// The renditions of one group, in their order.
    ///
    /// - Complexity: O(*n*) in all renditions at the first call, then O(*m*) in those of the group.
    public func renditions(_ type: Rendition.MediaType, in groupID: String) -> [Rendition] {
        groups.members(type, groupID)
    }
    /// The values for the application, in their order (§4.4.6.4).
    public var sessionData: [SessionData] {
        attributeLists(.sessionData).compactMap {
            SessionData($0, context: context)
        }
    }
    /// Keys that a client may load early (§4.4.6.5).
    public var sessionKeys: [EncryptionKey] {
        attributeLists(.sessionKey).compactMap {
            EncryptionKey($0, context: context)
        }
    }
    /// Where the steering manifest is and on which pathway to begin (§4.4.6.6).
    public var contentSteering: ContentSteering? {
        attributeLists(.contentSteering).first.flatMap {
            ContentSteering($0, context: context)
        }
    }
    /// The tags that the standard does not know, in their places.
    public var unknownTags: [UnknownTag] { UnknownTag.all(in: bytes, index) }

    private func attributeLists(_ tag: TagName) -> [AttributeList] {
        index.tags.filter { $0.tag == tag }.map { record in
            AttributeList(bytes, in: bytes.tagLine(at: Int(record.lineStart))?.value, variables: definedVariables)
        }
    }
}

/// The renditions of a playlist by group, sorted when the first group is asked for.
private final class RenditionGroups: Sendable {
    private struct Key: Hashable {
        let type: Rendition.MediaType
        let id: String
    }

    private let renditions: [Rendition]
    private let byGroup = Mutex<[Key: [Rendition]]?>(nil)

    init(_ renditions: [Rendition]) { self.renditions = renditions }

    func members(_ type: Rendition.MediaType, _ id: String) -> [Rendition] {
        byGroup.withLock { known in
            if let known { return known[Key(type: type, id: id)] ?? [] }
            var groups: [Key: [Rendition]] = [:]
            for rendition in renditions {
                guard let type = rendition.type else { continue }
                groups[Key(type: type, id: rendition.groupID), default: []].append(rendition)
            }
            known = groups
            return groups[Key(type: type, id: id)] ?? []
        }
    }
}

/// Sorts the tags of a multivariant playlist by what they are for.
private struct EntryReader {
    let bytes: [UInt8]
    var definitions: [AttributeList] = []
    var iFrameVariants: [UInt32] = []
    var renditions: [UInt32] = []
    var version: Int?
    var hasIndependentSegments = false
    var start: PlaylistStart?

    mutating func read(_ record: PlaylistIndex.TagRecord) {
        switch record.tag {
        case .iFrameVariant: iFrameVariants.append(record.lineStart)
        case .media: renditions.append(record.lineStart)
        case .independentSegments: hasIndependentSegments = true
        case .define, .version, .start:
            guard let value = bytes.tagLine(at: Int(record.lineStart))?.value else { return }
            switch record.tag {
            case .define: definitions.append(AttributeList(bytes, in: value))
            case .version: version = version ?? bytes.trimmedInteger(value).map { Int($0) }
            default: start = start ?? PlaylistStart(AttributeList(bytes, in: value))
            }
        default: break
        }
    }
}

/// What the entries of a multivariant playlist read their lines from.
final class PlaylistText: Sendable {
    let bytes: [UInt8]
    let context: PlaylistContext
    let variables: PlaylistVariables

    init(bytes: [UInt8], context: PlaylistContext, variables: PlaylistVariables) {
        self.bytes = bytes
        self.context = context
        self.variables = variables
    }

    /// The attributes of the tag in the line that starts at an offset.
    func attributes(at lineStart: UInt32) -> AttributeList {
        AttributeList(bytes, in: bytes.tagLine(at: Int(lineStart))?.value, variables: variables)
    }
}
