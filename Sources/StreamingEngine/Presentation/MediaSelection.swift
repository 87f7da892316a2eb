public import HLSPlaylist

/// The selected option of each media selection group.
public struct MediaSelection: Sendable, Hashable {
    private var options: [Rendition.MediaType: MediaSelectionOption] = [:]

    /// Creates an empty selection.
    public init() {}

    /// The selected option of a type, or `nil` if none is selected.
    ///
    /// Setting an option of a different type is the same as setting `nil`.
    public subscript(type: Rendition.MediaType) -> MediaSelectionOption? {
        get { options[type] }
        set { options[type] = newValue?.type == type ? newValue : nil }
    }

    /// The selected options in the order of their types.
    public var all: [MediaSelectionOption] { Rendition.MediaType.allCases.compactMap { options[$0] } }
}
