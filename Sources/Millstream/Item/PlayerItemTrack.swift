import HLSPlaylist
public import PlaybackReporting
import StreamingEngine

/// A track of an item that is played.
public struct PlayerItemTrack: Sendable, Hashable, Identifiable {
    /// The identifier of the track, unique within the item.
    public let id: Int
    /// The type of media in the track.
    public let mediaType: MediaType
    /// The codec in the form of RFC 6381; `nil` if it is unknown.
    public let codec: String?
    /// The language tag (RFC 5646); `nil` if it is unknown.
    public let language: String?
    /// A Boolean value that indicates whether the track is played.
    public let isEnabled: Bool
    /// A Boolean value that indicates whether the track can be enabled and disabled separately.
    ///
    /// Subtitles and audio with their own segments can be disabled separately. A track that shares its segments with
    /// others can be disabled only in a pipeline that decodes media.
    public let canBeDisabled: Bool

    /// The track of the asset that is played.
    ///
    /// It is an element of ``AssetProperty/tracks``, unless another variant than the inspected one is played.
    public var assetTrack: AssetTrack { AssetTrack(mediaType: mediaType, codec: codec, language: language) }

    /// Returns the type of rendition for a media type; `nil` for types that are part of the variant.
    static func renditionType(of type: MediaType) -> Rendition.MediaType? {
        switch type {
        case .audio: .audio
        case .subtitles: .subtitles
        case .video, .muxed: nil
        }
    }

    /// Returns the tracks of an item, including disabled ones, which the engine no longer reports.
    static func tracks(of state: PlayerItem.State) -> [PlayerItemTrack] {
        let (playback, disabled) = (state.playback, state.configuration.disabledTracks)
        let silenced = state.configuration.disabledMediaTypes
        let present = playback.tracks.filter { track in !disabled.values.contains { $0.track.id == track.id } }
        let presentTracks = present.map { track in
            let type = renditionType(of: track.mediaType)
            return PlayerItemTrack(
                track,
                isEnabled: !silenced.contains(track.mediaType),
                canBeDisabled: type.flatMap { playback.selection[$0] }.map { $0.fileTrack == nil } == true
                    || playback.abilities.supportsDisablingTracks
            )
        }
        let others = disabled.values.map { PlayerItemTrack($0.track, isEnabled: false, canBeDisabled: true) }
        return (presentTracks + others).sorted { $0.id < $1.id }
    }

    private init(_ track: PlaybackTrack, isEnabled: Bool, canBeDisabled: Bool) {
        id = track.id
        mediaType = track.mediaType
        codec = track.codec
        language = track.language
        self.isEnabled = isEnabled
        self.canBeDisabled = canBeDisabled
    }
}
