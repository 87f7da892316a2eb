public import StreamingEngine

/// The stored part of an asset (`AVAssetCache`).
public struct AssetCache: Sendable, Hashable {
    /// A Boolean value that indicates whether the asset can be played without a network.
    public var isPlayableOffline: Bool
    /// The media selection options whose media is stored.
    public var options: [MediaSelectionOption]

    /// Creates a description of the stored part of an asset.
    public init(isPlayableOffline: Bool, options: [MediaSelectionOption] = []) {
        self.isPlayableOffline = isPlayableOffline
        self.options = options
    }

    /// Returns the stored options of a media selection group.
    public func mediaSelectionOptions(in group: MediaSelectionGroup) -> [MediaSelectionOption] {
        group.options.filter { option in options.contains { $0.id == option.id } }
    }
}
