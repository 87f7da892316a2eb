import HLSPlaylist
public import PlaybackReporting
import StreamingEngine

/// A track of an item that is played.
public struct PlayerItemTrack: Sendable, Hashable, Identifiable {
    /// What tells it from others of the item.
    public let id: Int
    /// What it carries.
    public let mediaType: MediaType
    /// The codec as RFC 6381 spells it, where it is known.
    public let codec: String?
    /// Its language as RFC 5646 spells it.
    public let language: String?
    /// Whether it is played.
    public let isEnabled: Bool
    /// Whether it can be turned off and on by itself.
    ///
    /// What comes in a stream of its own can: text, and sound from a group of renditions. What shares segments with others
    /// can where media is decoded.
    public let canBeDisabled: Bool

    /// The type of rendition that it is chosen by.
    static func renditionType(of type: MediaType) -> Rendition.MediaType? {
        switch type {
        case .audio: .audio
        case .subtitles: .subtitles
        case .video, .muxed: nil
        }
    }

    /// The tracks that there are, and those that were turned off, which the engine no longer counts.
    static func tracks(of state: PlayerItem.State) -> [PlayerItemTrack] {
        let (playback, disabled) = (state.playback, state.configuration.disabledTracks)
        let silenced = state.configuration.silencedTracks
        let present = playback.tracks.filter { track in !disabled.values.contains { $0.track.id == track.id } }
        let enabled = present.map { track in
            let type = renditionType(of: track.mediaType)
            return PlayerItemTrack(
                track,
                isEnabled: !silenced.contains(track.mediaType),
                canBeDisabled: type.flatMap { playback.selection[$0] } != nil || playback.abilities.disablesTracks
            )
        }
        let others = disabled.values.map { PlayerItemTrack($0.track, isEnabled: false, canBeDisabled: true) }
        return (enabled + others).sorted { $0.id < $1.id }
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
