public import HLSPlaylist

/// Which option of each group is played.
public struct MediaSelection: Sendable, Hashable {
    private var options: [Rendition.MediaType: MediaSelectionOption] = [:]

    /// Makes a selection of nothing.
    public init() {}

    /// The option of a type; `nil` for none.
    ///
    /// Setting one of another type than asked for is the same as setting none.
    public subscript(type: Rendition.MediaType) -> MediaSelectionOption? {
        get { options[type] }
        set { options[type] = newValue?.type == type ? newValue : nil }
    }

    /// The options in the order of their types.
    public var all: [MediaSelectionOption] { Rendition.MediaType.allCases.compactMap { options[$0] } }
}
