import HLSPlaylist
import MediaTiming
public import PlaybackReporting
import SegmentFormat
import StreamingEngine

/// The result of the inspection of an asset.
struct AssetInspection: Sendable {
    /// The variants and the media selection groups.
    var presentation: Presentation
    /// The duration; `nil` for a live stream.
    var duration: MediaTime?
    /// The playback type: on demand, live or file.
    var playbackType: PlaybackType
    /// The tracks that the playlists declare or the media has.
    var tracks: [AssetTrack] = []
    /// The title, the artist, the album and the artwork of a media file; empty for a stream.
    var metadata = MediaFileMetadata()
    /// The position at which a live stream begins to play by default; `nil` for other assets.
    var liveStart: MediaTime?
    /// The reason why nothing can be played; `nil` if at least one variant can.
    var error: StreamingError?
}

/// A track of an asset, as described by the playlists or, for files and streams without CODECS, by the media.
public struct AssetTrack: Sendable, Hashable {
    /// The type of media in the track.
    public var mediaType: MediaType
    /// The codec in the form of RFC 6381; `nil` if it is unknown.
    public var codec: String?
    /// The language tag (RFC 5646); `nil` if it is unknown.
    public var language: String?
    /// The name that a media file declares for the user interface; `nil` if there is none.
    public var name: String?

    /// Creates a track.
    public init(mediaType: MediaType, codec: String? = nil, language: String? = nil, name: String? = nil) {
        self.mediaType = mediaType
        self.codec = codec
        self.language = language
        self.name = name
    }
}
