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
    /// The name of the track for the user interface; `nil` if unspecified.
    package var name: String?
    /// The language as a BCP 47 tag such as `de` or `zh-Hant`, or as a three-letter code; `nil` if unspecified.
    package var language: String?
    /// The width of the video, in pixels.
    package var width: Int?
    /// The height of the video, in pixels.
    package var height: Int?
    /// The orientation in which the video is shown; ``width`` and ``height`` are those before it is applied.
    package var orientation: VideoOrientation
    /// The number of audio channels.
    package var channelCount: Int?
    /// The audio sample rate, in hertz.
    package var sampleRate: Int?
    /// The encryption scheme of the samples, such as `cenc`, `cbcs` or `sample-aes`; `nil` if they are not encrypted.
    package var encryptionScheme: String?

    /// The width of the video as it is shown, in pixels.
    package var presentationWidth: Int? { orientation.isTransposed ? height : width }
    /// The height of the video as it is shown, in pixels.
    package var presentationHeight: Int? { orientation.isTransposed ? width : height }

    /// Creates a track with the given properties.
    package init(
        id: UInt32,
        mediaType: MediaType,
        codec: String? = nil,
        name: String? = nil,
        language: String? = nil,
        width: Int? = nil,
        height: Int? = nil,
        orientation: VideoOrientation = .upright,
        channelCount: Int? = nil,
        sampleRate: Int? = nil,
        encryptionScheme: String? = nil
    ) {
        self.id = id
        self.mediaType = mediaType
        self.codec = codec
        self.name = name
        self.language = language
        self.width = width
        self.height = height
        self.orientation = orientation
        self.channelCount = channelCount
        self.sampleRate = sampleRate
        self.encryptionScheme = encryptionScheme
    }
}
