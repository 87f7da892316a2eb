import MediaTiming
import ResourceAddressing

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
        func tagLine(_ offset: UInt32) -> TagLine? {
            var scanner = LineScanner(Int(offset)..<bytes.count)
            return scanner.next(in: bytes.span).flatMap { TagLine($0, in: bytes) }
        }
        let tags = index.tags.compactMap { record -> (tag: TagName, attributes: AttributeList, line: TagLine)? in
            guard let tag = record.tag, tag != .header, tag != .variant, let line = tagLine(record.lineStart) else {
                return nil
            }
            return (tag, AttributeList(bytes, in: line.value), line)
        }
        let variables = PlaylistVariables(tags.filter { $0.tag == .define }.map(\.attributes), context: context)
        definedVariables = variables
        variants = index.variants.compactMap { record in
            guard let line = tagLine(record.tagStart), let uriStart = record.uriStart else { return nil }
            var scanner = LineScanner(Int(uriStart)..<bytes.count)
            guard let uriLine = scanner.next(in: bytes.span) else { return nil }
            return Variant(
                AttributeList(bytes, in: line.value),
                tagLine: line.line.range,
                uriLine: uriLine.range,
                uri: (bytes.text(uriLine.trimmed(in: bytes.span)), uriLine.trimmed(in: bytes.span)),
                context: context,
                variables: variables
            )
        }
        iFrameVariants = tags.filter { $0.tag == .iFrameVariant }.compactMap { tag in
            guard let uri = tag.attributes.attribute("URI") else { return nil }
            return Variant(
                tag.attributes,
                tagLine: tag.line.line.range,
                uriLine: nil,
                uri: (uri.value, uri.range),
                context: context,
                variables: variables
            )
        }
        renditions = tags.filter { $0.tag == .media }.map {
            Rendition($0.attributes, tagLine: $0.line.line.range, context: context, variables: variables)
        }
        declaredVersion = tags.first { $0.tag == .version }.flatMap { tag in
            tag.line.value.flatMap { Int(Substring(bytes.text($0)).trimmingBlanks()) }
        }
        hasIndependentSegments = tags.contains { $0.tag == .independentSegments }
        start = tags.first { $0.tag == .start }.flatMap { PlaylistStart($0.attributes) }
    }

    /// Its variables with their values (§4.4.2.3).
    public var variables: [String: String] { definedVariables.values }
    /// The renditions of one group, in their order.
    public func renditions(_ type: Rendition.MediaType, in groupID: String) -> [Rendition] {
        renditions.filter { $0.type == type && $0.groupID == groupID }
    }
    /// The attribute lists of `EXT-X-SESSION-DATA`, in their order (§4.4.6.4).
    public var sessionData: [AttributeList] { attributeLists(.sessionData) }
    /// Keys that a client may load early (§4.4.6.5).
    public var sessionKeys: [EncryptionKey] {
        attributeLists(.sessionKey).compactMap {
            EncryptionKey($0, context: context, variables: definedVariables)
        }
    }
    /// Where the steering manifest is and on which pathway to begin (§4.4.6.6).
    public var contentSteering: AttributeList? { attributeLists(.contentSteering).first }
    /// The tags that the standard does not know, in their places.
    public var unknownTags: [UnknownTag] { UnknownTag.all(in: bytes, index) }

    private func attributeLists(_ tag: TagName) -> [AttributeList] {
        index.tags.filter { $0.tag == tag }.map { record in
            var scanner = LineScanner(Int(record.lineStart)..<bytes.count)
            let line = scanner.next(in: bytes.span).flatMap { TagLine($0, in: bytes) }
            return AttributeList(bytes, in: line?.value)
        }
    }
}

extension UnknownTag {
    static func all(in bytes: [UInt8], _ index: PlaylistIndex) -> [UnknownTag] {
        var result: [UnknownTag] = []
        var lineNumber = 1
        var counted = 0
        for record in index.tags where record.tag == nil {
            let offset = Int(record.lineStart)
            lineNumber += bytes[counted..<offset].count { $0 == UInt8(ascii: "\n") }
            counted = offset
            var scanner = LineScanner(offset..<bytes.count)
            guard let line = scanner.next(in: bytes.span), let tag = TagLine(line, in: bytes) else { continue }
            result.append(
                UnknownTag(
                    name: bytes.text(tag.name),
                    value: tag.value.map { bytes.text($0) },
                    attributes: AttributeList(bytes, in: tag.value),
                    line: lineNumber
                )
            )
        }
        return result
    }
}
