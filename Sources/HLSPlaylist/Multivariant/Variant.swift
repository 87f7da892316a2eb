public import MediaTiming
public import ResourceAddressing

/// One quality of a presentation: `EXT-X-STREAM-INF` or `EXT-X-I-FRAME-STREAM-INF` (RFC 8216bis §4.4.6.2, §4.4.6.3).
public struct Variant: Sendable {
    private let source: PlaylistText
    private let tagStart: UInt32
    private let uriStart: UInt32?

    /// Makes the variant whose tag and address begin at these places; one for I-frames has its address in its tag.
    init(_ source: PlaylistText, tagStart: UInt32, uriStart: UInt32?) {
        self.source = source
        self.tagStart = tagStart
        self.uriStart = uriStart
    }

    /// Where its tag and its address stand; `uriLine` is `nil` for I-frame variants, whose tag holds the address.
    package var tagLine: Range<Int> { source.bytes.line(at: Int(tagStart))?.range ?? 0..<0 }
    package var uriLine: Range<Int>? { uriStart.flatMap { source.bytes.line(at: Int($0))?.range } }
    package var uriRange: Range<Int> {
        let bytes = source.bytes
        guard let uriStart else { return attributes.written("URI")?.value ?? 0..<0 }
        return bytes.line(at: Int(uriStart))?.trimmed(in: bytes.span) ?? 0..<0
    }

    /// All attributes as written.
    public var attributes: AttributeList { source.attributes(at: tagStart) }
    /// The address of its media playlist as written, with variables replaced.
    public var uri: String { source.variables.substitute(source.bytes.text(uriRange)) }
    /// Its address, absolute where that of the multivariant playlist is known.
    public var address: ResourceAddress { source.context.resolve(uri) }
    /// The peak bit rate; `nil` where the required attribute is missing or no integer.
    public var bandwidth: BitRate? { attributes.integer("BANDWIDTH").map { BitRate(bitsPerSecond: $0) } }
    /// The average bit rate.
    public var averageBandwidth: BitRate? {
        attributes.integer("AVERAGE-BANDWIDTH").map { BitRate(bitsPerSecond: $0) }
    }
    /// RFC 6381 names of all formats in the variant.
    public var codecs: [String] { attributes.list("CODECS") }
    /// The size of the picture.
    public var resolution: Resolution? { attributes.resolution("RESOLUTION") }
    /// Frames a second, at most.
    public var frameRate: MediaTime? { attributes.decimal("FRAME-RATE") }
    /// How much better than other variants it is; only variants of one playlist compare.
    public var score: Double? {
        attributes["SCORE"].flatMap { Double($0) }.flatMap { $0 >= 0 && $0.isFinite ? $0 : nil }
    }
    /// Formats that enhance those of ``codecs`` for players that know them.
    public var supplementalCodecs: [SupplementalCodec] {
        attributes.list("SUPPLEMENTAL-CODECS").map { SupplementalCodec($0) }
    }
    /// Which outputs its content may be shown on.
    public var hdcpLevel: HDCPLevel? { attributes["HDCP-LEVEL"].map { HDCPLevel(rawValue: $0) } }
    /// How the content protection of its keys may be configured; a player plays it where one configuration is its own.
    public var allowedContentProtection: [ContentProtectionConfiguration] {
        attributes.list("ALLOWED-CPC").compactMap { ContentProtectionConfiguration($0) }
    }
    /// The transfer characteristics of its picture; `nil` where the playlist does not say, which counts as SDR.
    public var videoRange: VideoRange? { attributes["VIDEO-RANGE"].map { VideoRange(rawValue: $0) } }
    /// The arrangements of the picture that a player has to know, such as `CH-STEREO`; each may have parts behind slashes.
    public var requiredVideoLayouts: [String] { attributes.list("REQ-VIDEO-LAYOUT") }
    /// What names it from one load of the playlist to the next.
    public var stableID: String? { attributes["STABLE-VARIANT-ID"] }
    /// The pathway it belongs to; `.` where the playlist does not say (§7.1).
    public var pathwayID: String { attributes["PATHWAY-ID"] ?? "." }
    /// What people call it: an attribute that the standard does not know and many playlists have.
    public var name: String? { attributes["NAME"] }

    /// Whether its playlist holds I-frames only: it stands in an `EXT-X-I-FRAME-STREAM-INF` tag.
    public var isIFrames: Bool { uriStart == nil }

    /// The group of renditions of a type that this variant plays with; `nil` where it names none.
    ///
    /// `CLOSED-CAPTIONS=NONE` names none.
    public func groupID(_ type: Rendition.MediaType) -> String? {
        guard let attribute = attributes.attribute(type.rawValue) else { return nil }
        return type == .closedCaptions && !attribute.isQuoted && attribute.value == "NONE" ? nil : attribute.value
    }
}

/// A format that enhances another for players that know it: an entry of `SUPPLEMENTAL-CODECS` (RFC 8216bis §4.4.6.2).
public struct SupplementalCodec: Sendable, Hashable {
    /// Its RFC 6381 name.
    public let codec: String
    /// The compatibility brands that a player has to know as well.
    public let brands: [String]

    init(_ text: String) {
        let parts = text.split(separator: "/").map(String.init)
        codec = parts.first ?? ""
        brands = Array(parts.dropFirst())
    }
}

/// A configuration of content protection: an entry of `ALLOWED-CPC` (RFC 8216bis §4.4.6.2).
public struct ContentProtectionConfiguration: Sendable, Hashable {
    /// The key format that it is about.
    public let keyFormat: String
    /// The labels of configurations, each of which will do.
    public let labels: [String]

    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        keyFormat = String(text[..<colon])
        labels = text[text.index(after: colon)...].split(separator: "/").map(String.init)
    }
}

/// Which outputs content may be shown on: `HDCP-LEVEL` (RFC 8216bis §4.4.6.2); the standard may add some.
public struct HDCPLevel: RawRepresentable, Sendable, Hashable {
    /// The value as written.
    public let rawValue: String

    /// Makes a level of its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Any output.
    public static let none = HDCPLevel(rawValue: "NONE")
    /// Outputs protected by HDCP of type 0 or better.
    public static let type0 = HDCPLevel(rawValue: "TYPE-0")
    /// Outputs protected by HDCP of type 1 or better.
    public static let type1 = HDCPLevel(rawValue: "TYPE-1")
}

/// Transfer characteristics: `VIDEO-RANGE` (RFC 8216bis §4.4.6.2); the standard may add some.
public struct VideoRange: RawRepresentable, Sendable, Hashable {
    /// The value as written.
    public let rawValue: String

    /// Makes a range of its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Standard dynamic range.
    public static let sdr = VideoRange(rawValue: "SDR")
    /// Hybrid log-gamma.
    public static let hlg = VideoRange(rawValue: "HLG")
    /// Perceptual quantizer.
    public static let pq = VideoRange(rawValue: "PQ")
}
