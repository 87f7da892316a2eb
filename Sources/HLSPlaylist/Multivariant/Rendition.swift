import MediaTiming
public import ResourceAddressing

/// An alternative rendition of the content: `EXT-X-MEDIA` (RFC 8216bis §4.4.6.1).
public struct Rendition: Sendable {
    /// The media type of a rendition.
    public enum MediaType: String, Sendable, Hashable, CaseIterable {
        /// Audio.
        case audio = "AUDIO"
        /// Video.
        case video = "VIDEO"
        /// Subtitles, in separate segments.
        case subtitles = "SUBTITLES"
        /// Closed captions, carried inside the video.
        case closedCaptions = "CLOSED-CAPTIONS"
    }

    private let source: PlaylistText
    private let tagStart: UInt32

    var context: PlaylistContext { source.context }

    init(_ source: PlaylistText, tagStart: UInt32) {
        self.source = source
        self.tagStart = tagStart
    }

    package var tagLine: Range<Int> { source.bytes.line(at: Int(tagStart))?.range ?? 0..<0 }

    /// The attributes as written.
    public var attributes: AttributeList { source.attributes(at: tagStart) }
    /// The media type, or `nil` for a type that the standard does not define.
    public var type: MediaType? { attributes["TYPE"].flatMap { MediaType(rawValue: $0) } }
    /// The identifier of the rendition's group.
    public var groupID: String { attributes["GROUP-ID"] ?? "" }
    /// The name of the rendition, for display.
    public var name: String { attributes["NAME"] ?? "" }
    /// The primary language of the rendition (RFC 5646).
    public var language: String? { attributes["LANGUAGE"] }
    /// The URI of the media playlist as written, with variables replaced, or `nil` if the variant contains the media.
    public var uri: String? { attributes["URI"] }
    /// The resolved URI, which is absolute if the URL of the multivariant playlist is known.
    public var address: ResourceAddress? { uri.map(source.context.resolve) }
    /// A Boolean value that indicates whether a player selects the rendition if the user expresses no preference.
    public var isDefault: Bool { attributes.isYes("DEFAULT") }
    /// A Boolean value that indicates whether a player may select the rendition because it matches the user's settings.
    ///
    /// The value is `true` for default renditions as well.
    public var isAutoselect: Bool { attributes.isYes("AUTOSELECT") || isDefault }
    /// A Boolean value that indicates whether the subtitles contain content that is essential to understand the media.
    public var isForced: Bool { attributes.isYes("FORCED") }
    /// The characteristics of the rendition, as uniform type identifiers.
    public var characteristics: [String] { attributes.list("CHARACTERISTICS") }
    /// A language associated with the rendition, for example the written form of its spoken language.
    public var associatedLanguage: String? { attributes["ASSOC-LANGUAGE"] }
    /// An identifier that stays the same when the playlist is reloaded.
    public var stableID: String? { attributes["STABLE-RENDITION-ID"] }
    /// The identifier of the closed captions in the video: `CC1` to `CC4` or `SERVICE1` to `SERVICE63`.
    public var instreamID: String? { attributes["INSTREAM-ID"] }
    /// The number of bits per audio sample.
    public var bitDepth: Int64? { attributes.integer("BIT-DEPTH") }
    /// The audio sample rate in hertz.
    public var sampleRate: Int64? { attributes.integer("SAMPLE-RATE") }
    /// The audio channels.
    public var channels: AudioChannels? { attributes["CHANNELS"].flatMap { AudioChannels($0) } }
}

/// A description of audio channels: `CHANNELS` (RFC 8216bis §4.4.6.1).
public struct AudioChannels: Sendable, Hashable {
    /// The maximum number of simultaneous audio channels.
    public let count: Int64
    /// The identifiers of spatial audio codings, such as `JOC`; a hyphen, which stands for an empty list, is omitted.
    public let spatialFormats: [String]
    /// The intended uses, such as `BINAURAL`, `IMMERSIVE` or `DOWNMIX`.
    public let usages: [String]

    /// Creates a description from text of the form `count[/formats[/usages]]`, with comma-separated lists.
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
