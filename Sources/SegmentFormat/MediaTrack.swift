/// The properties of a track, independent of its container.
package struct MediaTrack: Sendable, Hashable {
    /// The media type of a track.
    package enum MediaType: String, Sendable, Hashable {
        /// Video.
        case video
        /// Audio.
        case audio
        /// Subtitles and closed captions.
        case subtitles = "text"
        /// Timed metadata and events.
        case metadata
        /// Any other media type.
        case other
    }

    /// The track ID in an ISO base media file, the packet identifier (PID) in a transport stream, otherwise 0.
    package var id: UInt32
    /// The media type of the track.
    package var mediaType: MediaType
    /// The codec string according to RFC 6381, or only the codec name if its parameters are unknown; `nil` if unknown.
    package var codec: String?
    /// The language as a BCP 47 tag such as `de` or `zh-Hant`, or as a three-letter code; `nil` if unspecified.
    package var language: String?
    /// The width of the video, in pixels.
    package var width: Int?
    /// The height of the video, in pixels.
    package var height: Int?
    /// The number of audio channels.
    package var channelCount: Int?
    /// The audio sample rate, in hertz.
    package var sampleRate: Int?
    /// The encryption scheme of the samples, such as `cenc`, `cbcs` or `sample-aes`; `nil` if they are not encrypted.
    package var encryptionScheme: String?

    /// Creates a track with the given properties.
    package init(
        id: UInt32,
        mediaType: MediaType,
        codec: String? = nil,
        language: String? = nil,
        width: Int? = nil,
        height: Int? = nil,
        channelCount: Int? = nil,
        sampleRate: Int? = nil,
        encryptionScheme: String? = nil
    ) {
        self.id = id
        self.mediaType = mediaType
        self.codec = codec
        self.language = language
        self.width = width
        self.height = height
        self.channelCount = channelCount
        self.sampleRate = sampleRate
        self.encryptionScheme = encryptionScheme
    }
}
