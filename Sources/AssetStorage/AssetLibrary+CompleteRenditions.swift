import Foundation
import HLSPlaylist
import PlaylistEditing

extension AssetLibrary {
    /// Returns the multivariant playlist of a package without incomplete variants and renditions, which cannot be played without
    /// the origin.
    ///
    /// - Parameter id: The identifier of the asset.
    /// - Returns: The playlist; `nil` if the stored playlist must be used unchanged, because the asset is complete,
    ///   cannot be played offline, is still being recorded, or has no playlist file.
    /// - Throws: ``StorageError``.
    package func playlistOfCompleteRenditions(of id: String) throws -> [UInt8]? {
        guard try outline(of: id).state == .partial, try asset(id).isPlayableOffline, try !isRecording(id) else {
            return nil
        }
        return try playlist(of: id, in: playableFolders(of: id))
    }

    /// Returns the multivariant playlist of a package with only some of its variants and renditions.
    ///
    /// - Parameters:
    ///   - id: The identifier of the asset.
    ///   - folders: The directories of the media playlists that the result lists. A variant is left out if its audio is
    ///     not in one of them.
    /// - Returns: The playlist; `nil` if the package has no playlist file.
    /// - Throws: The error of the file, or of the playlist.
    func playlist(of id: String, in folders: Set<String>) throws -> [UInt8]? {
        guard let url = file(Self.multivariantName, of: id) else { return nil }
        return try Self.playlist([UInt8](Data(contentsOf: url)), in: folders).bytes
    }

    /// Returns a multivariant playlist of a package with only some of its variants and renditions.
    ///
    /// - Parameters:
    ///   - bytes: The playlist.
    ///   - folders: The directories of the media playlists that the result lists. A variant is left out if its audio is
    ///     not in one of them.
    /// - Returns: The reduced playlist.
    /// - Throws: The error of the playlist.
    static func playlist(_ bytes: [UInt8], in folders: Set<String>) throws -> MultivariantPlaylist {
        let playlist = try MultivariantPlaylist(parsing: bytes)
        func retained(_ uri: String?) -> String? {
            uri.flatMap { uri in folders.contains(String(uri.prefix { $0 != "/" })) ? uri : nil }
        }
        let groups = StoredAudioGroups(playlist) { retained(playlist.renditions[$0].uri) != nil }
        return try playlist.relocated(
            variant: { groups.isAvailable(for: playlist.variants[$0]) ? retained(playlist.variants[$0].uri) : nil },
            rendition: { retained(playlist.renditions[$0].uri) },
            iFrameVariant: { retained(playlist.iFrameVariants[$0].uri) },
            sessionKey: { retained($0.uri) }
        )
    }
}
