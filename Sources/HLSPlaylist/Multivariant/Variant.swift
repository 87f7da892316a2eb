public import MediaTiming
public import ResourceAddressing

/// A variant stream: `EXT-X-STREAM-INF` or `EXT-X-I-FRAME-STREAM-INF` (RFC 8216bis §4.4.6.2, §4.4.6.3).
public struct Variant: Sendable {
    private let source: PlaylistText
    private let tagStart: UInt32
    private let uriStart: UInt32?

    /// Creates a variant from the offsets of its tag and its URI line; `uriStart` is `nil` for I-frame variants.
    var context: PlaylistContext { source.context }

    init(_ source: PlaylistText, tagStart: UInt32, uriStart: UInt32?) {
        self.source = source
        self.tagStart = tagStart
        self.uriStart = uriStart
    }

    /// The range of the line with the tag.
    package var tagLine: Range<Int> { source.bytes.line(at: Int(tagStart))?.range ?? 0..<0 }
    package var uriLine: Range<Int>? { uriStart.flatMap { source.bytes.line(at: Int($0))?.range } }
    package var uriRange: Range<Int> {
        let bytes = source.bytes
        guard let uriStart else { return attributes.written("URI")?.value ?? 0..<0 }
        return bytes.line(at: Int(uriStart))?.trimmed(in: bytes.span) ?? 0..<0
    }

    /// The attributes as written.
    public var attributes: AttributeList { source.attributes(at: tagStart) }
    /// The URI of the media playlist as written, with variables replaced.
    public var uri: String { source.variables.substitute(source.bytes.text(uriRange)) }
    /// The resolved URI, which is absolute if the URL of the multivariant playlist is known.
    public var address: ResourceAddress { source.context.resolve(uri) }
    /// The peak bit rate, or `nil` if the required attribute is missing or invalid.
    public var bandwidth: BitRate? { attributes.integer("BANDWIDTH").map { BitRate(bitsPerSecond: $0) } }
    /// The average bit rate.
    public var averageBandwidth: BitRate? {
        attributes.integer("AVERAGE-BANDWIDTH").map { BitRate(bitsPerSecond: $0) }
    }
    /// The codecs of all media in the variant, as RFC 6381 identifiers.
    public var codecs: [String] { attributes.list("CODECS") }
    /// The resolution of the video.
    public var resolution: Resolution? { attributes.resolution("RESOLUTION") }
    /// The maximum frame rate, in frames per second.
    public var frameRate: MediaTime? { attributes.decimal("FRAME-RATE") }
    /// The quality of the variant relative to the others of the same playlist; higher is better.
    ///
    /// The value is `nil` if the attribute is missing, negative or not finite.
    public var score: Double? {
        attributes["SCORE"].flatMap { Double($0) }.flatMap { $0 >= 0 && $0.isFinite ? $0 : nil }
    }
    /// The codecs that enhance those in ``codecs`` on players that support them.
    public var supplementalCodecs: [SupplementalCodec] {
        attributes.list("SUPPLEMENTAL-CODECS").map { SupplementalCodec($0) }
    }
    /// The level of output protection that the content requires.
    public var hdcpLevel: HDCPLevel? { attributes["HDCP-LEVEL"].map { HDCPLevel(rawValue: $0) } }
    /// The content protection configurations that may decrypt the variant; a player needs one of them for each key
    /// format.
    public var allowedContentProtection: [ContentProtectionConfiguration] {
        attributes.list("ALLOWED-CPC").compactMap { ContentProtectionConfiguration($0) }
    }
    /// The dynamic range of the video, or `nil` if it is not declared, which means SDR.
    public var videoRange: VideoRange? { attributes["VIDEO-RANGE"].map { VideoRange(rawValue: $0) } }
    /// The video layouts that a player must support, such as `CH-STEREO`; each may have several parts, separated by
    /// slashes.
    public var requiredVideoLayouts: [String] { attributes.list("REQ-VIDEO-LAYOUT") }
    /// An identifier that stays the same when the playlist is reloaded.
    public var stableID: String? { attributes["STABLE-VARIANT-ID"] }
    /// The pathway of the variant; `.` by default (§7.1).
    public var pathwayID: String { attributes["PATHWAY-ID"] ?? "." }
    /// The name of the variant, from an attribute that many playlists have but the standard does not define.
    public var name: String? { attributes["NAME"] }

    /// A Boolean value that indicates whether the variant contains I-frames only, as an `EXT-X-I-FRAME-STREAM-INF` tag
    /// declares.
    public var isIFramesOnly: Bool { uriStart == nil }

    /// Returns the identifier of the rendition group of a media type that belongs to this variant, or `nil` if it has
    /// none.
    ///
    /// The value `CLOSED-CAPTIONS=NONE` names no group.
    public func groupID(_ type: Rendition.MediaType) -> String? {
        guard let attribute = attributes.attribute(type.rawValue) else { return nil }
        if type == .closedCaptions, !attribute.isQuoted, attribute.value == "NONE" { return nil }
        return attributes[type.rawValue]
    }
}

/// A codec that enhances another one: an entry of `SUPPLEMENTAL-CODECS` (RFC 8216bis §4.4.6.2).
public struct SupplementalCodec: Sendable, Hashable {
    /// The RFC 6381 identifier of the codec.
    public let codec: String
    /// The compatibility brands that a player must support as well.
    public let brands: [String]

    init(_ text: String) {
        let parts = text.split(separator: "/").map(String.init)
        codec = parts.first ?? ""
        brands = Array(parts.dropFirst())
    }
}

/// The content protection configurations for a key format: an entry of `ALLOWED-CPC` (RFC 8216bis §4.4.6.2).
public struct ContentProtectionConfiguration: Sendable, Hashable {
    /// The key format to which the configurations apply.
    public let keyFormat: String
    /// The labels of the configurations, any of which is sufficient.
    public let labels: [String]

    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        keyFormat = String(text[..<colon])
        labels = text[text.index(after: colon)...].split(separator: "/").map(String.init)
    }
}

/// A level of output protection: `HDCP-LEVEL` (RFC 8216bis §4.4.6.2); the set is open.
public struct HDCPLevel: RawRepresentable, Sendable, Hashable {
    /// The value of the attribute.
    public let rawValue: String

    /// Creates a level from the value of the attribute.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Any output is allowed.
    public static let none = HDCPLevel(rawValue: "NONE")
    /// The output must be protected by HDCP of type 0 or higher.
    public static let type0 = HDCPLevel(rawValue: "TYPE-0")
    /// The output must be protected by HDCP of type 1 or higher.
    public static let type1 = HDCPLevel(rawValue: "TYPE-1")
}

/// A dynamic range of video, given by its transfer characteristics: `VIDEO-RANGE` (RFC 8216bis §4.4.6.2); the set is
/// open.
public struct VideoRange: RawRepresentable, Sendable, Hashable {
    /// The value of the attribute.
    public let rawValue: String

    /// Creates a dynamic range from the value of the attribute.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Standard dynamic range.
    public static let sdr = VideoRange(rawValue: "SDR")
    /// High dynamic range with hybrid log-gamma (HLG).
    public static let hlg = VideoRange(rawValue: "HLG")
    /// High dynamic range with the perceptual quantizer (PQ).
    public static let pq = VideoRange(rawValue: "PQ")
}
