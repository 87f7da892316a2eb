import GRDB
import HLSPlaylist
import PlaylistEditing

/// The parts of a presentation that a package does not contain, although the playlists of the source refer to them.
public struct OmittedContent: Sendable, Hashable {
    /// The number of interstitials in the playlist of a stored variant (RFC 8216bis §D).
    public var interstitials = 0
    /// The number of resources with session data (`EXT-X-SESSION-DATA` with a URI).
    public var sessionData = 0
    /// The number of playlists with still images (`EXT-X-IMAGE-STREAM-INF`).
    public var imagePlaylists = 0

    /// A Boolean value that indicates whether everything is stored.
    public var isEmpty: Bool { self == OmittedContent() }
}

extension AssetLibrary {
    /// Returns the parts of the presentation of an asset that its package does not contain.
    ///
    /// - Complexity: O(*n*) in the bytes of the playlists.
    /// - Throws: ``StorageError`` if the library does not have the asset.
    public func omittedContent(of id: String) throws -> OmittedContent {
        let (source, media) = try catalog.read { database in
            let record = try Self.record(id, database)
            let renditions = try RenditionRecord.filter(Column("assetID") == id).order(Column("id")).fetchAll(database)
            return (record.sourcePlaylist, renditions.first { $0.role == .variant }?.playlistBytes)
        }
        var omitted = OmittedContent()
        if let media, let playlist = try? MediaPlaylist(parsing: media) {
            omitted.interstitials = playlist.dateRanges.count { $0["X-ASSET-URI"] != nil || $0["X-ASSET-LIST"] != nil }
        }
        if let source, let playlist = try? MultivariantPlaylist(parsing: Array(source)) {
            omitted.sessionData = playlist.sessionData.count { $0.uri != nil }
            omitted.imagePlaylists = Playlist.multivariant(playlist).tagEntries.count {
                MultivariantPlaylist.imageTags.contains($0.name)
            }
        }
        return omitted
    }
}
