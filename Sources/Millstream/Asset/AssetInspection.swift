import HLSPlaylist
import MediaTiming
public import PlaybackReporting
import StreamingEngine

/// What an asset turned out to be.
struct AssetInspection: Sendable {
    /// What can be played, and in which qualities and languages.
    var presentation: Presentation
    /// How long it is; `nil` for what is live.
    var duration: MediaTime?
    /// On demand, live or a file.
    var playbackType: PlaybackType
    /// What it consists of, as far as that is known before anything is decoded.
    var tracks: [AssetTrack] = []
    /// Why nothing of it can be played; `nil` where something can.
    var obstacle: StreamingError?
}

/// A track of an asset, as far as playlists or the head of a file tell.
public struct AssetTrack: Sendable, Hashable {
    /// What it carries.
    public var mediaType: MediaType
    /// The codec as RFC 6381 spells it, where it is known.
    public var codec: String?
    /// Its language as RFC 5646 spells it.
    public var language: String?

    /// Makes a track.
    public init(mediaType: MediaType, codec: String? = nil, language: String? = nil) {
        self.mediaType = mediaType
        self.codec = codec
        self.language = language
    }
}
