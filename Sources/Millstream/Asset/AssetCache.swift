public import StreamingEngine

/// What is stored of an asset.
public struct AssetCache: Sendable, Hashable {
    /// Whether it can be played without a network.
    public var isPlayableOffline: Bool
    /// The options that are stored.
    public var options: [MediaSelectionOption]

    /// Makes a description.
    public init(isPlayableOffline: Bool, options: [MediaSelectionOption] = []) {
        self.isPlayableOffline = isPlayableOffline
        self.options = options
    }

    /// The options of a group that are stored.
    public func mediaSelectionOptions(in group: MediaSelectionGroup) -> [MediaSelectionOption] {
        group.options.filter { option in options.contains { $0.id == option.id } }
    }
}
