public import ResourceAddressing

/// A multivariant playlist and its media playlists, held against rules together.
///
/// Some rules are about several playlists: all media playlists of a presentation have one target duration, say
/// (RFC 8216bis §6.2.4). They are judged by the playlists that are given; a media playlist that could not be loaded is
/// passed over.
public struct PresentationValidation: Sendable {
    /// What was found in one playlist of a presentation.
    public struct PlaylistDiagnostics: Sendable {
        /// The address of the playlist; `nil` for a multivariant playlist whose address is not known.
        public let address: ResourceAddress?
        /// What was found, in the order of its lines; first what is about the playlist as a whole.
        public let diagnostics: [Diagnostic]
    }

    private let multivariant: MultivariantPlaylist
    private let playlists: [ResourceAddress: Playlist]

    /// Makes a validation of playlists that are loaded.
    ///
    /// - Parameters:
    ///   - multivariant: The multivariant playlist.
    ///   - playlists: What its variants and renditions lead to, by ``Variant/address`` and ``Rendition/address``; others
    ///     are passed over. Their contexts may have other addresses, those behind redirects, and need no variables.
    public init(_ multivariant: MultivariantPlaylist, playlists: [ResourceAddress: Playlist]) {
        self.multivariant = multivariant
        self.playlists = playlists
    }

    /// Holds each playlist against the rules by itself, and all of them against those about several.
    ///
    /// A finding about several playlists is the multivariant playlist's, unless one of them alone is to blame; it has no
    /// line.
    ///
    /// - Parameter sets: The rules.
    /// - Returns: The findings in the multivariant playlist, then those in the playlists of variants, I-frame variants and
    ///   renditions in their order; one that several of them lead to stands in the first place.
    /// - Complexity: O(*n*) in the bytes of all playlists.
    public func diagnostics(of sets: Set<RuleSet>) -> [PlaylistDiagnostics] {
        let presentation = PresentationInspection(multivariant, playlists, sets)
        presentation.inspect(sets)
        var own = presentation.multivariant.diagnostics(of: sets)
        if own.contains(where: { $0.code == "apple-no-independent-segments" }) {
            // The same mistake, but now that the media playlists are at hand it is known to be one.
            own.removeAll { $0.code == "apple-missing-independent-segments" }
        }
        return [PlaylistDiagnostics(address: multivariant.context.address, diagnostics: own)]
            + presentation.children.map { child in
                PlaylistDiagnostics(address: child.address, diagnostics: child.inspection.diagnostics(of: sets))
            }
    }
}
