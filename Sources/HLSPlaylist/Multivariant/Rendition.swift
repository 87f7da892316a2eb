import MediaTiming
public import ResourceAddressing

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
    public var name: String { attributes["NAME"] ?? "" }
    /// Its language (RFC 5646).
    public var language: String? { attributes["LANGUAGE"] }
    /// The address of its media playlist as written, with variables replaced; `nil` where the variant carries it.
    public var uri: String? { attributes["URI"] }
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
    /// A language that goes with it: the one that is written where the other is spoken, say.
    public var associatedLanguage: String? { attributes["ASSOC-LANGUAGE"] }
    /// What names it from one load of the playlist to the next.
    public var stableID: String? { attributes["STABLE-RENDITION-ID"] }
    /// Which captions inside the video it is: `CC1` to `CC4` or `SERVICE1` to `SERVICE63`.
    public var instreamID: String? { attributes["INSTREAM-ID"] }
    /// Bits in a sample of sound.
    public var bitDepth: Int64? { attributes.integer("BIT-DEPTH") }
    /// Samples of sound a second.
    public var sampleRate: Int64? { attributes.integer("SAMPLE-RATE") }
    /// The channels of sound.
    public var channels: AudioChannels? { attributes["CHANNELS"].flatMap { AudioChannels($0) } }
}

/// The channels of sound: `CHANNELS` (RFC 8216bis §4.4.6.1).
public struct AudioChannels: Sendable, Hashable {
    /// How many there are, at most, at any time.
    public let count: Int64
    /// Ways of coding that more than channels describe, such as `JOC`; a hyphen in their place counts as none.
    public let spatialFormats: [String]
    /// What listeners they are for: `BINAURAL`, `IMMERSIVE`, `DOWNMIX`.
    public let usages: [String]

    /// Reads `count[/formats[/usages]]`, lists with commas between.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, let count = UInt32(first) else { return nil }
        func list(_ position: Int) -> [String] {
            guard parts.indices.contains(position) else { return [] }
            return parts[position].split(separator: ",").map { String($0.trimmingBlanks()) }.filter { $0 != "-" }
        }
        self.count = Int64(count)
        spatialFormats = list(1)
        usages = list(2)
    }
}
