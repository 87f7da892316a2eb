/// What a track is, whatever container it lies in.
public struct MediaTrack: Sendable, Hashable {
    /// What a track holds.
    public enum Kind: String, Sendable, Hashable {
        /// Pictures.
        case video
        /// Sound.
        case audio
        /// Subtitles and captions.
        case text
        /// Timed metadata and events.
        case metadata
        /// Anything else.
        case other
    }

    /// The track's identifier in an ISO base media file, the packet identifier in a transport stream, else 0.
    public var id: UInt32
    /// What it holds.
    public var kind: Kind
    /// The codec as RFC 6381 spells it, or its name alone where no more is known; `nil` where nothing is.
    public var codec: String?
    /// The language as a tag, such as `de` or `zh-Hant`, or as three letters; `nil` where it is not said.
    public var language: String?
    /// The width of the pictures, in pixels.
    public var width: Int?
    /// The height of the pictures, in pixels.
    public var height: Int?
    /// How many channels sound has.
    public var channelCount: Int?
    /// Samples a second of sound.
    public var sampleRate: Int?
    /// How the samples are encrypted, such as `cenc`, `cbcs` or `sample-aes`; `nil` where they are not.
    public var encryptionScheme: String?

    /// Makes a description of a track.
    public init(
        id: UInt32,
        kind: Kind,
        codec: String? = nil,
        language: String? = nil,
        width: Int? = nil,
        height: Int? = nil,
        channelCount: Int? = nil,
        sampleRate: Int? = nil,
        encryptionScheme: String? = nil
    ) {
        self.id = id
        self.kind = kind
        self.codec = codec
        self.language = language
        self.width = width
        self.height = height
        self.channelCount = channelCount
        self.sampleRate = sampleRate
        self.encryptionScheme = encryptionScheme
    }
}
