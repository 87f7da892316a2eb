import MediaTiming
import ResourceAddressing
import Synchronization

/// A multivariant playlist, which lists variants and renditions (RFC 8216bis §4.4.6), with all of its bytes.
public struct MultivariantPlaylist: Sendable {
    /// The bytes of the playlist.
    public let bytes: [UInt8]
    /// The origin of the playlist.
    public let context: PlaylistContext
    let index: PlaylistIndex
    let definedVariables: PlaylistVariables

    /// The variants in order; a variant tag without a URI line is omitted.
    public let variants: [Variant]
    /// The I-frame variants in order (§4.4.6.3).
    public let iFrameVariants: [Variant]
    /// The renditions in order (§4.4.6.1).
    public let renditions: [Rendition]
    /// The declared protocol version, or `nil` if there is none (§4.4.1.2).
    public let declaredVersion: Int?
    /// A Boolean value that indicates whether each segment can be decoded without other segments (§4.4.2.1).
    public let hasIndependentSegments: Bool
    /// The preferred point at which to start playback (§4.4.2.2).
    public let start: PlaylistStart?

    private let groups: RenditionGroups

    /// Creates a multivariant playlist by parsing it as leniently as a player; see
    /// ``Playlist/parse(_:context:limits:)``.
    ///
    /// - Throws: ``PlaylistParsingError`` if the bytes are not a playlist, are a media playlist, or exceed a limit.
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
            maximumGrowth: PlaylistVariables.maximumGrowth(
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

    /// The text of the playlist, with the variables and the base URL that its values depend on.
    var text: PlaylistText { PlaylistText(bytes: bytes, context: context, variables: definedVariables) }

    /// The variables and their values (§4.4.2.3).
    public var variables: [String: String] { definedVariables.values }
    /// Returns the renditions of one group, in order.
    ///
    /// - Complexity: O(*n*) in all renditions at the first call, then O(*m*) in those of the group.
    public func renditions(_ type: Rendition.MediaType, in groupID: String) -> [Rendition] {
        groups.members(type, groupID)
    }
    /// The session data for the application, in order (§4.4.6.4).
    public var sessionData: [SessionData] {
        attributeLists(.sessionData).compactMap {
            SessionData($0, context: context)
        }
    }
    /// The encryption keys that clients may preload (§4.4.6.5).
    public var sessionKeys: [EncryptionKey] {
        attributeLists(.sessionKey).compactMap {
            EncryptionKey($0, context: context)
        }
    }
    /// The URL of the steering manifest and the initial pathway, or `nil` without content steering (§4.4.6.6).
    public var contentSteering: ContentSteering? {
        attributeLists(.contentSteering).first.flatMap {
            ContentSteering($0, context: context)
        }
    }
    /// The tags that the standard does not define, with their positions.
    public var unknownTags: [UnknownTag] { UnknownTag.all(in: bytes, index) }

    /// The session keys with the ranges of their lines and of the values of their URIs.
    package var sessionKeyLines: [(key: EncryptionKey, line: Range<Int>, uri: Range<Int>?)] {
        index.tags.filter { $0.tag == .sessionKey }.compactMap { record in
            let line = bytes.tagLine(at: Int(record.lineStart))
            let attributes = AttributeList(bytes, in: line?.value, variables: definedVariables)
            return EncryptionKey(attributes, context: context).map {
                ($0, line?.line.range ?? 0..<0, attributes.attribute("URI")?.range)
            }
        }
    }

    private func attributeLists(_ tag: TagName) -> [AttributeList] {
        index.tags.filter { $0.tag == tag }.map { record in
            AttributeList(bytes, in: bytes.tagLine(at: Int(record.lineStart))?.value, variables: definedVariables)
        }
    }
}

/// The renditions of a playlist by group, grouped at the first access.
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

/// A reader that collects the tags of a multivariant playlist by kind.
private struct EntryReader {
    let bytes: [UInt8]
    var definitions: [AttributeList] = []
    var iFrameVariants: [UInt32] = []
    var renditions: [UInt32] = []
    var version: Int?
    var hasIndependentSegments = false
    var start: PlaylistStart?

    mutating func read(_ record: PlaylistIndex.TagRecord) {
        if record.tag == .iFrameVariant { iFrameVariants.append(record.lineStart) }
        if record.tag == .media { renditions.append(record.lineStart) }
        if record.tag == .independentSegments { hasIndependentSegments = true }
        let valuedTags: [TagName?] = [.define, .version, .start]
        guard valuedTags.contains(record.tag), let value = bytes.tagLine(at: Int(record.lineStart))?.value else {
            return
        }
        if record.tag == .define { definitions.append(AttributeList(bytes, in: value)) }
        if record.tag == .version { version = version ?? bytes.trimmedInteger(value).map { Int($0) } }
        if record.tag == .start { start = start ?? PlaylistStart(AttributeList(bytes, in: value)) }
    }
}

/// The text and variables of a multivariant playlist, shared by its variants and renditions.
final class PlaylistText: Sendable {
    let bytes: [UInt8]
    let context: PlaylistContext
    let variables: PlaylistVariables

    init(bytes: [UInt8], context: PlaylistContext, variables: PlaylistVariables) {
        self.bytes = bytes
        self.context = context
        self.variables = variables
    }

    /// Returns the attributes of the tag in the line that starts at an offset.
    func attributes(at lineStart: UInt32) -> AttributeList {
        AttributeList(bytes, in: bytes.tagLine(at: Int(lineStart))?.value, variables: variables)
    }
}
