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
    public var resolution: Resolution? { attributes["RESOLUTION"].flatMap { Resolution($0) } }
    /// Frames a second.
    public var frameRate: MediaTime? { attributes.decimal("FRAME-RATE") }

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

/// Width and height of a picture in pixels (RFC 8216bis §4.2, decimal-resolution).
public struct Resolution: Sendable, Hashable {
    /// Pixels across.
    public let width: Int
    /// Pixels down.
    public let height: Int

    /// Makes a resolution.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Reads `1280x720`.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "x" || $0 == "X" }
        guard parts.count == 2, let width = UInt32(parts[0]), let height = UInt32(parts[1]) else { return nil }
        self.init(width: Int(width), height: Int(height))
    }
}

extension Resolution: CustomStringConvertible {
    /// The value as text, for people.
    public var description: String { "\(width)x\(height)" }
}

/// One alternative track: `EXT-X-MEDIA` (RFC 8216bis §4.4.6.1).
public struct Rendition: Sendable {
    /// What a rendition holds.
    public enum MediaType: String, Sendable, Hashable, CaseIterable {
        /// Sound.
        case audio = "AUDIO"
        /// Pictures.
        case video = "VIDEO"
        /// Text, in its own segments.
        case subtitles = "SUBTITLES"
        /// Text, inside the video.
        case closedCaptions = "CLOSED-CAPTIONS"
    }

    private let source: PlaylistText
    private let tagStart: UInt32

    init(_ source: PlaylistText, tagStart: UInt32) {
        self.source = source
        self.tagStart = tagStart
    }

    package var tagLine: Range<Int> { source.bytes.line(at: Int(tagStart))?.range ?? 0..<0 }

    /// All attributes as written.
    public var attributes: AttributeList { source.attributes(at: tagStart) }
    /// What it holds; `nil` for a type that the standard does not know.
    public var type: MediaType? { attributes["TYPE"].flatMap { MediaType(rawValue: $0) } }
    /// The group it belongs to.
    public var groupID: String { attributes["GROUP-ID"] ?? "" }
    /// What people call it.
    public var name: String { source.variables.substitute(attributes["NAME"] ?? "") }
    /// Its language (RFC 5646).
    public var language: String? { attributes["LANGUAGE"] }
    /// The address of its media playlist as written, with variables replaced; `nil` where the variant carries it.
    public var uri: String? { attributes["URI"].map(source.variables.substitute) }
    /// Its address, absolute where that of the multivariant playlist is known.
    public var address: ResourceAddress? { uri.map(source.context.resolve) }
    /// Whether a player takes it when the user says nothing.
    public var isDefault: Bool { attributes.isYes("DEFAULT") }
    /// Whether a player may take it by itself where it fits the user's settings.
    public var isAutoselect: Bool { attributes.isYes("AUTOSELECT") || isDefault }
    /// Whether it must be shown to follow the film.
    public var isForced: Bool { attributes.isYes("FORCED") }
    /// What is special about it, as uniform type identifiers.
    public var characteristics: [String] { attributes.list("CHARACTERISTICS") }
}
