public import MediaTiming
public import PlaybackReporting
public import StreamingEngine

/// A property of an asset that has to be loaded.
public struct AssetProperty<Value: Sendable>: Sendable {
    /// What tells it from others.
    public let key: AssetKey
    let value: @Sendable (AssetInspection) -> Value

    init(_ key: AssetKey, _ value: @escaping @Sendable (AssetInspection) -> Value) {
        self.key = key
        self.value = value
    }
}

/// The names of what can be loaded of an asset.
public enum AssetKey: String, Sendable, Hashable, CaseIterable {
    /// How long it is.
    case duration
    /// Whether it can be played.
    case isPlayable
    /// What it consists of.
    case tracks
    /// What a viewer can choose from.
    case mediaSelectionGroups
    /// What is played when nobody chooses.
    case preferredMediaSelection
    /// The qualities that there are.
    case variants
    /// On demand, live or a file.
    case playbackType
}

extension AssetProperty where Value == MediaTime? {
    /// How long it is; `nil`, which is indefinite, for what is live.
    public static var duration: AssetProperty { AssetProperty(.duration) { $0.duration } }
}

extension AssetProperty where Value == Bool {
    /// Whether the engine can decode at least one variant.
    public static var isPlayable: AssetProperty { AssetProperty(.isPlayable) { $0.obstacle == nil } }
}

extension AssetProperty where Value == [AssetTrack] {
    /// What it consists of, as far as that is known before anything is decoded.
    public static var tracks: AssetProperty { AssetProperty(.tracks) { $0.tracks } }
}

extension AssetProperty where Value == [MediaSelectionGroup] {
    /// What a viewer can choose from, one group for each type that there is.
    public static var mediaSelectionGroups: AssetProperty {
        AssetProperty(.mediaSelectionGroups) { $0.presentation.groups }
    }
}

extension AssetProperty where Value == MediaSelection {
    /// The members of each group that the playlist calls its default (RFC 8216bis §4.4.6.1, DEFAULT).
    public static var preferredMediaSelection: AssetProperty {
        AssetProperty(.preferredMediaSelection) { $0.presentation.preferredMediaSelection }
    }
}

extension AssetProperty where Value == [Presentation.Variant] {
    /// The qualities that can be played, in the order of the playlist.
    public static var variants: AssetProperty { AssetProperty(.variants) { $0.presentation.variants } }
}

extension AssetProperty where Value == PlaybackType {
    /// On demand, live or a file.
    public static var playbackType: AssetProperty { AssetProperty(.playbackType) { $0.playbackType } }
}

extension Presentation {
    var preferredMediaSelection: MediaSelection {
        var selection = MediaSelection()
        for group in groups { selection[group.type] = group.defaultOption }
        return selection
    }
}
