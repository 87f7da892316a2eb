import HLSPlaylist
import MediaTiming
public import PlaybackReporting
import StreamingEngine

/// The result of the inspection of an asset.
struct AssetInspection: Sendable {
    /// The variants and the media selection groups.
    var presentation: Presentation
    /// The duration; `nil` for a live stream.
    var duration: MediaTime?
    /// The playback type: on demand, live or file.
    var playbackType: PlaybackType
    /// The tracks, as far as they are known before anything is decoded.
    var tracks: [AssetTrack] = []
    /// The reason why no variant can be played; `nil` if at least one can.
    var error: StreamingError?
}

/// A track of an asset, as described by playlists or by the header of a file.
public struct AssetTrack: Sendable, Hashable {
    /// The type of media in the track.
    public var mediaType: MediaType
    /// The codec in the form of RFC 6381; `nil` if it is unknown.
    public var codec: String?
    /// The language tag (RFC 5646); `nil` if it is unknown.
    public var language: String?

    /// Creates a track.
    public init(mediaType: MediaType, codec: String? = nil, language: String? = nil) {
        self.mediaType = mediaType
        self.codec = codec
        self.language = language
    }
}
