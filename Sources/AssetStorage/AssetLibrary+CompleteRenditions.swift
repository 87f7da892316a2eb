import Foundation
import HLSPlaylist
import PlaylistEditing

extension AssetLibrary {
    /// Returns the multivariant playlist of a package without incomplete variants and renditions, which cannot be played without
    /// the origin.
    ///
    /// - Parameter id: The identifier of the asset.
    /// - Returns: The playlist; `nil` if all that it lists is to be offered: if the asset is complete, if its complete renditions
    ///   cannot be played alone, or if it is a recording that grows, one of whose segments is always about to be stored.
    /// - Throws: ``StorageError``.
    package func playlistOfCompleteRenditions(of id: String) throws -> [UInt8]? {
        guard try outline(of: id).state == .partial, let url = file(Self.multivariantName, of: id) else { return nil }
        let asset = try asset(id)
        guard asset.isPlayableOffline, try !isRecording(id) else { return nil }
        let playlist = try MultivariantPlaylist(parsing: [UInt8](Data(contentsOf: url)))
        let complete = Set(asset.renditions.filter(\.isComplete).map { "\($0.folder)/\(Self.mediaName)" })
        func retained(_ uri: String?) -> String? { uri.flatMap { complete.contains($0) ? $0 : nil } }
        return try playlist.relocated(
            variant: { retained(playlist.variants[$0].uri) },
            rendition: { retained(playlist.renditions[$0].uri) },
            iFrameVariant: { retained(playlist.iFrameVariants[$0].uri) },
            sessionKey: { $0.uri }
        ).bytes
    }
}
