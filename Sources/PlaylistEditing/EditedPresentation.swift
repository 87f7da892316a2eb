public import HLSPlaylist

/// An edited multivariant playlist, and the edits of each of its media playlists.
public struct EditedPresentation: Sendable {
    /// The edited multivariant playlist, with unchanged URIs of its media playlists.
    public let playlist: MultivariantPlaylist
    /// A Boolean value that indicates whether I-frame variants are removed because an inserted playlist has none.
    public let omitsIFrameVariants: Bool
    private var plans: [Entry: EditPlan] = [:]

    /// The role and URI of a media playlist.
    private struct Entry: Hashable {
        let role: PlaylistAddress.Role
        let uri: String
    }

    /// Creates an edited presentation.
    ///
    /// - Parameters:
    ///   - playlist: The edited multivariant playlist, whose variants are matched with those that are stitched to them.
    ///   - declared: The same playlist with the bit rates and formats of what is stitched to its variants.
    ///   - children: The edits of the media playlists.
    ///   - omitsIFrameVariants: Whether I-frame variants are removed because an inserted playlist has none.
    ///   - check: A closure that is called before each media playlist, and throws an error to stop.
    /// - Throws: ``PlaylistEditError``, or the error of `check`.
    init(
        _ playlist: MultivariantPlaylist,
        declaring declared: MultivariantPlaylist,
        plans children: ChildEditPlans,
        omitsIFrameVariants: Bool,
        check: () throws -> Void
    ) throws {
        self.playlist = declared
        self.omitsIFrameVariants = omitsIFrameVariants
        let entries =
            (playlist.variants + playlist.iFrameVariants).map { PresentationEntry.variant($0) }
            + playlist.renditions.map { .rendition($0) }
        for entry in entries {
            guard let key = Self.key(entry) else { continue }
            try check()
            // Only the multivariant playlist sets the start position. The same media can have another time in another
            // track.
            let edits = try children.plan(for: entry).edits
            plans[key] = EditPlan(edits.map { $0.setsStart ? .stripTags([TagName.start.name]) : $0 })
        }
    }

    /// Returns the edits of the media playlist of an entry, or `nil` for an entry without a URI.
    public func plan(for entry: PresentationEntry) -> EditPlan? { Self.key(entry).flatMap { plans[$0] } }

    /// Returns the edits of the media playlist at an address of the multivariant playlist, or `nil` for any other
    /// resource.
    public func plan(for address: PlaylistAddress) -> EditPlan? {
        plans[Entry(role: address.role, uri: address.uri)]
    }

    private static func key(_ entry: PresentationEntry) -> Entry? {
        switch entry {
        case .variant(let variant): Entry(role: variant.isIFramesOnly ? .iFrameVariant : .variant, uri: variant.uri)
        case .rendition(let rendition): rendition.uri.map { Entry(role: .rendition(rendition.type), uri: $0) }
        }
    }
}
