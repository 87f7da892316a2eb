public import ResourceAddressing

/// The validation of a multivariant playlist together with its media playlists.
///
/// Some rules concern several playlists: for example, all media playlists of a presentation must have the same target
/// duration (RFC 8216bis §6.2.4). Only the given playlists are compared, so playlists that could not be loaded may be
/// omitted.
public struct PresentationValidation: Sendable {
    /// The violations in one playlist of a presentation.
    public struct PlaylistDiagnostics: Sendable {
        /// The URL of the playlist, or `nil` for a multivariant playlist whose URL is not known.
        public let address: ResourceAddress?
        /// The violations in the order of the lines, beginning with those that concern the playlist as a whole.
        public let diagnostics: [Diagnostic]
    }

    private let multivariant: MultivariantPlaylist
    private let playlists: [ResourceAddress: Playlist]

    /// Creates a validation of loaded playlists.
    ///
    /// - Parameters:
    ///   - multivariant: The multivariant playlist.
    ///   - playlists: The playlists by the values of ``Variant/address`` and ``Rendition/address``; others are ignored.
    ///     Their contexts may have other URLs, those after redirects, and need no variables.
    public init(_ multivariant: MultivariantPlaylist, playlists: [ResourceAddress: Playlist]) {
        self.multivariant = multivariant
        self.playlists = playlists
    }

    /// Validates each playlist on its own, and all playlists against the rules that concern several.
    ///
    /// A violation that concerns several playlists is reported for the multivariant playlist, unless only one playlist
    /// causes it; it has no line number.
    ///
    /// - Parameter sets: The sets of rules to check.
    /// - Returns: The violations in the multivariant playlist, then those in the playlists of the variants, I-frame
    ///   variants and renditions, in order. A playlist with several references appears once, at the first of them.
    /// - Complexity: O(*n*) in the bytes of all playlists.
    public func diagnostics(of sets: Set<RuleSet>) -> [PlaylistDiagnostics] {
        let presentation = PresentationInspection(multivariant, playlists, sets)
        presentation.inspect(sets)
        var own = presentation.multivariant.diagnostics(of: sets)
        if own.contains(where: { $0.code == Rule.appleNoIndependentSegments.rawValue }) {
            // Both rules describe the same mistake; the one that was checked with the media playlists is certain.
            own.removeAll { $0.code == Rule.appleMissingIndependentSegments.rawValue }
        }
        return [PlaylistDiagnostics(address: multivariant.context.address, diagnostics: own)]
            + presentation.children.map { child in
                PlaylistDiagnostics(address: child.address, diagnostics: child.inspection.diagnostics(of: sets))
            }
    }
}
