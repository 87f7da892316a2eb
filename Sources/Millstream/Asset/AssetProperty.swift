public import MediaTiming
public import PlaybackReporting
public import StreamingEngine

/// A property of an asset that is loaded asynchronously.
public struct AssetProperty<Value: Sendable>: Sendable {
    /// The key that identifies the property.
    public let key: AssetKey
    let value: @Sendable (AssetInspection) -> Value

    init(_ key: AssetKey, _ value: @escaping @Sendable (AssetInspection) -> Value) {
        self.key = key
        self.value = value
    }
}

/// The keys of the properties of an asset.
public enum AssetKey: String, Sendable, Hashable, CaseIterable {
    /// The duration.
    case duration
    /// A Boolean value that indicates whether the asset can be played.
    case isPlayable
    /// The tracks.
    case tracks
    /// The media selection groups.
    case mediaSelectionGroups
    /// The default media selection.
    case preferredMediaSelection
    /// The playable variants.
    case variants
    /// The playback type: on demand, live or file.
    case playbackType
    /// The metadata: the title, the artist, the album and the artwork.
    case commonMetadata
}

extension AssetProperty where Value == MediaTime? {
    /// The duration; `nil`, which means indefinite, for a live stream.
    public static var duration: AssetProperty { AssetProperty(.duration) { $0.duration } }

    /// The position at which a live stream begins to play by default; `nil` for other assets.
    package static var liveStart: AssetProperty { AssetProperty(.duration) { $0.liveStart } }
}

extension AssetProperty where Value == Bool {
    /// A Boolean value that indicates whether at least one variant can be decoded, by its codecs or the tracks of its
    /// media.
    public static var isPlayable: AssetProperty { AssetProperty(.isPlayable) { $0.error == nil } }
}

extension AssetProperty where Value == [AssetTrack] {
    /// The tracks: those that the playlists declare, or those of the media of a file or a stream without CODECS.
    public static var tracks: AssetProperty { AssetProperty(.tracks) { $0.tracks } }
}

extension AssetProperty where Value == [MediaSelectionGroup] {
    /// The media selection groups, one for each type of rendition that the asset has.
    ///
    /// Those of a media file are its audio tracks, if there are several, and its subtitle tracks with text.
    public static var mediaSelectionGroups: AssetProperty {
        AssetProperty(.mediaSelectionGroups) { $0.presentation.groups }
    }
}

extension AssetProperty where Value == MediaSelection {
    /// The default option of each group (RFC 8216bis §4.4.6.1, DEFAULT).
    public static var preferredMediaSelection: AssetProperty {
        AssetProperty(.preferredMediaSelection) { $0.presentation.preferredMediaSelection }
    }
}

extension AssetProperty where Value == [AssetVariant] {
    /// The playable variants, in the order of the playlist.
    public static var variants: AssetProperty {
        AssetProperty(.variants) { $0.presentation.variants.map { AssetVariant($0) } }
    }
}

extension AssetProperty where Value == PlaybackType {
    /// The playback type: on demand, live or file.
    public static var playbackType: AssetProperty { AssetProperty(.playbackType) { $0.playbackType } }
}

extension AssetProperty where Value == [MetadataItem] {
    /// The title, the artist, the album and the artwork of a media file, as far as it has them; empty for a stream.
    public static var commonMetadata: AssetProperty {
        AssetProperty(.commonMetadata) { MetadataItem.items(of: $0.metadata) }
    }
}

extension Presentation {
    var preferredMediaSelection: MediaSelection {
        var selection = MediaSelection()
        for group in groups { selection[group.type] = group.defaultOption }
        return selection
    }
}
