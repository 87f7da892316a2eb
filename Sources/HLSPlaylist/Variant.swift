public import MediaTiming
public import ResourceAddressing

/// One quality of a presentation: `EXT-X-STREAM-INF` or `EXT-X-I-FRAME-STREAM-INF` (RFC 8216bis §4.4.6.2, §4.4.6.3).
public struct Variant: Sendable {
    /// All attributes as written.
    public let attributes: AttributeList
    /// The address of its media playlist as written, with variables replaced.
    public let uri: String
    /// Its address, absolute where that of the multivariant playlist is known.
    public let address: ResourceAddress
    /// The peak bit rate; `nil` where the required attribute is missing or no integer.
    public let bandwidth: BitRate?
    /// The average bit rate.
    public let averageBandwidth: BitRate?
    /// RFC 6381 names of all formats in the variant.
    public let codecs: [String]
    /// The size of the picture.
    public let resolution: Resolution?
    /// Frames a second.
    public let frameRate: MediaTime?

    /// Where its tag and its address stand; `uriLine` is `nil` for I-frame variants, whose tag holds the address.
    package let tagLine: Range<Int>
    package let uriLine: Range<Int>?
    package let uriRange: Range<Int>

    init(
        _ attributes: AttributeList,
        tagLine: Range<Int>,
        uriLine: Range<Int>?,
        uri: (String, Range<Int>),
        context: PlaylistContext,
        variables: PlaylistVariables
    ) {
        self.attributes = attributes
        self.uri = variables.substitute(uri.0)
        address = context.resolve(self.uri)
        bandwidth = attributes.integer("BANDWIDTH").map { BitRate(bitsPerSecond: $0) }
        averageBandwidth = attributes.integer("AVERAGE-BANDWIDTH").map { BitRate(bitsPerSecond: $0) }
        codecs = attributes.list("CODECS")
        resolution = attributes["RESOLUTION"].flatMap { Resolution($0) }
        frameRate = attributes.decimal("FRAME-RATE")
        self.tagLine = tagLine
        self.uriLine = uriLine
        uriRange = uri.1
    }

    /// Whether its playlist holds I-frames only: it stands in an `EXT-X-I-FRAME-STREAM-INF` tag.
    public var isIFrames: Bool { uriLine == nil }

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

    /// All attributes as written.
    public let attributes: AttributeList
    /// What it holds; `nil` for a type that the standard does not know.
    public let type: MediaType?
    /// The group it belongs to.
    public let groupID: String
    /// What people call it.
    public let name: String
    /// Its language (RFC 5646).
    public let language: String?
    /// The address of its media playlist as written, with variables replaced; `nil` where the variant carries it.
    public let uri: String?
    /// Its address, absolute where that of the multivariant playlist is known.
    public let address: ResourceAddress?

    /// Whether a player takes it when the user says nothing.
    public var isDefault: Bool { attributes.isYes("DEFAULT") }
    /// Whether a player may take it by itself where it fits the user's settings.
    public var isAutoselect: Bool { attributes.isYes("AUTOSELECT") || isDefault }
    /// Whether it must be shown to follow the film.
    public var isForced: Bool { attributes.isYes("FORCED") }
    /// What is special about it, as uniform type identifiers.
    public var characteristics: [String] { attributes.list("CHARACTERISTICS") }

    package let tagLine: Range<Int>

    init(_ attributes: AttributeList, tagLine: Range<Int>, context: PlaylistContext, variables: PlaylistVariables) {
        self.attributes = attributes
        type = attributes["TYPE"].flatMap { MediaType(rawValue: $0) }
        groupID = attributes["GROUP-ID"] ?? ""
        name = variables.substitute(attributes["NAME"] ?? "")
        language = attributes["LANGUAGE"]
        uri = attributes["URI"].map(variables.substitute)
        address = uri.map(context.resolve)
        self.tagLine = tagLine
    }
}
