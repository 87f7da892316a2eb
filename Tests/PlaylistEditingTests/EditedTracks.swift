import HLSPlaylist
import PlaylistEditing
import ResourceAddressing
import Testing

/// The playlists of a presentation after edits, by the URIs in its multivariant playlist.
struct EditedTracks {
    /// A source of playlists that are given as texts.
    struct Loader: PlaylistLoader {
        struct Missing: Error {}

        let texts: [String: String]

        func loadPlaylist(at source: String, variables: [String: String], budget: EditBudget) async throws -> Playlist {
            guard let text = texts[source] else { throw Missing() }
            return try Playlist.parse(
                Array(text.utf8),
                context: PlaylistContext(address: ResourceAddress(source), importableVariables: variables)
            )
        }
    }

    /// The URL of the multivariant playlist.
    static let address = "https://h/film"

    /// The multivariant playlist.
    let multivariant: MultivariantPlaylist
    /// The media playlists, by URI.
    private(set) var media: [String: MediaPlaylist] = [:]

    /// Edits a presentation, and all its media playlists.
    ///
    /// - Parameters:
    ///   - texts: The texts of the playlists, by URL; the multivariant playlist is at ``address``.
    ///   - edits: The edits.
    /// - Throws: The error of an edit.
    init(_ texts: [String: String], _ edits: [PlaylistEdit]) async throws {
        let loader = Loader(texts: texts)
        let film = try await loader.loadPlaylist(at: Self.address, variables: [:], budget: EditBudget())
        let editor = try PresentationEditor(EditPlan(edits), loader: loader)
        guard case .multivariant(let presentation) = try await editor.prepare(film).apply() else {
            throw Loader.Missing()
        }
        multivariant = presentation.playlist
        let variants = multivariant.variants.map { (PresentationEntry.variant($0), $0.uri) }
        let renditions = multivariant.renditions.map { (PresentationEntry.rendition($0), $0.uri ?? "") }
        for (entry, uri) in variants + renditions {
            guard let address = entry.address, let plan = presentation.plan(for: entry) else { continue }
            let loaded = try await loader.loadPlaylist(at: address.text, variables: [:], budget: EditBudget())
            let prepared = try await PresentationEditor(plan, loader: loader).prepare(loaded)
            if case .media(let edited) = try prepared.apply() { media[uri] = edited }
        }
    }

    /// Returns a media playlist.
    ///
    /// - Parameter uri: Its URI in the multivariant playlist.
    /// - Returns: The playlist.
    /// - Throws: An error if there is none.
    func track(_ uri: String) throws -> MediaPlaylist { try #require(media[uri]) }
}
